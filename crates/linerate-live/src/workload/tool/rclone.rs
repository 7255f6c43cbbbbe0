//! rclone, over sftp and WebDAV.

use super::sshd::SSHD;
use super::web::WEBDAV as SERVER;
use super::{Tool, words};

/// Over sftp.
pub static SFTP: Tool = Tool {
    name: "rclone-sftp",
    about: "rclone over sftp",
    programs: &["rclone", "sshd", "ssh-keygen", "unshare"],
    packages: "rclone openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    paper: &[],
    service: &SSHD,
    words: |site, _| {
        let far = [
            ("--sftp-host", site.address.to_string()),
            ("--sftp-port", site.port.to_string()),
            ("--sftp-user", site.user.clone()),
            ("--sftp-key-file", site.path("user_key")),
        ];
        let to = format!(":sftp:{}", site.destination());
        let mut all = words(["rclone", "--config", "", "copyto", &site.source(), &to]);
        all.extend(far.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
        all
    },
};

/// Over WebDAV.
pub static WEBDAV: Tool = Tool {
    name: "rclone-webdav",
    about: "rclone over WebDAV, to its own server",
    programs: &["rclone"],
    packages: "rclone",
    streams: &[1],
    seals: false,
    pulls: false,
    paper: &[],
    service: &SERVER,
    words: |site, _| {
        let to = format!(":webdav:{}", site.destination_name());
        let at = format!("http://{}:{}", site.host(), site.port);
        words(["rclone", "--config", "", "copyto", &site.source(), &to, "--webdav-url", &at])
    },
};
