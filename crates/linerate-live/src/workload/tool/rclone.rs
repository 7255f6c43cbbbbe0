//! rclone, over sftp and WebDAV.

use super::site::Site;
use super::sshd::SSHD;
use super::web::WEBDAV as SERVER;
use super::{Tool, words};

const SHIPPED: Tool = Tool {
    name: "rclone-sftp",
    about: "rclone over sftp",
    programs: &["rclone", "sshd", "ssh-keygen", "unshare"],
    packages: "rclone openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    flags: "",
    best: None,
    // Its ssh is its own, and so are cipher and window.
    sealing: None,
    paper: &[],
    service: &SSHD,
    words: |site, _| sftp(site, "copyto", &[]),
    folder: Some(|site, _| sftp(site, "copy", &[])),
};

/// Over sftp.
pub static SFTP: Tool = Tool { best: Some(&BEST), ..SHIPPED };

/// Larger requests, more of them under way, and of a folder more files.
static BEST: Tool = Tool {
    flags: "--sftp-concurrency 256 --sftp-chunk-size 255k; of a folder --transfers 16",
    words: |site, _| sftp(site, "copyto", BEST_WORDS),
    folder: Some(|site, _| sftp(site, "copy", &[BEST_WORDS, MANY].concat())),
    ..SHIPPED
};

const BEST_WORDS: &[&str] = &["--sftp-concurrency", "256", "--sftp-chunk-size", "255k"];
const MANY: &[&str] = &["--transfers", "16", "--checkers", "16"];

/// Over WebDAV.
pub static WEBDAV: Tool = Tool {
    name: "rclone-webdav",
    about: "rclone over WebDAV, to its own server",
    programs: &["rclone"],
    packages: "rclone",
    seals: false,
    service: &SERVER,
    words: |site, _| webdav(site, "copyto", &[]),
    folder: Some(|site, _| webdav(site, "copy", &[])),
    best: Some(&BEST_WEBDAV),
    ..SHIPPED
};

/// A file is one request there, whatever is said to it.
static BEST_WEBDAV: Tool = Tool {
    name: "rclone-webdav",
    about: "rclone over WebDAV, to its own server",
    programs: &["rclone"],
    packages: "rclone",
    seals: false,
    service: &SERVER,
    flags: "--buffer-size 64M; of a folder --transfers 16",
    words: |site, _| webdav(site, "copyto", &["--buffer-size", "64M"]),
    folder: Some(|site, _| webdav(site, "copy", MANY)),
    ..SHIPPED
};

fn sftp(site: &Site, how: &str, more: &[&str]) -> Vec<String> {
    let far = [
        ("--sftp-host", site.address.to_string()),
        ("--sftp-port", site.port.to_string()),
        ("--sftp-user", site.user.clone()),
        ("--sftp-key-file", site.path("user_key")),
    ];
    let to = format!(":sftp:{}", site.destination());
    let mut all = words(["rclone", "--config", "", how, &site.source(), &to]);
    all.extend(far.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
    all.extend(more.iter().map(|word| (*word).to_owned()));
    all
}

fn webdav(site: &Site, how: &str, more: &[&str]) -> Vec<String> {
    let to = format!(":webdav:{}", site.destination_name());
    let at = format!("http://{}:{}", site.host(), site.port);
    let all = words(["rclone", "--config", "", how, &site.source(), &to, "--webdav-url", &at]);
    all.into_iter().chain(more.iter().map(|word| (*word).to_owned())).collect()
}
