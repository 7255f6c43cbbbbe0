//! A byte stream through OpenSSH: what a program gets whose bytes go by `ssh`.
//!
//! The active end's `ssh -W` asks an `sshd` of the passive end for a connection (RFC 4254, section 7.2) to the port at which
//! that end listens within its own host. Each flow has both programs for itself. The keys are made for the session, their
//! folder goes with it, and no file, agent or daemon of the user's own ssh is touched.
//!
//! Where the worker is root, sshd is in a user namespace in which it is not: as root it would want an account and a folder
//! that a host without a booted sshd does not have, and it need do nothing here that root may.

use super::library::ProcessEnvironment;
use super::library::supervise::SupervisedDaemon;
use crate::record::{Granted, UnavailableTransport};
use crate::transport::connection::channel::{Channel, receive_all, send_all};
use crate::transport::connection::engine::Connected;
use crate::transport::connection::family::{SECRET_LEN, STRANGER};
use crate::transport::connection::meeting::greeted;
use crate::transport::connection::place::Protocol;
use crate::transport::{Address, Offer, Pending, Session, Spec, Transport, granted};
use crate::{Error, Result};
use linerate_sys::memory_file::PrivateFile;
use linerate_sys::{orphans, process, socket};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The transport.
pub const SSH: Ssh = Ssh;

/// The knob of the cipher.
pub const CIPHER: &str = "ssh.cipher";

/// Its values, and what OpenSSH calls them.
const CIPHERS: [(&str, &str); 5] = [
    ("chacha20-poly1305", "chacha20-poly1305@openssh.com"),
    ("aes-128-gcm", "aes128-gcm@openssh.com"),
    ("aes-256-gcm", "aes256-gcm@openssh.com"),
    ("aes-128-ctr", "aes128-ctr"),
    ("aes-256-ctr", "aes256-ctr"),
];

/// The most parallel connections: each is three processes.
const MOST_FLOWS: u32 = 16;

/// So many may ask for sshd beside those who are expected: each costs a process, and is told nothing.
const STRANGERS: usize = 8;

/// What sshd and ssh say when one has taken the other for what it is.
const FOUND: [&str; 2] = ["Accepted publickey", "Authenticated to "];

/// How often a passive end looks who came.
const LOOK: Duration = Duration::from_millis(2);

/// Where daemons are, beside the folders of `PATH`.
const FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// What root's sshd is called: an account that every system has, that nobody uses and that is not locked.
const NOT_ROOT: u32 = 1;

/// What the host key is called in what the active end knows.
const HOST: &str = "far-end";

/// Makes the keys in a folder; prints the account that sshd will have, its public key, and the private key that it takes.
/// What follows the folder stands before sshd as well. It stays as long as its keeper lets it.
const MAKE_KEYS: &str = r#"set -e
folder=$1
shift
cd "$folder"
ssh-keygen -q -t ed25519 -N '' -C '' -f host
ssh-keygen -q -t ed25519 -N '' -C '' -f user
mv user.pub authorized
"$@" id -un
cat host.pub user
rm user
echo .
exec sleep 2147483647
"#;

/// The transport's type.
pub struct Ssh;

/// What the passive end tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Daemon {
    /// Where it takes connections of ssh.
    address: SocketAddr,
    /// The port within its host to which they are to lead.
    port: u16,
    /// What each must present there first.
    secret: String,
    /// The account.
    user: String,
    /// The public key that it has.
    host_key: String,
    /// The private key that it takes.
    key: String,
}

impl Daemon {
    /// What another end says goes into a command line and into files that ssh reads: each word is one.
    fn check(&self) -> Result<()> {
        let is_name = |text: &str| {
            let usual = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            (1..=32).contains(&text.len()) && text.chars().all(usual) && !text.starts_with('-')
        };
        let is_key =
            |text: &str| text.starts_with("ssh-") && text.len() < 1024 && !text.contains(['\n', '\r']);
        let is_secret = self.secret.len() == SECRET_LEN && self.secret.chars().all(|c| c.is_ascii_hexdigit());
        if is_name(&self.user) && is_key(&self.host_key) && is_secret && self.key.len() < 4096 {
            return Ok(());
        }
        Err(Error::peer("the other end", "offered an sshd that is none", ""))
    }
}

impl Transport for Ssh {
    fn name(&self) -> &'static str {
        "openssh"
    }

    fn lacks(&self) -> Option<UnavailableTransport> {
        let needed = ["ssh", "sshd", "ssh-keygen", "unshare"];
        let missing = needed.into_iter().find(|name| program(name).is_none())?;
        let why = format!("unavailable: there is no program `{missing}` on this host");
        let hint = "apt-get install openssh-client openssh-server util-linux";
        Some(UnavailableTransport { transport: self.name().into(), why, hint: hint.into() })
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if spec.flows == 0 || spec.flows > MOST_FLOWS {
            return Err(Error::usage(
                format!("{} flows of ssh", spec.flows),
                format!("1 to {MOST_FLOWS} flows"),
            ));
        }
        if let Some(lack) = self.lacks() {
            return Err(Error::unavailable(lack.why, lack.hint));
        }
        if !spec.passive {
            return Ok((Box::new(Asking { spec: spec.clone() }), Offer::Nothing));
        }
        let serving = Serving::new(spec)?;
        let offer = Offer::Daemon(Box::new(serving.daemon.clone()));
        Ok((Box::new(serving), offer))
    }
}

/// The ciphers that the ssh of this host has, by the names of the knob; none where it does not tell.
pub fn ciphers() -> Option<Vec<&'static str>> {
    let told = Command::new(program("ssh")?).args(["-Q", "cipher"]).stdin(Stdio::null()).output().ok()?;
    let told = String::from_utf8(told.stdout).ok().filter(|_| told.status.success())?;
    let is_told = |name: &str| told.lines().any(|line| line.trim() == name);
    Some(CIPHERS.iter().filter(|(_, name)| is_told(name)).map(|(name, _)| *name).collect())
}

/// The file of a program.
fn program(name: &str) -> Option<PathBuf> {
    let folders = ProcessEnvironment::of_this_process().programs;
    let folders = folders.into_iter().chain(FOLDERS.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn find_program(name: &str) -> Result<PathBuf> {
    program(name).ok_or_else(|| Error::unavailable(format!("no program `{name}`"), "see `linerate doctor`"))
}

/// What stands before sshd where it would be root.
fn as_another() -> Result<Vec<String>> {
    if process::effective_user() != 0 {
        return Ok(Vec::new());
    }
    let unshare = find_program("unshare")?.display().to_string();
    Ok(vec![unshare, "--user".into(), format!("--map-user={NOT_ROOT}"), format!("--map-group={NOT_ROOT}")])
}

/// The end that has the daemons.
struct Serving {
    spec: Spec,
    daemon: Daemon,
    keys: Keys,
    /// Who asks for sshd, and who comes by it.
    outer: TcpListener,
    inner: TcpListener,
}

/// The keys' folder, as long as this is there.
struct Keys {
    kept: Option<SupervisedDaemon>,
    folder: PathBuf,
    maker: Child,
    /// What stands before sshd.
    before: Vec<String>,
}

impl Drop for Keys {
    fn drop(&mut self) {
        drop(self.kept.take());
        let _ = self.maker.kill();
        let _ = self.maker.wait();
    }
}

impl Keys {
    /// Makes them; gives the account, the host's public key and the user's private one as well.
    fn make(limit: Duration) -> Result<(Keys, [String; 3])> {
        let (kept, before) = (SupervisedDaemon::expect()?, as_another()?);
        let mut command = kept.command(Path::new("/bin/sh"))?;
        command.args(["-c", MAKE_KEYS, "keys"]).arg(kept.folder()).args(&before);
        let log = PrivateFile::from_bytes(&[])?;
        let fail = |e| Error::io("start", "the maker of keys", e);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.writer().map_err(fail)?);
        let mut maker = command.spawn().map_err(fail)?;
        let told = maker.stdout.take().map(|stdout| until_dot(stdout, limit));
        let keys = Keys { folder: kept.folder().to_owned(), kept: Some(kept), maker, before };
        let told = told.transpose()?.unwrap_or_default();
        let failed = || {
            let what = format!("no keys for ssh: {}", log.text().trim());
            Error::unavailable(what, "does `ssh-keygen -t ed25519` work?")
        };
        let (user, rest) = told.split_once('\n').ok_or_else(failed)?;
        let (host_key, key) = rest.split_once('\n').ok_or_else(failed)?;
        Ok((keys, [user, host_key, key].map(String::from)))
    }
}

/// All lines before one of a dot.
fn until_dot(mut from: impl Read + AsFd, limit: Duration) -> Result<String> {
    let until = Instant::now() + limit;
    let (mut text, mut room) = (Vec::new(), [0; 4096]);
    while !text.ends_with(b"\n.\n") {
        socket::wait_readable(&from, until.saturating_duration_since(Instant::now()))?;
        let came = from.read(&mut room).map_err(|e| Error::io("read", "the keys", e))?;
        if came == 0 || Instant::now() > until || text.len() > 1 << 16 {
            return Ok(String::new());
        }
        text.extend_from_slice(&room[..came]);
    }
    text.truncate(text.len() - 2);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Serving {
    fn new(spec: &Spec) -> Result<Serving> {
        let (outer, address) = spec.bind(Protocol::Tcp, listen)?;
        let Address::Internet(address) = spec.announced(address) else {
            return Err(Error::unavailable("sshd at no IP address", ""));
        };
        let (inner, within) = listen((Ipv4Addr::LOCALHOST, 0).into())?;
        let (keys, [user, host_key, key]) = Keys::make(spec.patience())?;
        let secret = format!("{:032x}", rand::random::<u128>());
        let daemon = Daemon { address, port: within.port(), secret, user, host_key, key };
        Ok(Serving { spec: spec.clone(), daemon, keys, outer, inner })
    }

    /// An sshd for one who asks.
    fn serve(&self, asks: TcpStream) -> Result<Started> {
        let folder = &self.keys.folder;
        let mut words = self.keys.before.clone();
        words.push(find_program("sshd")?.display().to_string());
        words.extend(["-i", "-e", "-f", "/dev/null"].map(String::from));
        for option in [
            format!("HostKey={}", folder.join("host").display()),
            format!("AuthorizedKeysFile={}", folder.join("authorized").display()),
            format!("PermitOpen={}:{}", Ipv4Addr::LOCALHOST, self.daemon.port),
            "StrictModes=no".into(),
            "UsePAM=no".into(),
            "PasswordAuthentication=no".into(),
            "KbdInteractiveAuthentication=no".into(),
            "AllowTcpForwarding=local".into(),
            "AllowStreamLocalForwarding=no".into(),
            "AllowAgentForwarding=no".into(),
            // Who has the key gets a connection to that one port: no command, no shell.
            "MaxSessions=0".into(),
            "PermitTTY=no".into(),
            "PidFile=none".into(),
            "UseDNS=no".into(),
            // It tells the cipher.
            "LogLevel=DEBUG1".into(),
        ] {
            words.extend(["-o".into(), option]);
        }
        Started::from_words(&words, asks.into())
    }
}

/// An address as ssh is told it, with the number of its zone.
fn host(at: SocketAddr) -> String {
    match at {
        SocketAddr::V6(at) if at.scope_id() != 0 => format!("{}%{}", at.ip(), at.scope_id()),
        at => at.ip().to_string(),
    }
}

fn listen(at: SocketAddr) -> linerate_sys::Result<(TcpListener, SocketAddr)> {
    let fail = |call| move |e: io::Error| linerate_sys::Error::new(call, at.to_string(), e);
    let listener = TcpListener::bind(at).map_err(fail("bind"))?;
    listener.set_nonblocking(true).map_err(fail("fcntl"))?;
    let address = listener.local_addr().map_err(fail("getsockname"))?;
    Ok((listener, address))
}

impl Pending for Serving {
    fn join(self: Box<Self>, _: &Offer) -> Result<Box<dyn Session>> {
        let count = self.spec.flows as usize;
        let mut flows: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
        let mut daemons: Vec<Started> = Vec::new();
        let until = Instant::now() + self.spec.patience();
        while flows.iter().any(Option::is_none) {
            if daemons.len() < count + STRANGERS
                && let Ok((asks, _)) = self.outer.accept()
            {
                daemons.push(self.serve(asks)?);
            } else if let Ok((came, _)) = self.inner.accept()
                && let Some(flow) = greeted(&came, &self.daemon.secret)
                && let Some(slot @ None) = flows.get_mut(flow)
            {
                *slot = Some(came);
            } else if Instant::now() > until {
                let last = daemons.last().map(Started::last_words).unwrap_or_default();
                let hint = "does a firewall stand between the hosts' test ports?";
                return Err(Error::peer("ssh", format!("did not come through in time: {last}"), hint));
            } else {
                std::thread::sleep(LOOK);
            }
        }
        // Which daemon brought which flow nobody tells; whoever had no key, or none of the secret, has no flow.
        let programs = Arc::new(Programs { started: daemons, _keys: Some(self.keys) });
        let tunnel = |came: TcpStream| {
            let _ = came.set_nodelay(true);
            let tunnel = Tunnel { socket: came.into(), programs: programs.clone() };
            send_all(&tunnel, &[0]).map_err(|e| Error::io("write", "the tunnel", e))?;
            Ok(tunnel)
        };
        let tunnels = flows.into_iter().flatten().map(tunnel);
        Connected::session(self.spec, tunnels.collect::<Result<Vec<_>>>()?)
    }
}

/// The end that has the clients.
struct Asking {
    spec: Spec,
}

impl Pending for Asking {
    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let Offer::Daemon(daemon) = other else {
            return Err(Error::peer("the other end", "offered no sshd", ""));
        };
        daemon.check()?;
        let known = PrivateFile::from_bytes(format!("{HOST} {}\n", daemon.host_key).as_bytes())?;
        let key = PrivateFile::from_bytes(daemon.key.as_bytes())?;
        let tunnels = (0..self.spec.flows).map(|flow| self.ask(daemon, (&known, &key), flow));
        let tunnels = tunnels.collect::<Result<Vec<_>>>()?;
        tunnels.iter().try_for_each(|tunnel| tunnel.stands(self.spec.patience()))?;
        Connected::session(self.spec, tunnels)
    }
}

impl Asking {
    fn ask(&self, daemon: &Daemon, (known, key): (&PrivateFile, &PrivateFile), flow: u32) -> Result<Tunnel> {
        let (own, theirs) = UnixStream::pair().map_err(|e| Error::io("socketpair", "ssh", e))?;
        let Address::Internet(at) = self.spec.reached(&Address::Internet(daemon.address))? else {
            return Err(Error::peer("the other end", "offered an sshd at no IP address", ""));
        };
        let port = at.port().to_string();
        let mut words: Vec<String> =
            [&find_program("ssh")?.display().to_string(), "-F", "none", "-v", "-p", &port, "-i"]
                .map(String::from)
                .into();
        words.push(key.path());
        for option in [
            format!("UserKnownHostsFile={}", known.path()),
            "GlobalKnownHostsFile=none".into(),
            format!("HostKeyAlias={HOST}"),
            "StrictHostKeyChecking=yes".into(),
            "IdentitiesOnly=yes".into(),
            "IdentityAgent=none".into(),
            "BatchMode=yes".into(),
        ] {
            words.extend(["-o".into(), option]);
        }
        if let Some(cipher) = self.cipher()? {
            words.extend(["-c", cipher].map(String::from));
        }
        words.extend(["-W".into(), format!("{}:{}", Ipv4Addr::LOCALHOST, daemon.port)]);
        words.extend(["-l".into(), daemon.user.clone(), "--".into(), host(at)]);
        let programs = Programs { started: vec![Started::from_words(&words, theirs.into())?], _keys: None };
        let tunnel = Tunnel { socket: own.into(), programs: Arc::new(programs) };
        let greeting = format!("{}{flow:08x}", daemon.secret);
        send_all(&tunnel, greeting.as_bytes()).map_err(|_| tunnel.failed())?;
        Ok(tunnel)
    }

    /// What is asked for, as OpenSSH calls it.
    fn cipher(&self) -> Result<Option<&'static str>> {
        let Some(asked) = self.spec.value(CIPHER) else { return Ok(None) };
        let known = CIPHERS.iter().find(|(name, _)| *name == asked).map(|(_, name)| Some(*name));
        known.ok_or_else(|| {
            Error::usage(format!("no cipher is called `{asked}`"), "see `linerate list knobs`")
        })
    }
}

/// One of OpenSSH's programs, as long as this is there, and what it says.
struct Started {
    child: Child,
    kept: Option<SupervisedDaemon>,
    log: PrivateFile,
}

impl Started {
    /// A program of these words, which speaks over a socket. Who keeps it ends it with this process.
    fn from_words(words: &[String], socket: OwnedFd) -> Result<Started> {
        let [program, words @ ..] = words else { return Err(Error::usage("no program", "")) };
        let (kept, log) = (SupervisedDaemon::expect()?, PrivateFile::from_bytes(&[])?);
        let fail = |e| Error::io("start", program.clone(), e);
        let mut command = kept.command(Path::new(program))?;
        command.args(words);
        command.stdin(socket.try_clone().map_err(fail)?).stdout(socket).stderr(log.writer().map_err(fail)?);
        let child = command.spawn().map_err(fail)?;
        Ok(Started { child, kept: Some(kept), log })
    }

    /// The program and all that it started.
    fn processes(&self) -> Vec<u32> {
        let mut all = self.kept.as_ref().map(SupervisedDaemon::processes).unwrap_or_default();
        let mut at = 0;
        while at < all.len() {
            all.extend(orphans::children(all[at]).unwrap_or_default());
            at += 1;
        }
        all
    }

    fn last_words(&self) -> String {
        let said = self.log.text();
        said.lines().rfind(|line| !line.starts_with("debug1")).unwrap_or_default().trim().to_owned()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.kept.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The cipher of what goes from client to server, as a program says.
fn cipher(said: &str) -> Option<String> {
    let line = said.lines().find_map(|line| line.split_once("kex: client->server cipher: "))?.1;
    let cipher = line.split_whitespace().next()?;
    let known = CIPHERS.iter().find(|(_, name)| *name == cipher).map(|(name, _)| *name);
    Some(known.unwrap_or(cipher).into())
}

/// What one end has started for its flows.
struct Programs {
    started: Vec<Started>,
    _keys: Option<Keys>,
}

/// A connection through both programs.
pub struct Tunnel {
    socket: OwnedFd,
    programs: Arc<Programs>,
}

impl Tunnel {
    /// Waits for the other end's word that the way is open.
    fn stands(&self, limit: Duration) -> Result<()> {
        socket::limit_waits(self, limit)?;
        receive_all(self, &mut [0]).map_err(|_| self.failed())
    }

    fn last_words(&self) -> String {
        self.programs
            .started
            .iter()
            .map(Started::last_words)
            .find(|words| !words.is_empty())
            .unwrap_or_default()
    }

    /// What the first program says that has found the other one: a stranger's sshd has not.
    fn find_in_log<T>(&self, of: impl Fn(&str) -> Option<T>) -> Option<T> {
        let said = self.programs.started.iter().map(|started| started.log.text());
        said.filter(|said| FOUND.iter().any(|words| said.contains(words))).find_map(|said| of(&said))
    }

    fn failed(&self) -> Error {
        // It says why as it ends.
        std::thread::sleep(STRANGER / 20);
        let what = format!("did not come through: {}", self.last_words());
        Error::peer("ssh", what, "does a firewall stand between the hosts' test ports?")
    }
}

impl AsFd for Tunnel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Channel for Tunnel {
    fn granted(&self, spec: &Spec) -> Vec<Granted> {
        self.find_in_log(cipher).map(|cipher| granted(spec, CIPHER, cipher)).into_iter().collect()
    }

    fn endpoints(&self) -> Option<String> {
        let version = |said: &str| {
            Some(said.lines().find_map(|line| line.rsplit_once("software version "))?.1.to_owned())
        };
        Some(format!("through {}", self.find_in_log(version).unwrap_or_else(|| "ssh".into())))
    }

    fn processes(&self) -> Vec<u32> {
        self.programs.started.iter().flat_map(Started::processes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_of_options_or_lines_are_refused() {
        let good = Daemon {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 22)),
            port: 1,
            secret: "0123456789abcdef".repeat(2),
            user: "daemon".into(),
            host_key: "ssh-ed25519 AAAA".into(),
            key: "k\n".into(),
        };
        assert!(good.check().is_ok());
        let edits: [fn(&mut Daemon); 6] = [
            |daemon| daemon.user = "-oProxyCommand=id".into(),
            |daemon| daemon.user = "a b".into(),
            |daemon| daemon.user = String::new(),
            |daemon| daemon.host_key = "ssh-ed25519 AAAA\n* ssh-ed25519 BBBB".into(),
            |daemon| daemon.host_key = "@cert-authority * ssh-ed25519 BBBB".into(),
            |daemon| daemon.secret = "0".into(),
        ];
        for edit in edits {
            let mut bad = good.clone();
            edit(&mut bad);
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
