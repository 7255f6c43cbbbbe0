//! rsync, over ssh and to its own daemon: one stream, verified by a digest of the whole file.

use super::service::Service;
use super::site::Site;
use super::sshd::{AES, AS_SHIPPED, CHACHA, FAR, QUICK, SSHD, config};
use super::{Tool, words};
use crate::Result;

const OVER_SSH_SHIPPED: Tool = Tool {
    name: "rsync-ssh",
    about: "rsync over ssh",
    programs: &["rsync", "ssh", "sshd", "ssh-keygen", "unshare"],
    packages: "rsync openssh-client openssh-server util-linux",
    streams: &[1],
    seals: true,
    pulls: false,
    flags: "",
    best: None,
    sealing: Some(CHACHA),
    paper: &[],
    service: &SSHD,
    words: |site, _| over_ssh(site, AS_SHIPPED, &[], &site.source()),
    folder: Some(|site, _| over_ssh(site, AS_SHIPPED, &["-r"], &format!("{}/", site.source()))),
};

/// Over ssh.
pub static OVER_SSH: Tool = Tool { best: Some(&OVER_SSH_BEST), ..OVER_SSH_SHIPPED };

/// No look for what is there already, and no copy of it.
const WHOLE: &[&str] = &["--whole-file", "--inplace"];
const WHOLE_FOLDER: &[&str] = &["-r", "--whole-file", "--inplace"];

static OVER_SSH_BEST: Tool = Tool {
    flags: "--whole-file --inplace -e 'ssh -o Ciphers=aes128-gcm@openssh.com'",
    words: |site, _| over_ssh(site, QUICK, WHOLE, &site.source()),
    folder: Some(|site, _| over_ssh(site, QUICK, WHOLE_FOLDER, &format!("{}/", site.source()))),
    sealing: Some(AES),
    ..OVER_SSH_SHIPPED
};

const DAEMON_SHIPPED: Tool = Tool {
    name: "rsync",
    about: "rsync to its own daemon",
    programs: &["rsync"],
    packages: "rsync",
    seals: false,
    sealing: None,
    service: &Service { name: "rsync's daemon", words: daemon },
    words: |site, _| to_daemon(site, &[], &site.source()),
    folder: Some(|site, _| to_daemon(site, &["-r"], &format!("{}/", site.source()))),
    ..OVER_SSH_SHIPPED
};

/// To its daemon.
pub static DAEMON: Tool = Tool { best: Some(&DAEMON_BEST), ..DAEMON_SHIPPED };

static DAEMON_BEST: Tool = Tool {
    flags: "--whole-file --inplace",
    words: |site, _| to_daemon(site, WHOLE, &site.source()),
    folder: Some(|site, _| to_daemon(site, WHOLE_FOLDER, &format!("{}/", site.source()))),
    ..DAEMON_SHIPPED
};

fn over_ssh(site: &Site, ciphers: &str, how: &[&str], from: &str) -> Vec<String> {
    let shell = format!("ssh -F {} -o {ciphers}", config(site));
    rsync(how, &["-e", &shell, from, &format!("{FAR}:{}", site.destination())])
}

fn to_daemon(site: &Site, how: &[&str], from: &str) -> Vec<String> {
    let (host, port, name) = (site.host(), site.port, site.destination_name());
    rsync(how, &[from, &format!("rsync://{host}:{port}/sink/{name}")])
}

fn rsync(how: &[&str], what: &[&str]) -> Vec<String> {
    [&["rsync"], how, what].concat().into_iter().map(String::from).collect()
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
