//! scp, as OpenSSH has it: one stream, sealed.

use super::site::Site;
use super::sshd::{AES, CHACHA, FAR, QUICK, SSHD, config};
use super::{Tool, words};

const SHIPPED: Tool = Tool {
    name: "scp",
    about: "OpenSSH's copy",
    programs: &["scp", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    flags: "",
    best: None,
    sealing: Some(CHACHA),
    paper: &[(1, "OpenSSH scp arcfour")],
    service: &SSHD,
    words: |site, _| copy(site, &[]),
    folder: Some(|site, _| copy(site, &["-r"])),
};

/// The tool.
pub static SCP: Tool = Tool { best: Some(&BEST), ..SHIPPED };

/// A cipher that the CPU has instructions for, and more requests under way: the window of a channel is no bound then.
static BEST: Tool = Tool {
    flags: "-o Ciphers=aes128-gcm@openssh.com -X nrequests=256",
    words: |site, _| copy(site, BEST_WORDS),
    folder: Some(|site, _| copy(site, &[&["-r"], BEST_WORDS].concat())),
    paper: &[],
    sealing: Some(AES),
    ..SHIPPED
};

const BEST_WORDS: &[&str] = &["-o", QUICK, "-X", "nrequests=256"];

fn copy(site: &Site, how: &[&str]) -> Vec<String> {
    let to = format!("{FAR}:{}", site.destination());
    let how = how.iter().map(|word| (*word).to_owned());
    let words_before = words(["scp", "-q", "-F", &config(site)]);
    words_before.into_iter().chain(how).chain([site.source(), to]).collect()
}
