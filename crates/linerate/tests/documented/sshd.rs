//! An sshd of its own on the loopback interface, and the ssh that reaches it by a name.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Far more than sshd takes to listen.
const LIMIT: Duration = Duration::from_secs(20);

/// The daemon; ends with this value. Nothing of the machine's own ssh is used.
pub struct Sshd {
    daemon: Child,
    folder: TempDir,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

impl Sshd {
    /// Starts it, and waits until it answers. Who logs in there has a home of its own.
    pub fn start(name: &str) -> Result<Sshd, String> {
        let folder = TempDir::new().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        write(folder.path(), name, port)?;
        // Debian's sshd wants this folder for its unprivileged part; a booted host has it.
        let _ = fs::create_dir_all("/run/sshd");
        let mut command = Command::new("/usr/sbin/sshd");
        command.args(["-D", "-e", "-f"]).arg(folder.path().join("sshd_config"));
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let sshd = Sshd { daemon: daemon.map_err(|e| format!("sshd: {e}"))?, folder };
        let end = Instant::now() + LIMIT;
        loop {
            let command = format!("{} {name} true", sshd.command());
            let output = Command::new("sh").args(["-c", &command]).stdin(Stdio::null()).output().unwrap();
            match (output.status.success(), Instant::now() < end) {
                (true, _) => return Ok(sshd),
                (false, true) => continue,
                (false, false) => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            }
        }
    }

    /// The ssh that knows the name.
    pub fn command(&self) -> String {
        format!("ssh -F {}", self.folder.path().join("ssh_config").display())
    }
}

/// Keys and configurations of both sides.
fn write(folder: &Path, name: &str, port: u16) -> Result<(), String> {
    for key in ["host_key", "user_key"] {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(key));
        let made = command.status().map_err(|e| format!("ssh-keygen: {e}"))?;
        assert!(made.success());
    }
    let at = folder.display();
    let server = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host_key\nAuthorizedKeysFile {at}/user_key.pub\n\
         PidFile none\nStrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nUsePAM no\n\
         UseDNS no\nSetEnv HOME={at}\n"
    );
    let client = format!(
        "Host {name}\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {at}/user_key\n  IdentitiesOnly yes\n  \
         StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  BatchMode yes\n"
    );
    fs::write(folder.join("sshd_config"), server).unwrap();
    fs::write(folder.join("ssh_config"), client).unwrap();
    Ok(())
}
