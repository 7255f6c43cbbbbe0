//! A lab's hosts as an ordinary user reaches them: by Debian's sshd, who gives nobody any privilege.

use linerate::lab::Lab;
use linerate::plan::{Fault, Target, Topology};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const PORT: &str = "2222";

/// The number of the user, whom only these hosts know.
const USER: &str = "54321";

/// How a shell gives a host one more user, in a mount namespace of its own: `$0` is that user's home.
const ONE_MORE_USER: &str = "cp /etc/passwd \"$0/passwd\" && \
    echo \"ordinary:x:$USER:$USER::$0:/bin/sh\" >> \"$0/passwd\" && \
    mount --bind \"$0/passwd\" /etc/passwd && chown -R $USER:$USER \"$0\" && chmod 755 \"$0/..\" \"$0\" && ";

/// How often it is asked whether sshd listens, and for how long at most: 10 s.
const ASKED: u32 = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// Two hosts, and the daemon of the second one.
pub struct Hosts {
    lab: Lab,
    daemon: Child,
    homes: TempDir,
    /// What programs set on their paths.
    settings: Vec<String>,
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

impl Hosts {
    /// The lab of a draw's arguments, with sshd on its second host. What its faults do to the hosts and to the wire is
    /// done; what they do to programs is asked for as those programs' settings.
    pub fn up(arguments: &[String], program: &Path) -> Result<Hosts, String> {
        let (topology, mut settings) = asked(arguments)?;
        settings.extend(topology.settings().iter().map(ToString::to_string));
        let lab = Lab::build(&topology, program).map_err(|error| error.to_string())?;
        let homes = TempDir::new().map_err(|error| error.to_string())?;
        prepare(homes.path(), program).map_err(|error| format!("{}: {error}", homes.path().display()))?;
        let daemon = daemon(&lab, homes.path())?;
        Ok(Hosts { lab, daemon, homes, settings })
    }

    /// Where that user can write recordings.
    pub fn output(&self) -> PathBuf {
        self.homes.path().join("a/recordings")
    }

    /// A diagnosis by that user, from the first host.
    pub fn diagnosis(&self) -> Command {
        let home = self.homes.path().join("a");
        let mut command = in_home(&self.lab, 0, &home);
        command.args(["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]);
        command.arg(home.join("linerate")).arg("diagnose");
        command.arg(format!("ssh://ordinary@{}:{PORT}", self.lab.hosts()[1].address));
        self.settings.iter().for_each(|setting| {
            command.args(["--base", setting]);
        });
        command.arg("--ssh").arg(format!("ssh -F {}", home.join("ssh_config").display()));
        command.env("HOME", &home).env_remove("XDG_STATE_HOME");
        command
    }
}

/// The lab of a draw, with its faults, and what is set besides.
fn asked(arguments: &[String]) -> Result<(Topology, Vec<String>), String> {
    let [target, options @ ..] = arguments else { return Err("nothing is drawn".into()) };
    let Ok(Target::Lab(mut topology)) = target.parse() else { return Err(format!("{target} is no lab")) };
    let mut settings = Vec::new();
    for pair in options.chunks(2) {
        match pair {
            [option, value] if option == "--fault" => {
                let fault: Fault = value.parse().map_err(|_| format!("{value} is no fault"))?;
                topology = topology.with_faults([fault]).map_err(|error| error.what)?;
            }
            [option, value] if option == "--base" => settings.push(value.clone()),
            other => return Err(format!("{} is neither a fault nor a setting", other.join(" "))),
        }
    }
    Ok((topology, settings))
}

/// Keys, configurations and a copy of the program that such a user may run.
fn prepare(homes: &Path, program: &Path) -> std::io::Result<()> {
    for home in ["a", "b"].map(|host| homes.join(host)) {
        fs::create_dir(&home)?;
    }
    for key in ["host_key", "a/key"].map(|key| homes.join(key)) {
        let made =
            Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(key).status()?;
        if !made.success() {
            return Err(std::io::Error::other("ssh-keygen failed"));
        }
    }
    fs::copy(homes.join("a/key.pub"), homes.join("authorized_keys"))?;
    fs::copy(program, homes.join("a/linerate"))?;
    let of_client = format!(
        "Host *\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  \
         UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  BatchMode yes\n",
        homes.join("a/key").display()
    );
    fs::write(homes.join("a/ssh_config"), of_client)
}

/// Debian's sshd on the second host, when it listens.
fn daemon(lab: &Lab, homes: &Path) -> Result<Child, String> {
    let failed = |error: std::io::Error| format!("sshd: {error}");
    let address = lab.hosts()[1].address.to_string();
    let text = format!(
        "Port {PORT}\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
         StrictModes no\nPasswordAuthentication no\nUsePAM no\nUseDNS no\n",
        homes.join("host_key").display(),
        homes.join("authorized_keys").display()
    );
    let config = homes.join("sshd_config");
    fs::write(&config, text).map_err(failed)?;
    // Debian's sshd wants this folder for its unprivileged part; a booted host has it.
    fs::create_dir_all("/run/sshd").map_err(failed)?;
    let mut command = in_home(lab, 1, &homes.join("b"));
    command.args(["/usr/sbin/sshd", "-D", "-e", "-f"]).arg(&config);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?;
    for _ in 0..ASKED {
        let mut scan = lab.hosts()[1].command("ssh-keyscan");
        let found = scan.args(["-p", PORT, &address]).stderr(Stdio::null()).output().map_err(failed)?;
        if !found.stdout.is_empty() {
            return Ok(child);
        }
        sleep(PAUSE);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err("sshd does not listen".into())
}

/// What runs on a host in that user's home; the program and its words follow.
fn in_home(lab: &Lab, host: usize, home: &Path) -> Command {
    let mut command = lab.hosts()[host].command("unshare");
    let script = format!("{ONE_MORE_USER}exec \"$@\"").replace("$USER", USER);
    command.args(["--mount", "sh", "-c", &script]).arg(home);
    command
}
