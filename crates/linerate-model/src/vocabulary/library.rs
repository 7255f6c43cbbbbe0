//! Message libraries that are loaded at run time: what is looked for, and by what each is told.

mod lam;
mod shmem;

use lam::LAM;
pub use lam::LAM_RPIS;
pub use shmem::{SHMEM_MAKERS, SHMEM_OPERATIONS, ShmemMaker};

/// A kind of library that is looked for.
#[derive(Debug)]
pub struct LibraryKind {
    /// Its name.
    pub name: &'static str,
    /// The files that it may be, by the names that programs are linked to.
    pub files: &'static [&'static str],
    /// What each of them exports, by which it is told from the others.
    pub symbol: &'static str,
    /// The programs that start its ranks, first the one that a system with several of them has.
    pub launchers: &'static [&'static str],
    /// What it carries messages for.
    pub about: &'static str,
    /// Where its interface is defined.
    pub source: &'static str,
}

/// Every kind.
pub const LIBRARY_KINDS: &[LibraryKind] = &[
    LibraryKind {
        name: "mpi",
        // A name without a number is an alternative of Debian's: it may be any of them.
        files: &[
            "libmpi.so.40",
            "libmpi.so.12",
            "libmpich.so.12",
            "libmpi_abi.so.1",
            "libmpi_abi.so.0",
            "liblam.so.4",
        ],
        symbol: "MPI_Init",
        launchers: &["mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra", "mpirun.lam", "mpirun", "mpiexec"],
        about: "the Message Passing Interface",
        source: "MPI: A Message-Passing Interface Standard, versions 1.2 to 5.0",
    },
    LibraryKind {
        name: "pvm",
        files: &["libpvm3.so.3"],
        symbol: "pvm_version",
        launchers: &["pvmd"],
        about: "Parallel Virtual Machine: tasks that daemons start",
        source: "A. Geist et al., PVM 3 User's Guide and Reference Manual, ORNL/TM-12187, 1994",
    },
    LibraryKind {
        name: "shmem",
        files: &["liboshmem.so.40", "libsma.so.1"],
        symbol: "shmem_init",
        launchers: &["oshrun"],
        about: "OpenSHMEM: puts and gets into the memory of others",
        source: "OpenSHMEM Application Programming Interface 1.4",
    },
    LibraryKind {
        name: "tcgmsg",
        files: &["libtcgmsg.so"],
        symbol: "tcg_snd",
        launchers: &["mpiexec.mpich", "mpiexec.hydra", "mpiexec"],
        about: "TCGMSG over an MPI, made loadable by adapters/tcgmsg",
        source: "R. J. Harrison: Portable tools and applications for parallel computers, 1991; tcgmsg.h of Global Arrays 5.8",
    },
    LibraryKind {
        name: "ucx",
        files: &["libucp.so.0"],
        symbol: "ucp_get_version_string",
        launchers: &[],
        about: "UCX: tagged messages, what several MPIs carry theirs by",
        source: "Unified Communication X API; ucp/api/ucp.h",
    },
    LibraryKind {
        name: "libfabric",
        files: &["libfabric.so.1"],
        symbol: "fi_version",
        launchers: &[],
        about: "libfabric: tagged messages of the OpenFabrics Interfaces",
        source: "fabric(7)",
    },
];

/// How an MPI's constants, handles and structures lie in memory.
#[derive(Debug)]
pub struct MpiAbi {
    /// Its name.
    pub name: &'static str,
    /// Bytes of a handle.
    pub handle_bytes: u32,
    /// Whose it is.
    pub about: &'static str,
    /// By what it is told, in words.
    pub told_by: &'static str,
    /// Where its constants stand.
    pub source: &'static str,
}

/// Every ABI that is known. Of anything else nothing is guessed: wrong constants end in a crash.
pub const MPI_ABIS: &[MpiAbi] = &[
    MpiAbi {
        name: "standard",
        about: "the ABI of the standard itself, which libmpi_abi has",
        handle_bytes: 8,
        told_by: "MPI_Abi_get_version answers 1.0 or more",
        source: "MPI 5.0, section 20 and appendix A",
    },
    MpiAbi {
        name: "lam",
        about: "LAM/MPI 7",
        handle_bytes: 8,
        told_by: "it exports lam_mpi_comm_world",
        source: "mpi.h of LAM/MPI 7.1.4",
    },
    MpiAbi {
        name: "openmpi",
        about: "Open MPI 4 and 5, and what is built on them",
        handle_bytes: 8,
        told_by: "it exports ompi_mpi_comm_world",
        source: "mpi.h of Open MPI 4.1 and 5.0",
    },
    MpiAbi {
        name: "mpich",
        about: "MPICH 3 and later, Intel MPI, MVAPICH, Cray MPICH",
        handle_bytes: 4,
        told_by: "its version has MPICH, Intel(R) MPI, MVAPICH or CRAY in it",
        source: "MPICH ABI Compatibility Initiative, 2013; mpi.h of MPICH 4.0",
    },
];

/// A knob as one maker has it.
#[derive(Debug)]
pub struct MpiVariable {
    /// The knob.
    pub knob: &'static str,
    /// Whose variables these are.
    pub maker: &'static str,
    /// All of them get the knob's value: a size in bytes, a switch as 1 or 0, a name as it is.
    pub variables: &'static [&'static str],
}

const fn variable(
    knob: &'static str,
    maker: &'static str,
    variables: &'static [&'static str],
) -> MpiVariable {
    MpiVariable { knob, maker, variables }
}

/// How an MPI's ranks receive; the first is the usual one.
pub const MPI_RECEIVES: &[&str] = &["blocking", "posted", "any-source", "unexpected", "plain"];

/// Which threads may call an MPI (`mpi.thread-level`); the first one is what `MPI_Init` gives.
pub const MPI_THREAD_LEVELS: &[&str] = &["single", "funneled", "serialized", "multiple"];

/// Every variable that stands for a knob: `ompi_info --all`, `ucx_info -cf`, Intel MPI Library Developer Reference,
/// lamssi_rpi(7). What LAM calls `sockbuf` its manual keeps to itself: with `rpi_verbose` it says it.
pub const MPI_VARIABLES: &[MpiVariable] = &[
    // The head of a large message may be no larger than a small one. Version 5 calls vader sm.
    variable(
        "mpi.eager-limit",
        "openmpi",
        &[
            "OMPI_MCA_btl_tcp_eager_limit",
            "OMPI_MCA_btl_tcp_rndv_eager_limit",
            "OMPI_MCA_btl_vader_eager_limit",
            "OMPI_MCA_btl_sm_eager_limit",
        ],
    ),
    variable("mpi.eager-limit", "mpich", &["UCX_RNDV_THRESH"]),
    variable("mpi.eager-limit", "intel-mpi", &["I_MPI_EAGER_THRESHOLD"]),
    variable("mpi.eager-limit", "lam", &["LAM_MPI_SSI_rpi_tcp_short"]),
    variable("mpi.socket-buffer", "openmpi", &["OMPI_MCA_btl_tcp_sndbuf", "OMPI_MCA_btl_tcp_rcvbuf"]),
    variable("mpi.socket-buffer", "mpich", &["UCX_TCP_SNDBUF", "UCX_TCP_RCVBUF"]),
    variable("mpi.socket-buffer", "lam", &["LAM_MPI_SSI_rpi_tcp_sockbuf"]),
    variable("mpi.rpi", "lam", &["LAM_MPI_SSI_rpi"]),
    variable("mpi.progress-thread", "openmpi", &["OMPI_MCA_btl_tcp_progress_thread"]),
    variable("mpi.progress-thread", "mpich", &["MPIR_CVAR_ASYNC_PROGRESS"]),
    variable("mpi.progress-thread", "intel-mpi", &["I_MPI_ASYNC_PROGRESS"]),
    variable("mpi.yield", "openmpi", &["OMPI_MCA_mpi_yield_when_idle"]),
    variable("mpi.yield", "intel-mpi", &["I_MPI_THREAD_YIELD"]),
];

/// The MPI below TCGMSG.
pub const TCGMSG_OVER: &str = "mpich";

/// Who made an MPI.
#[derive(Debug)]
pub struct MpiMaker {
    /// The name that picks it.
    pub name: &'static str,
    /// A word in the library's version.
    pub version_word: &'static str,
    /// Whether it has the ABI of MPICH.
    pub has_mpich_abi: bool,
    /// Words in the version of a launcher of its ranks.
    pub launcher_words: &'static [&'static str],
    /// How it starts ranks; none where that is not known.
    pub launch: Option<Launch>,
}

/// How a launcher starts as many ranks at one place as at another.
#[derive(Debug)]
pub struct Launch {
    /// On one host.
    pub within: Ranks,
    /// On two, by TCP alone; `{near}` and `{far}` are their addresses, `{interface}` has the near one, `{shell}` is the
    /// remote shell.
    pub across: Ranks,
    /// What must be on each host before that; none where the launcher sees to it.
    pub daemons: Option<LaunchDaemons>,
}

/// Daemons without which a launcher starts nothing. Ranks then are lines of a file, as daemons are.
#[derive(Debug)]
pub struct LaunchDaemons {
    /// What starts them, beside the launcher: before a file with the hosts' addresses, the launcher's own first.
    pub start: &'static [&'static str],
    /// What ends them.
    pub end: &'static [&'static str],
    /// The variable with the folder of their files.
    pub folder: &'static str,
    /// The variable with the remote shell.
    pub shell: &'static str,
    /// Whether they, and the launcher, work for nobody who is called root.
    pub refuse_root: bool,
}

/// The words of a launcher. Ranks are bound to no CPU, for they bind themselves.
#[derive(Debug)]
pub struct Ranks {
    /// What stands before the first rank.
    pub arguments: &'static [&'static str],
    /// What stands before the program of each place, where there are `{ranks}`, `{all}` in all; between two hosts
    /// `{address}` is its own, and `{interface}` has that.
    /// `{number}` is that of the place.
    pub each: &'static [&'static str],
    /// Variables that the launcher needs.
    pub environment: &'static [(&'static str, &'static str)],
    /// What passes a variable on to the ranks, before its name; none where all are passed on.
    pub export: Option<&'static str>,
}

/// Hydra's words.
const HYDRA: Launch = Launch {
    daemons: None,
    within: Ranks {
        arguments: &["-bind-to", "none"],
        each: &["-n", "{ranks}"],
        environment: &[],
        export: None,
    },
    across: Ranks {
        arguments: &[
            "-bind-to",
            "none",
            "-launcher",
            "ssh",
            "-launcher-exec",
            "{shell}",
            "-iface",
            "{interface}",
            "-hosts",
            "{near},{far}",
            "-ppn",
            "{ranks}",
        ],
        each: &[
            "-n",
            "{ranks}",
            "-env",
            "UCX_NET_DEVICES",
            "{interface}",
            "-env",
            "FI_TCP_IFACE",
            "{interface}",
        ],
        // UCX looks at the machine and not at the host's name: untold, it takes shared memory between virtual hosts.
        environment: &[("UCX_TLS", "tcp,self"), ("FI_PROVIDER", "tcp")],
        export: None,
    },
};

/// Hydra's as Intel has them.
const INTEL_HYDRA: Launch = Launch {
    daemons: None,
    within: Ranks {
        arguments: &["-genv", "I_MPI_PIN", "0"],
        each: &["-n", "{ranks}"],
        environment: &[],
        export: None,
    },
    across: Ranks {
        arguments: &["-bootstrap", "ssh", "-bootstrap-exec", "{shell}", "-iface", "{interface}"],
        // Told all hosts together, it starts every rank on the first one.
        each: &["-n", "{ranks}", "-host", "{address}", "-env", "FI_TCP_IFACE", "{interface}"],
        environment: &[("I_MPI_PIN", "0"), ("I_MPI_FABRICS", "ofi"), ("I_MPI_OFI_PROVIDER", "tcp")],
        export: None,
    },
};

/// Every maker that is known; of several whose word is there, the first.
pub const MPI_MAKERS: &[MpiMaker] = &[
    MpiMaker {
        name: "openmpi",
        version_word: "Open MPI",
        has_mpich_abi: false,
        launcher_words: &["Open MPI", "OpenRTE"],
        launch: Some(Launch {
            daemons: None,
            within: Ranks {
                arguments: &["--bind-to", "none"],
                // Else it counts cores, of which two hardware threads are one.
                each: &["-np", "{ranks}", "-H", "localhost:{all}"],
                // Only for root, whom it refuses else.
                environment: &[("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")],
                export: Some("-x"),
            },
            across: Ranks {
                arguments: &["--bind-to", "none"],
                each: &["-np", "{ranks}", "-H", "{address}:{ranks}"],
                // By variables: those of version 4 mean nothing to version 5, and the other way round. A daemon that
                // leaves its remote shell could not be ended with it. Of /32 version 4 makes a mask of nothing.
                environment: &[
                    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                    ("OMPI_MCA_plm_rsh_agent", "{shell}"),
                    ("PRTE_MCA_plm_ssh_agent", "{shell}"),
                    ("OMPI_MCA_orte_leave_session_attached", "1"),
                    ("PRTE_MCA_prte_leave_session_attached", "1"),
                    ("OMPI_MCA_oob_tcp_if_include", "{near}/31,{far}/31"),
                    ("PRTE_MCA_prte_if_include", "{near}/31,{far}/31"),
                    ("OMPI_MCA_pml", "ob1"),
                    ("OMPI_MCA_btl", "tcp,self"),
                    ("OMPI_MCA_btl_tcp_if_include", "{near}/31,{far}/31"),
                ],
                export: Some("-x"),
            },
        }),
    },
    MpiMaker {
        name: "intel-mpi",
        version_word: "Intel(R) MPI",
        has_mpich_abi: true,
        launcher_words: &["Intel(R) MPI"],
        launch: Some(INTEL_HYDRA),
    },
    MpiMaker {
        name: "mvapich",
        version_word: "MVAPICH",
        has_mpich_abi: true,
        launcher_words: &["HYDRA", "MVAPICH"],
        launch: Some(HYDRA),
    },
    MpiMaker {
        name: "cray-mpich",
        version_word: "CRAY",
        has_mpich_abi: true,
        launcher_words: &["PALS", "HYDRA"],
        launch: None,
    },
    MpiMaker {
        name: "mpich",
        version_word: "MPICH",
        has_mpich_abi: true,
        launcher_words: &["HYDRA"],
        launch: Some(HYDRA),
    },
    LAM,
];
