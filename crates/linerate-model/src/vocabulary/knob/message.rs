//! Knobs of whole messages between ranks.

use super::{BUFFER, Had, Knob, KnobKind};
use crate::vocabulary::{LAM_RPIS, MPI_RECEIVES, MPI_THREAD_LEVELS, SHMEM_OPERATIONS};

/// `mpi.implementation`.
pub const MPI_IMPLEMENTATION: Knob = Knob {
    name: "mpi.implementation",
    kind: KnobKind::OneOf(&["openmpi", "mpich", "intel-mpi", "mvapich", "lam"]),
    transports: &["mpi"],
    default: "the first that `linerate doctor` lists with a launcher; lam only where it is asked for",
    harmless: None,
    had: Had::Tried,
    about: "the MPI that carries the messages, of those that this host has",
    source: "linerate list mpi-abis",
    hint: "each that doctor lists: they differ most where messages stop being sent at once",
};

/// `mpi.path`.
pub const MPI_PATH: Knob = Knob {
    name: "mpi.path",
    kind: KnobKind::Path,
    transports: &["mpi"],
    default: "any that `linerate doctor` lists",
    harmless: None,
    had: Had::Tried,
    about: "the file of the MPI that carries the messages, or the folder that it was installed to: for two versions of one, or a library's other ABI",
    source: "linerate doctor; of a folder the first file that is there by its names, in it or in its lib",
    hint: "/opt/openmpi, or /opt/mpich/lib/libmpi_abi.so.1 for the standard's own ABI; it is the same on all hosts",
};

/// `mpi.eager-limit`.
pub const MPI_EAGER_LIMIT: Knob = Knob {
    name: "mpi.eager-limit",
    kind: BUFFER,
    transports: &["mpi"],
    default: "the library's own",
    harmless: None,
    had: Had::Always,
    about: "the largest message that is sent at once, whether or not it is waited for; of a larger one the receiver is asked first",
    source: "btl_tcp_eager_limit(Open MPI), UCX_RNDV_THRESH(UCX), rpi_tcp_short(LAM): some count their headers, some call the first size that asks",
    hint: "several around the dip: it moves with the limit",
};

/// `mpi.socket-buffer`.
pub const MPI_SOCKET_BUFFER: Knob = Knob {
    name: "mpi.socket-buffer",
    kind: BUFFER,
    transports: &["mpi"],
    default: "the library's own, or the kernel's automatic one",
    harmless: None,
    had: Had::Always,
    about: "the send and receive buffers of the library's TCP sockets",
    source: "socket(7), SO_SNDBUF, SO_RCVBUF; btl_tcp_sndbuf(Open MPI), UCX_TCP_SNDBUF(UCX), rpi_tcp_sockbuf(LAM)",
    hint: "the product of rate and round trip on a long path",
};

/// `mpi.progress-thread`.
pub const MPI_PROGRESS_THREAD: Knob = Knob {
    name: "mpi.progress-thread",
    kind: KnobKind::Switch,
    transports: &["mpi"],
    default: "the library's own, mostly off",
    harmless: None,
    had: Had::Always,
    about: "a thread that moves messages while the application computes",
    source: "btl_tcp_progress_thread(Open MPI), MPIR_CVAR_ASYNC_PROGRESS(MPICH), I_MPI_ASYNC_PROGRESS(Intel)",
    hint: "on with a spare CPU: without one it costs latency",
};

/// `mpi.yield`.
pub const MPI_YIELD: Knob = Knob {
    name: "mpi.yield",
    kind: KnobKind::Switch,
    transports: &["mpi"],
    default: "the library's own, mostly off",
    harmless: None,
    had: Had::Always,
    about: "whether a rank that waits gives its CPU to others",
    source: "mpi_yield_when_idle(Open MPI), I_MPI_THREAD_YIELD(Intel); sched_yield(2)",
    hint: "on where there are more ranks than CPUs",
};

/// `mpi.receive`.
pub const MPI_RECEIVE: Knob = Knob {
    name: "mpi.receive",
    kind: KnobKind::OneOf(MPI_RECEIVES),
    transports: &["mpi"],
    default: "blocking",
    harmless: None,
    had: Had::Always,
    about: "the receive of a round trip: MPI_Recv; MPI_Irecv before the message can come; MPI_Recv of MPI_ANY_SOURCE; MPI_Recv of what MPI_Probe found to be there already; or, plain, MPI_Recv and MPI_Send alone, which also carry streams, message by message",
    source: "MPI: A Message-Passing Interface Standard, version 4.1, sections 3.2.4, 3.7.2 and 3.8.1",
    hint: "posted saves a copy of what comes unasked; any-source shows what matching costs; plain is what a simple application does",
};

/// `mpi.thread-level`.
pub const MPI_THREAD_LEVEL: Knob = Knob {
    name: "mpi.thread-level",
    kind: KnobKind::OneOf(MPI_THREAD_LEVELS),
    transports: &["mpi"],
    default: "single, what MPI_Init gives",
    harmless: None,
    had: Had::Always,
    about: "which threads may call, as MPI_Init_thread is asked; a rank calls from its first thread alone, so it is only what the library pays for it",
    source: "MPI: A Message-Passing Interface Standard, version 4.1, section 11.6",
    hint: "what an application with threads asks for: a library may take locks at each level above single",
};

/// `mpi.rpi`.
pub const MPI_RPI: Knob = Knob {
    name: "mpi.rpi",
    kind: KnobKind::OneOf(LAM_RPIS),
    transports: &["mpi"],
    default: "tcp between hosts, sysv within one",
    harmless: None,
    had: Had::Always,
    about: "how LAM's messages travel: by a connection of the ranks, through the daemons of both hosts, or in shared memory under semaphores or spin locks",
    source: "lamssi_rpi(7)",
    hint: "lamd shows what a relay costs; usysv is the one that polls, within a host",
};

/// `mpi.environment`.
pub const MPI_ENVIRONMENT: Knob = Knob {
    name: "mpi.environment",
    kind: KnobKind::Variables,
    transports: &["mpi"],
    default: "none",
    harmless: None,
    had: Had::Always,
    about: "variables for the library, as they are: `NAME=VALUE NAME=VALUE`; they win over all others",
    source: "mpirun(1), option -x; MCA parameters, CVARs, I_MPI_ and UCX_ variables",
    hint: "what ompi_info --all, mpivars and ucx_info -cf list",
};

/// `pvm.route`.
pub const PVM_ROUTE: Knob = Knob {
    name: "pvm.route",
    kind: KnobKind::OneOf(&["default", "direct"]),
    transports: &["pvm"],
    default: "default: through the daemons",
    harmless: None,
    had: Had::Always,
    about: "what messages go through: the daemons of both hosts, or a connection of the two tasks",
    source: "pvm_setopt(3PVM), PvmRoute: PvmAllowDirect, PvmRouteDirect",
    hint: "direct: it is what PVM gains most by; the default shows what the daemons cost",
};

/// `pvm.encoding`.
pub const PVM_ENCODING: Knob = Knob {
    name: "pvm.encoding",
    kind: KnobKind::OneOf(&["default", "raw", "in-place"]),
    transports: &["pvm"],
    default: "default: XDR, for hosts of any kind",
    harmless: None,
    had: Had::Always,
    about: "how messages are packed: by XDR, as they are, or not at all: they are sent from where they lie",
    source: "pvm_initsend(3PVM): PvmDataDefault, PvmDataRaw, PvmDataInPlace",
    hint: "in-place with pvm.route=direct: it saves the sender's copy",
};

/// `shmem.operation`.
pub const SHMEM_OPERATION: Knob = Knob {
    name: "shmem.operation",
    kind: KnobKind::OneOf(SHMEM_OPERATIONS),
    transports: &["shmem"],
    default: "put",
    harmless: None,
    had: Had::Always,
    about: "what carries a message: shmem_putmem by its sender, or shmem_getmem by its receiver, who is told of it first",
    source: "OpenSHMEM Application Programming Interface 1.4: shmem_putmem, shmem_getmem",
    hint: "get shows what a round trip for the data costs: a put needs none",
};

/// `shmem.environment`.
pub const SHMEM_ENVIRONMENT: Knob = Knob {
    name: "shmem.environment",
    kind: KnobKind::Variables,
    transports: &["shmem"],
    default: "none",
    harmless: None,
    had: Had::Always,
    about: "variables for the library, as they are: `NAME=VALUE NAME=VALUE`; they win over all others",
    source: "oshrun(1), option -x; MCA parameters, SHMEM_ and UCX_ variables",
    hint: "what oshmem_info --all and ucx_info -cf list",
};

/// `tcgmsg.environment`.
pub const TCGMSG_ENVIRONMENT: Knob = Knob {
    name: "tcgmsg.environment",
    kind: KnobKind::Variables,
    transports: &["tcgmsg"],
    default: "none",
    harmless: None,
    had: Had::Always,
    about: "variables for the MPI below it, as they are: `NAME=VALUE NAME=VALUE`; they win over all others",
    source: "mpiexec(1), option -env; CVARs and UCX_ variables",
    hint: "UCX_TCP_SNDBUF=1m UCX_TCP_RCVBUF=1m: what the paper's SR_SOCK_BUF_SIZE was for",
};

/// `ucx.transports`.
pub const UCX_TRANSPORTS: Knob = Knob {
    name: "ucx.transports",
    kind: KnobKind::OneOf(&["tcp", "posix", "sysv"]),
    transports: &["ucx"],
    default: "within a host the library's own choice; tcp between two",
    harmless: None,
    had: Had::Tried,
    about: "the transports of UCX that may carry messages; what carried them is read back from its lanes",
    source: "ucx_info -cf: UCX_TLS; anything else by ucx.environment",
    hint: "tcp within a host: what shared memory gains",
};

/// `ucx.eager-limit`.
pub const UCX_EAGER_LIMIT: Knob = Knob {
    name: "ucx.eager-limit",
    kind: BUFFER,
    transports: &["ucx"],
    default: "the library's own, by what it takes: 8 KiB over TCP in 1.13",
    harmless: None,
    had: Had::Always,
    about: "the size from which the receiver is asked before a message is sent; read back",
    source: "ucx_info -cf: UCX_RNDV_THRESH",
    hint: "several around the dip: it moves with the limit",
};

/// `ucx.socket-buffer`.
pub const UCX_SOCKET_BUFFER: Knob = Knob {
    name: "ucx.socket-buffer",
    kind: BUFFER,
    transports: &["ucx"],
    default: "the kernel's automatic one",
    harmless: None,
    had: Had::Always,
    about: "the send and receive buffers of the library's TCP sockets",
    source: "ucx_info -cf: UCX_TCP_SNDBUF, UCX_TCP_RCVBUF; socket(7)",
    hint: "the product of rate and round trip on a long path",
};

/// `ucx.environment`.
pub const UCX_ENVIRONMENT: Knob = Knob {
    name: "ucx.environment",
    kind: KnobKind::Variables,
    transports: &["ucx"],
    default: "none: variables of the user's own are not passed on",
    harmless: None,
    had: Had::Always,
    about: "variables for the library, as they are: `NAME=VALUE NAME=VALUE`; they win over all others",
    source: "ucx_info -cf",
    hint: "UCX_TLS=posix,cma: one way within a host",
};

/// `libfabric.provider`.
pub const LIBFABRIC_PROVIDER: Knob = Knob {
    name: "libfabric.provider",
    kind: KnobKind::OneOf(&["tcp", "net", "sockets", "udp", "shm"]),
    transports: &["libfabric"],
    default: "within a host the first that it offers; tcp between two",
    harmless: None,
    had: Had::Tried,
    about: "the provider of libfabric that carries the messages, by its core's name; read back",
    source: "fi_provider(7), fabric(7): FI_PROVIDER; fi_info lists them",
    hint: "shm within a host, where libfabric itself offers TCP first",
};

/// `libfabric.eager-limit`.
pub const LIBFABRIC_EAGER_LIMIT: Knob = Knob {
    name: "libfabric.eager-limit",
    kind: BUFFER,
    transports: &["libfabric"],
    default: "the library's own: 16 KiB over TCP in 1.17",
    harmless: None,
    had: Had::Always,
    about: "the largest message that is sent at once by providers below ofi_rxm, as tcp is",
    source: "fi_rxm(7): FI_OFI_RXM_BUFFER_SIZE, FI_OFI_RXM_EAGER_LIMIT; up to FI_OFI_RXM_SAR_LIMIT it is then cut in pieces",
    hint: "several around the dip: it moves with the limit",
};

/// `libfabric.environment`.
pub const LIBFABRIC_ENVIRONMENT: Knob = Knob {
    name: "libfabric.environment",
    kind: KnobKind::Variables,
    transports: &["libfabric"],
    default: "none: variables of the user's own are not passed on",
    harmless: None,
    had: Had::Always,
    about: "variables for the library, as they are: `NAME=VALUE NAME=VALUE`; they win over all others",
    source: "fi_info -e",
    hint: "FI_OFI_RXM_SAR_LIMIT=0: no messages in pieces",
};

/// `lite.progress`.
pub const LITE_PROGRESS: Knob = Knob {
    name: "lite.progress",
    kind: KnobKind::OneOf(&["thread", "signal", "none"]),
    transports: &["lite"],
    default: "thread",
    harmless: None,
    had: Had::Always,
    about: "who moves messages while a rank computes: a thread of the layer's own, a signal handler in the middle of the work, or nobody",
    source: "D. Turner, X. Chen, IEEE Cluster 2002 (MP_Lite: SIGIO's handler did); fcntl(2), O_ASYNC",
    hint: "signal: where there is no CPU for a thread. none: what a library without a progress engine gives away where communication and computation overlap",
};
