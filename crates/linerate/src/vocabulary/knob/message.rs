//! Knobs of whole messages between ranks.

use super::{Knob, KnobKind};
use crate::vocabulary::MPI_RECEIVES;

/// `mpi.implementation`.
pub const MPI_IMPLEMENTATION: Knob = Knob {
    name: "mpi.implementation",
    kind: KnobKind::OneOf(&["openmpi", "mpich", "intel-mpi", "mvapich"]),
    transports: &["mpi"],
    default: "the first that `linerate doctor` lists with a launcher",
    about: "the MPI that carries the messages, of those that this host has",
    source: "linerate list mpi-abis",
    hint: "each that doctor lists: they differ most where messages stop being sent at once",
};

/// `mpi.eager-limit`.
pub const MPI_EAGER_LIMIT: Knob = Knob {
    name: "mpi.eager-limit",
    kind: KnobKind::Bytes,
    transports: &["mpi"],
    default: "the library's own",
    about: "the largest message that is sent at once, whether or not it is waited for; of a larger one the receiver is asked first",
    source: "btl_tcp_eager_limit(Open MPI), UCX_RNDV_THRESH(UCX): some count their headers, some call the first size that asks",
    hint: "several around the dip: it moves with the limit",
};

/// `mpi.socket-buffer`.
pub const MPI_SOCKET_BUFFER: Knob = Knob {
    name: "mpi.socket-buffer",
    kind: KnobKind::Bytes,
    transports: &["mpi"],
    default: "the library's own, or the kernel's automatic one",
    about: "the send and receive buffers of the library's TCP sockets",
    source: "socket(7), SO_SNDBUF, SO_RCVBUF; btl_tcp_sndbuf(Open MPI), UCX_TCP_SNDBUF(UCX)",
    hint: "the product of rate and round trip on a long path",
};

/// `mpi.progress-thread`.
pub const MPI_PROGRESS_THREAD: Knob = Knob {
    name: "mpi.progress-thread",
    kind: KnobKind::Switch,
    transports: &["mpi"],
    default: "the library's own, mostly off",
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
    about: "the receive of a round trip: MPI_Recv; MPI_Irecv before the message can come; MPI_Recv of MPI_ANY_SOURCE; or MPI_Recv of what MPI_Probe found to be there already",
    source: "MPI: A Message-Passing Interface Standard, version 4.1, sections 3.2.4, 3.7.2 and 3.8.1",
    hint: "posted saves a copy of what comes unasked; any-source shows what matching costs",
};

/// `mpi.environment`.
pub const MPI_ENVIRONMENT: Knob = Knob {
    name: "mpi.environment",
    kind: KnobKind::Variables,
    transports: &["mpi"],
    default: "none",
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
    about: "how messages are packed: by XDR, as they are, or not at all: they are sent from where they lie",
    source: "pvm_initsend(3PVM): PvmDataDefault, PvmDataRaw, PvmDataInPlace",
    hint: "in-place with pvm.route=direct: it saves the sender's copy",
};

/// `lite.progress`.
pub const LITE_PROGRESS: Knob = Knob {
    name: "lite.progress",
    kind: KnobKind::OneOf(&["thread", "none"]),
    transports: &["lite"],
    default: "thread",
    about: "who moves messages while a rank computes: a thread of the layer's own, or nobody",
    source: "D. Turner, X. Chen, IEEE Cluster 2002 (MP_Lite: a signal handler did)",
    hint: "none: what a library without a progress engine gives away where communication and computation overlap",
};
