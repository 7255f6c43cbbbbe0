//! `ssh HOST 'cat > FILE' < FILE`: what is left of a copy by ssh when nothing but ssh is in it.

use super::site::Site;
use super::sshd::{AES, AS_SHIPPED, CHACHA, FAR, QUICK, SSHD, config};
use super::{Tool, words};

const SHIPPED: Tool = Tool {
    name: "cat-ssh",
    about: "a pipe through ssh, of cat or of tar",
    programs: &["ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    flags: "",
    best: None,
    sealing: Some(CHACHA),
    paper: &[],
    service: &SSHD,
    words: |site, _| file(site, AS_SHIPPED),
    folder: Some(|site, _| archive(site, AS_SHIPPED)),
};

/// The tool.
pub static PIPE: Tool = Tool { best: Some(&BEST), ..SHIPPED };

static BEST: Tool = Tool {
    flags: "-o Ciphers=aes128-gcm@openssh.com",
    words: |site, _| file(site, QUICK),
    folder: Some(|site, _| archive(site, QUICK)),
    sealing: Some(AES),
    ..SHIPPED
};

fn file(site: &Site, how: &str) -> Vec<String> {
    let far = format!("cat > {}", site.destination());
    let script = "exec ssh -F \"$1\" -o \"$5\" \"$2\" \"$3\" < \"$4\"";
    words(["sh", "-c", script, "ssh", &config(site), FAR, &far, &site.source(), how])
}

/// As an archive of one stream.
fn archive(site: &Site, how: &str) -> Vec<String> {
    let far = format!("mkdir {0} && exec tar -C {0} -x", site.destination());
    let script = "tar -C \"$4\" -c . | ssh -F \"$1\" -o \"$5\" \"$2\" \"$3\"";
    words(["sh", "-c", script, "ssh", &config(site), FAR, &far, &site.source(), how])
}
