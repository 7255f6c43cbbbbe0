//! sftp, as OpenSSH has it: many requests under way on one stream, sealed.

use super::site::Site;
use super::sshd::{AES, CHACHA, FAR, QUICK, SSHD, config};
use super::{Tool, words};

const SHIPPED: Tool = Tool {
    name: "sftp",
    about: "OpenSSH's file transfer program",
    programs: &["sftp", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    flags: "",
    best: None,
    sealing: Some(CHACHA),
    paper: &[],
    service: &SSHD,
    words: |site, _| put(site, "put", &[]),
    folder: Some(|site, _| put(site, "put -r", &[])),
};

/// The tool. Its commands come from a file that a shell hands to it.
pub static SFTP: Tool = Tool { best: Some(&BEST), ..SHIPPED };

/// Larger requests, and more of them under way.
static BEST: Tool = Tool {
    flags: "-o Ciphers=aes128-gcm@openssh.com -B 261120 -R 256",
    words: |site, _| put(site, "put", BEST_WORDS),
    folder: Some(|site, _| put(site, "put -r", BEST_WORDS)),
    sealing: Some(AES),
    ..SHIPPED
};

/// 255 KiB is the longest request that OpenSSH takes (`limits@openssh.com` in its PROTOCOL).
const BEST_WORDS: &[&str] = &["-o", QUICK, "-B", "261120", "-R", "256"];

fn put(site: &Site, command: &str, how: &[&str]) -> Vec<String> {
    let put = format!("{command} {} {}", site.source(), site.destination());
    let script = "put=$1; shift; echo \"$put\" | sftp -q \"$@\"";
    let how = how.iter().map(|word| (*word).to_owned());
    let before = words(["sh", "-c", script, "sftp", &put]);
    before.into_iter().chain(how).chain(words(["-F", &config(site), "-b", "-", FAR])).collect()
}
