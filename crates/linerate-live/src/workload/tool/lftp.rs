//! lftp, over sftp.

use super::site::Site;
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
    words: |site, _| script(site, &format!("put {} -o {}", site.source(), site.destination())),
    folder: Some(|site, _| script(site, &format!("mirror -R {} {}", site.source(), site.destination()))),
};

fn script(site: &Site, what: &str) -> Vec<String> {
    let (ssh, user) = (config(site), &site.user);
    let script =
        format!("set sftp:connect-program \"ssh -a -x -F {ssh}\"; open sftp://{user}:none@{FAR}; {what}");
    words(["lftp", "--norc", "-c", &script])
}
