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
    words: |site, _| over_ssh(site, &["rsync"], &site.source()),
    folder: Some(|site, _| over_ssh(site, &["rsync", "-r"], &format!("{}/", site.source()))),
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
    words: |site, _| to_daemon(site, &["rsync"], &site.source()),
    folder: Some(|site, _| to_daemon(site, &["rsync", "-r"], &format!("{}/", site.source()))),
};

fn over_ssh(site: &Site, how: &[&str], from: &str) -> Vec<String> {
    let shell = format!("ssh -F {}", config(site));
    [how, &["-e", &shell, from, &format!("{FAR}:{}", site.destination())]]
        .concat()
        .into_iter()
        .map(String::from)
        .collect()
}

fn to_daemon(site: &Site, how: &[&str], from: &str) -> Vec<String> {
    let (host, port, name) = (site.host(), site.port, site.destination_name());
    [how, &[from, &format!("rsync://{host}:{port}/sink/{name}")]]
        .concat()
        .into_iter()
        .map(String::from)
        .collect()
}

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
