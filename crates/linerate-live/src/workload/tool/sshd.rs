//! An sshd for one transfer: its own keys, its own configuration, nothing of the machine's ssh.

use super::service::Service;
use super::site::Site;
use super::{Sealing, words};
use crate::{Error, Result};
use linerate_sys::process::effective_user;
use std::process::{Command, Stdio};

/// The service.
pub static SSHD: Service = Service { name: "sshd", words: start };

/// The name by which ssh knows the far end.
pub const FAR: &str = "far";

/// What the end that takes lets be under way in one channel: 64 packets of 32 KiB (`CHAN_SES_WINDOW_DEFAULT` of OpenSSH's
/// channels.h), whatever the connection's own window is.
const CHANNEL_WINDOW: u64 = 64 * (32 << 10);

/// What ssh seals by as shipped (ssh_config(5), Ciphers: the first).
pub const CHACHA: Sealing = Sealing { cipher: "chacha20-poly1305", window_bytes: Some(CHANNEL_WINDOW) };

/// What it does by [`QUICK`].
pub const AES: Sealing = Sealing { cipher: "aes-128-gcm", ..CHACHA };

/// What makes ssh seal by a cipher that CPUs have instructions for, and says nothing else (ssh_config(5)).
pub const QUICK: &str = "Ciphers=aes128-gcm@openssh.com";

/// What says to ssh what it does anyway: its ciphers as they are.
pub const AS_SHIPPED: &str = "Ciphers=+aes128-gcm@openssh.com";

/// As root it wants a folder that a host without a booted sshd does not have: it gets one in a mount namespace of its own.
const AS_ROOT: &str = "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && exec \"$0\" \"$@\"";

/// The file that tells ssh where the far end is.
pub fn config(site: &Site) -> String {
    site.path("ssh_config")
}

fn start(site: &Site) -> Result<Vec<String>> {
    for key in ["host_key", "user_key"] {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(site.folder.join(key));
        let made = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
        let made = made.map_err(|e| Error::io("start", "ssh-keygen", e))?;
        if !made.success() {
            return Err(Error::unavailable("ssh-keygen made no key", "does `ssh-keygen -t ed25519` work?"));
        }
    }
    let (address, port, at) = (site.address, site.port, site.folder.display());
    let server = format!(
        "Port {port}\nListenAddress {}\nHostKey {at}/host_key\nAuthorizedKeysFile {at}/user_key.pub\nPidFile none\n\
         StrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nUsePAM no\nUseDNS no\n\
         Subsystem sftp internal-sftp\n",
        site.host()
    );
    let known = std::fs::read_to_string(site.folder.join("host_key.pub")).unwrap_or_default();
    site.write("known_hosts", &format!("{FAR} {known}"))?;
    let client = format!(
        "Host {FAR}\n  HostName {address}\n  HostKeyAlias {FAR}\n  Port {port}\n  User {}\n  IdentityFile {at}/user_key\n  \
         IdentitiesOnly yes\n  IdentityAgent none\n  StrictHostKeyChecking yes\n  UserKnownHostsFile {at}/known_hosts\n  \
         GlobalKnownHostsFile none\n  LogLevel ERROR\n  BatchMode yes\n",
        site.user
    );
    site.write("ssh_config", &client)?;
    let config = site.write("sshd_config", &server)?.display().to_string();
    let before = match effective_user() {
        0 => words(["unshare", "--mount", "--propagation", "private", "sh", "-c", AS_ROOT]),
        _ => Site::as_another(),
    };
    let sshd = super::program("sshd", &[]).map_or("sshd".into(), |path| path.display().to_string());
    Ok([before, words([&sshd, "-D", "-e", "-f", &config])].concat())
}
