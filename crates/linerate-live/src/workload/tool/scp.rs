//! scp, as OpenSSH has it: one stream, sealed.

use super::sshd::{FAR, SSHD, config};
use super::{Tool, words};

/// The tool.
pub static SCP: Tool = Tool {
    name: "scp",
    about: "OpenSSH's copy",
    programs: &["scp", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    paper: &[(1, "OpenSSH scp arcfour")],
    service: &SSHD,
    words: |site, _| {
        words(["scp", "-q", "-F", &config(site), &site.source(), &format!("{FAR}:{}", site.destination())])
    },
    folder: Some(|site, _| {
        let to = format!("{FAR}:{}", site.destination());
        words(["scp", "-q", "-r", "-F", &config(site), &site.source(), &to])
    }),
};
