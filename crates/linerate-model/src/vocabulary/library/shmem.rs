//! OpenSHMEM: whose there are, and what the standard leaves to each.

use super::{Launch, Ranks};

/// What carries a message; the first is the usual one.
pub const SHMEM_OPERATIONS: &[&str] = &["put", "get"];

/// Who made an OpenSHMEM. Of anything else nothing is guessed: the standard leaves its constants to the makers.
#[derive(Debug)]
pub struct ShmemMaker {
    /// The name that picks it.
    pub name: &'static str,
    /// A word in what `shmem_info_get_name` tells.
    pub vendor_word: &'static str,
    /// Whether it stands on an MPI of the same maker, whose version is its own.
    pub tells_by_mpi: bool,
    /// `SHMEM_THREAD_SERIALIZED`.
    pub serialized: i32,
    /// `SHMEM_CMP_NE`.
    pub not_equal: i32,
    /// How it starts its processing elements.
    pub launch: Launch,
    /// Where the constants stand.
    pub source: &'static str,
}

/// Every maker that is known.
pub const SHMEM_MAKERS: &[ShmemMaker] = &[ShmemMaker {
    name: "oshmem",
    vendor_word: "open-mpi.org",
    tells_by_mpi: true,
    serialized: 2,
    not_equal: 1,
    launch: Launch {
        daemons: None,
        within: Ranks {
            arguments: &["--bind-to", "none"],
            each: &["-np", "1", "-H", "localhost:2", "-x", HEAP],
            environment: &[("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")],
            export: Some("-x"),
        },
        across: Ranks {
            arguments: &["--bind-to", "none"],
            // UCX looks at the machine and not at the host's name: untold, it takes shared memory between virtual hosts.
            each: &[
                "-np",
                "1",
                "-H",
                "{address}:1",
                "-x",
                HEAP,
                "-x",
                "UCX_TLS=tcp,self",
                "-x",
                "UCX_NET_DEVICES={interface}",
            ],
            // Its MPI is what it starts by: that has no other way either.
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
                ("OMPI_MCA_osc", "^ucx"),
                ("OMPI_MCA_spml", "ucx"),
                ("OMPI_MCA_btl_tcp_if_include", "{near}/31,{far}/31"),
            ],
            export: Some("-x"),
        },
    },
    source: "shmem.h of Open MPI 4.1",
}];

/// As much symmetric memory as messages need, and some for the library's own. Version 1.4 of the standard calls it
/// SHMEM_SYMMETRIC_SIZE.
const HEAP: &str = "SHMEM_SYMMETRIC_HEAP_SIZE=160M";
