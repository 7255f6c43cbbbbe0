//! `ssh HOST 'cat > FILE' < FILE`: what is left of a copy by ssh when nothing but ssh is in it.

use super::sshd::{FAR, SSHD, config};
use super::{Tool, words};

/// The tool.
pub static PIPE: Tool = Tool {
    name: "cat-ssh",
    about: "a pipe through ssh, of cat or of tar",
    programs: &["ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    paper: &[],
    service: &SSHD,
    words: |site, _| {
        let far = format!("cat > {}", site.destination());
        let script = "exec ssh -F \"$1\" \"$2\" \"$3\" < \"$4\"";
        words(["sh", "-c", script, "ssh", &config(site), FAR, &far, &site.source()])
    },
    // As an archive of one stream.
    folder: Some(|site, _| {
        let far = format!("mkdir {0} && exec tar -C {0} -x", site.destination());
        let script = "tar -C \"$4\" -c . | ssh -F \"$1\" \"$2\" \"$3\"";
        words(["sh", "-c", script, "ssh", &config(site), FAR, &far, &site.source()])
    }),
};
