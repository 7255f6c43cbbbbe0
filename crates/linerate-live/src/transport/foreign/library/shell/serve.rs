//! The end that runs the commands: while its session lasts, and for nobody who has not proved itself.

use super::super::{ProcessEnvironment, outside_of_jobs};
use super::{Access, LONGEST, Request, Said};
use crate::transport::encrypted::certificate::{DEFAULT, Identity};
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::process::Signal;
use linerate_sys::{socket, spawn, thread};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, BufReader, Read};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// How often it is looked whether a command is still wanted.
const LOOK: Duration = Duration::from_millis(50);
/// What proving itself may take, and what a command says to be taken.
const STRANGER: Duration = Duration::from_secs(5);
const TAKEN: Duration = Duration::from_secs(10);
/// What a command has to end of its own accord when its session is over, and when it was told to.
const FAREWELL: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_millis(500);
/// How many go on at once.
const MOST: usize = 16;

/// What runs a command of the other host.
pub type Shell = Box<dyn Fn(&str) -> Command + Send + Sync>;

/// Serves until it is dropped; then every command is ended.
#[derive(Debug)]
pub struct Served {
    over: Arc<AtomicBool>,
    forsaken: Arc<AtomicBool>,
}

/// What all connections share.
struct Keeper {
    config: Arc<ServerConfig>,
    secret: [u8; 32],
    over: Arc<AtomicBool>,
    forsaken: Arc<AtomicBool>,
    going: AtomicUsize,
    shell: Shell,
}

impl Served {
    /// At a port of the kernel's choice; each command is run by a shell that is started so.
    pub fn listen(address: IpAddr, shell: Shell) -> Result<(Served, Access)> {
        let failed = |e| Error::io("bind", address.to_string(), e);
        let listener = TcpListener::bind(SocketAddr::new(address, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let identity = Identity::new()?;
        let access = Access {
            address: listener.local_addr().map_err(failed)?,
            secret: format!("{:032x}", rand::random::<u128>()),
            fingerprint: identity.fingerprint(),
        };
        let [over, forsaken] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let keeper = Arc::new(Keeper {
            config: Arc::new(identity.server(DEFAULT)?),
            secret: Sha256::digest(&access.secret).into(),
            over: over.clone(),
            forsaken: forsaken.clone(),
            going: AtomicUsize::new(0),
            shell,
        });
        thread::start("shell", move || accept(&listener, &keeper))?;
        Ok((Served { over, forsaken }, access))
    }

    /// Whether the other end has said that it has no more commands.
    pub fn is_forsaken(&self) -> bool {
        self.forsaken.load(Ordering::Relaxed)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, keeper: &Arc<Keeper>) {
    while !keeper.over.load(Ordering::Relaxed) {
        let Ok(true) = socket::wait_readable(listener, LOOK) else { continue };
        let Ok((stream, _)) = listener.accept() else { continue };
        if keeper.going.fetch_add(1, Ordering::Relaxed) >= MOST {
            keeper.going.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let own = keeper.clone();
        // A command is killed when the thread ends that started it.
        let started = thread::start("command", move || {
            let _ = serve(stream, &own);
            own.going.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            keeper.going.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// One command. Who does not prove itself is told nothing.
fn serve(stream: TcpStream, keeper: &Keeper) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(TAKEN))?;
    let proven = watch(stream.try_clone()?, keeper.over.clone())?;
    let state = ServerConnection::new(keeper.config.clone()).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(state, stream);
    let mut line = Vec::new();
    BufReader::with_capacity(1, (&mut stream).take(LONGEST as u64)).read_until(b'\n', &mut line)?;
    let request: Request = serde_json::from_slice(&line)?;
    // Compared as hashes: the time that it takes says nothing of the secret.
    if <[u8; 32]>::from(Sha256::digest(&request.secret)) != keeper.secret {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    drop(proven);
    let Some(command) = request.command else {
        keeper.forsaken.store(true, Ordering::Relaxed);
        return Said::Ended(0).write(&mut stream);
    };
    let (tell, told) = sync_channel(MOST);
    let command = match start((keeper.shell)(&command), &tell) {
        Ok(command) => command,
        Err(error) => {
            Said::Errors(format!("{error}\n").into_bytes()).write(&mut stream)?;
            return Said::Ended(127).write(&mut stream);
        }
    };
    drop(tell);
    let mut until = None;
    while !has_gone(&stream.sock) {
        // With the session it is asked for nothing more, and may end by itself: its ranks take leave of each other.
        if keeper.over.load(Ordering::Relaxed)
            && *until.get_or_insert_with(|| Instant::now() + FAREWELL) < Instant::now()
        {
            break;
        }
        match told.recv_timeout(LOOK) {
            Ok(said) if said.write(&mut stream).is_err() => break,
            Ok(_) => {}
            // What it left behind may hold its streams open; it ends with it, but for daemons, which have left its group.
            Err(_) if command.has_ended() => {
                end(&command);
                let code = command.status().and_then(|status| status.code());
                let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(255);
                return Said::Ended(code).write(&mut stream);
            }
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    end(&command);
    Ok(())
}

/// Hangs up on who has not proved itself in time, whatever it says meanwhile; until what is given is dropped.
fn watch(stream: TcpStream, over: Arc<AtomicBool>) -> io::Result<Sender<()>> {
    let (keep, kept) = channel::<()>();
    let until = Instant::now() + STRANGER;
    let watched = thread::start("watch", move || {
        while kept.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if over.load(Ordering::Relaxed) || Instant::now() > until {
                return drop(stream.shutdown(Shutdown::Both));
            }
        }
    });
    watched.map(|_| keep).map_err(|error| error.source)
}

/// It asks once and says nothing more: what comes is the end.
fn has_gone(stream: &TcpStream) -> bool {
    socket::wait_readable(stream, Duration::ZERO).unwrap_or(true)
}

/// The host's own shell.
pub fn plain(command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]);
    shell
}

fn start(mut shell: Command, tell: &SyncSender<Said>) -> Result<ChildProcess> {
    let pipe = || io::pipe().map_err(|e| Error::io("pipe2", "command", e));
    let (output, errors) = (pipe()?, pipe()?);
    shell.stdin(Stdio::null()).stdout(output.1).stderr(errors.1);
    outside_of_jobs(&mut shell, &ProcessEnvironment::of_this_process());
    spawn::tie_to_parent(&mut shell);
    let own = ChildProcess::start("the remote command", PATIENCE, shell)?;
    pass_on(output.0, Said::Output, tell.clone())?;
    pass_on(errors.0, Said::Errors, tell.clone())?;
    Ok(own)
}

fn pass_on(
    mut from: impl Read + Send + 'static,
    said: fn(Vec<u8>) -> Said,
    tell: SyncSender<Said>,
) -> Result<()> {
    thread::start("output", move || {
        let mut part = vec![0; LONGEST];
        while let Ok(count @ 1..) = from.read(&mut part) {
            if tell.send(said(part[..count].to_vec())).is_err() {
                break;
            }
        }
    })?;
    Ok(())
}

/// With all that it started and that did not leave its group.
fn end(command: &ChildProcess) {
    command.signal_group(Signal::Terminate);
    command.wait(PATIENCE);
    command.signal_group(Signal::Kill);
}
