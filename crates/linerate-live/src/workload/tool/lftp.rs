//! lftp, over sftp.

use super::site::Site;
use super::sshd::{AES, AS_SHIPPED, CHACHA, FAR, QUICK, SSHD, config};
use super::{Tool, words};

const SHIPPED: Tool = Tool {
    name: "lftp",
    about: "lftp over sftp",
    programs: &["lftp", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "lftp openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    flags: "",
    best: None,
    sealing: Some(CHACHA),
    paper: &[],
    service: &SSHD,
    words: |site, _| script(site, AS_SHIPPED, &format!("put {} -o {}", site.source(), site.destination())),
    folder: Some(|site, _| {
        script(site, AS_SHIPPED, &format!("mirror -R {} {}", site.source(), site.destination()))
    }),
};

/// The tool. The password stands for none: it would ask for one.
pub static LFTP: Tool = Tool { best: Some(&BEST), ..SHIPPED };

/// Parts of a file are fetched only, over a connection each; of a folder, files are.
static BEST: Tool = Tool {
    streams: &[8],
    pulls: true,
    flags: "pget -n 8, mirror -P 8; Ciphers=aes128-gcm@openssh.com",
    words: |site, streams| {
        script(site, QUICK, &format!("pget -n {streams} {} -o {}", site.source(), site.destination()))
    },
    folder: Some(|site, streams| {
        script(site, QUICK, &format!("mirror -P {streams} {} {}", site.source(), site.destination()))
    }),
    sealing: Some(AES),
    ..SHIPPED
};

fn script(site: &Site, how: &str, what: &str) -> Vec<String> {
    let (ssh, user) = (config(site), &site.user);
    let script = format!(
        "set sftp:connect-program \"ssh -a -x -F {ssh} -o {how}\"; open sftp://{user}:none@{FAR}; {what}"
    );
    words(["lftp", "--norc", "-c", &script])
}
