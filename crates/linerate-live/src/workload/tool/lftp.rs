//! lftp, over sftp.

use super::sshd::{FAR, SSHD, config};
use super::{Tool, words};

/// The tool. The password stands for none: it would ask for one.
pub static LFTP: Tool = Tool {
    name: "lftp",
    about: "lftp over sftp",
    programs: &["lftp", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "lftp openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    paper: &[],
    service: &SSHD,
    words: |site, _| {
        let script = format!(
            "set sftp:connect-program \"ssh -a -x -F {}\"; open sftp://{}:none@{FAR}; put {} -o {}",
            config(site),
            site.user,
            site.source(),
            site.destination()
        );
        words(["lftp", "--norc", "-c", &script])
    },
};
