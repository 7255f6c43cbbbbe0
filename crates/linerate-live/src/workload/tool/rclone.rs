//! rclone, over sftp and WebDAV.

use super::site::Site;
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
    words: |site, _| sftp(site, "copyto"),
    folder: Some(|site, _| sftp(site, "copy")),
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
    words: |site, _| webdav(site, "copyto"),
    folder: Some(|site, _| webdav(site, "copy")),
};

fn sftp(site: &Site, how: &str) -> Vec<String> {
    let far = [
        ("--sftp-host", site.address.to_string()),
        ("--sftp-port", site.port.to_string()),
        ("--sftp-user", site.user.clone()),
        ("--sftp-key-file", site.path("user_key")),
    ];
    let to = format!(":sftp:{}", site.destination());
    let mut all = words(["rclone", "--config", "", how, &site.source(), &to]);
    all.extend(far.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
    all
}

fn webdav(site: &Site, how: &str) -> Vec<String> {
    let to = format!(":webdav:{}", site.destination_name());
    let at = format!("http://{}:{}", site.host(), site.port);
    words(["rclone", "--config", "", how, &site.source(), &to, "--webdav-url", &at])
}
