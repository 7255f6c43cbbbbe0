//! sftp, as OpenSSH has it: many requests under way on one stream, sealed.

use super::site::Site;
use super::sshd::{FAR, SSHD, config};
use super::{Tool, words};

/// The tool. Its commands come from a file that a shell hands to it.
pub static SFTP: Tool = Tool {
    name: "sftp",
    about: "OpenSSH's file transfer program",
    programs: &["sftp", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    paper: &[],
    service: &SSHD,
    words: |site, _| put(site, "put"),
    folder: Some(|site, _| put(site, "put -r")),
};

fn put(site: &Site, how: &str) -> Vec<String> {
    let put = format!("{how} {} {}", site.source(), site.destination());
    let script = "echo \"$1\" | sftp -q -F \"$2\" -b - \"$3\"";
    words(["sh", "-c", script, "sftp", &put, &config(site), FAR])
}
