//! The programs that move files, by the names that plans and tables have for them.

/// This one.
pub const OWN: &str = "linerate";

/// What stands for no cipher where this one's streams cross as they are.
pub const NO_CIPHER: &str = "none";

/// Every one, this one first.
pub const MOVER_NAMES: &[&str] = &[
    OWN,
    "scp",
    "sftp",
    "cat-ssh",
    "rsync-ssh",
    "rsync",
    "gridftp",
    "rclone-sftp",
    "rclone-webdav",
    "lftp",
    "aria2",
    "xrdcp",
];
