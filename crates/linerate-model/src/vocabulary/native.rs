//! Libraries that MPIs carry their messages by: how each is told what a session needs.

/// One whose ranks need no launcher: each end starts its own.
#[derive(Debug)]
pub struct NativeLibrary {
    /// Its kind, which is also the transport's name.
    pub name: &'static str,
    /// How it calls itself.
    pub title: &'static str,
    /// The package that has it.
    pub package: &'static str,
    /// What its variables begin with. Those of the user are not passed on: nothing on record would tell of them.
    pub prefix: &'static str,
    /// Variables of every rank.
    pub always: &'static [(&'static str, &'static str)],
    /// Those of a rank whose other one is on another host; `{interface}` has the rank's own address.
    pub across: &'static [(&'static str, &'static str)],
    /// Knobs, as the variables that it has for them: a size in bytes.
    pub knobs: &'static [(&'static str, &'static [&'static str])],
    /// The knob that says variables as they are.
    pub environment: &'static str,
}

/// Every one: `ucx_info -cf`, `fi_info -e`.
pub const NATIVE_LIBRARIES: &[NativeLibrary] = &[
    NativeLibrary {
        name: "ucx",
        title: "UCX",
        package: "libucx0",
        prefix: "UCX_",
        // What a signal ended says so by itself, and a variable of another version is no matter.
        always: &[("UCX_HANDLE_ERRORS", "none"), ("UCX_WARN_UNUSED_ENV_VARS", "n")],
        // It looks at the machine and not at the host's name: untold, it takes shared memory between virtual hosts.
        across: &[("UCX_TLS", "tcp"), ("UCX_NET_DEVICES", "{interface}")],
        knobs: &[
            ("ucx.transports", &["UCX_TLS"]),
            ("ucx.eager-limit", &["UCX_RNDV_THRESH"]),
            ("ucx.socket-buffer", &["UCX_TCP_SNDBUF", "UCX_TCP_RCVBUF"]),
        ],
        environment: "ucx.environment",
    },
    NativeLibrary {
        name: "libfabric",
        title: "libfabric",
        package: "libfabric1",
        prefix: "FI_",
        always: &[],
        // Each provider of sockets has a variable of its own for its interface.
        across: &[
            ("FI_PROVIDER", "tcp"),
            ("FI_TCP_IFACE", "{interface}"),
            ("FI_NET_IFACE", "{interface}"),
            ("FI_UDP_IFACE", "{interface}"),
            ("FI_SOCKETS_IFACE", "{interface}"),
        ],
        knobs: &[
            ("libfabric.provider", &["FI_PROVIDER"]),
            // The rooms that messages come to unasked are as long.
            ("libfabric.eager-limit", &["FI_OFI_RXM_BUFFER_SIZE", "FI_OFI_RXM_EAGER_LIMIT"]),
        ],
        environment: "libfabric.environment",
    },
];
