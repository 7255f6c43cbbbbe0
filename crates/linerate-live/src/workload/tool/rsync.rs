//! rsync, over ssh and to its own daemon: one stream, verified by a digest of the whole file.

use super::service::Service;
use super::site::Site;
use super::sshd::{FAR, SSHD, config};
use super::{Tool, words};
use crate::Result;

/// Over ssh.
pub static OVER_SSH: Tool = Tool {
    name: "rsync-ssh",
    about: "rsync over ssh",
    programs: &["rsync", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "rsync openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    paper: &[],
    service: &SSHD,
    words: |site, _| {
        let shell = format!("ssh -F {}", config(site));
        words(["rsync", "-e", &shell, &site.source(), &format!("{FAR}:{}", site.destination())])
    },
};

/// To its daemon.
pub static DAEMON: Tool = Tool {
    name: "rsync",
    about: "rsync to its own daemon",
    programs: &["rsync"],
    packages: "rsync",
    streams: &[1],
    seals: false,
    pulls: false,
    paper: &[],
    service: &Service { name: "rsync's daemon", words: daemon },
    words: |site, _| {
        let (host, port, name) = (site.host(), site.port, site.destination_name());
        words(["rsync", &site.source(), &format!("rsync://{host}:{port}/sink/{name}")])
    },
};

fn daemon(site: &Site) -> Result<Vec<String>> {
    let text = format!(
        "use chroot = no\nuid = {user}\n[sink]\npath = {}\nread only = no\n",
        site.destination_folder(),
        user = site.user,
    );
    let config = site.write("rsyncd.conf", &text)?.display().to_string();
    let [config, port] = [format!("--config={config}"), format!("--port={}", site.port)];
    let address = format!("--address={}", site.address);
    Ok(words(["rsync", "--daemon", "--no-detach", &config, &port, &address]))
}
