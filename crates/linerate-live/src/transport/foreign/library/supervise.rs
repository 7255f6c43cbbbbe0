//! What sees to the end of a daemon. Daemons leave their parents, so that they outlive them: a process of its own stands
//! between, adopts what they leave behind, and ends all of it when the end that it works for goes away, however that
//! happens. The folder of the daemon's files goes with it.

use super::this_program;
use crate::{Error, Result};
use linerate_sys::process::{Process, Signal};
use linerate_sys::{limit, local, orphans, socket, spawn};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The hidden command that keeps.
pub const ROLE: &str = "keep";
/// Its word for a program with whose end its daemons are to end.
pub const UNTIL_END: &str = "--until-end";
/// Where the folders of daemons are: the names of their sockets may not be long.
const FOLDERS: &str = "/tmp";
/// How many descriptors a daemon may have: each closes every possible one before it starts another one.
const DESCRIPTORS: u64 = 1024;
/// How often it is looked whether the end and the daemon go on.
const LOOK: Duration = Duration::from_millis(50);
/// What a daemon has to tidy up, and what the kernel has to end what is killed.
const TIDY: Duration = Duration::from_secs(1);
const GONE: Duration = Duration::from_secs(2);
/// What a keeper has to end all of it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A daemon that is kept, or will be: it ends when this is dropped.
#[derive(Debug)]
pub struct SupervisedDaemon {
    name: String,
    folder: PathBuf,
    listener: Option<UnixListener>,
    keepers: Mutex<Vec<(u32, UnixStream)>>,
}

impl SupervisedDaemon {
    /// Of a folder that nobody else has.
    pub fn expect() -> Result<SupervisedDaemon> {
        SupervisedDaemon::expect_below(Path::new(FOLDERS))
    }

    /// The same below another folder.
    pub fn expect_below(folder: &Path) -> Result<SupervisedDaemon> {
        let mark = format!("linerate-keep-{:016x}", rand::random::<u64>());
        let listener = Some(local::listen(&mark)?);
        Ok(SupervisedDaemon { folder: folder.join(&mark), name: mark, listener, keepers: Mutex::default() })
    }

    /// Where the daemon's files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What keeps a daemon that this starts.
    pub fn command(&self, daemon: &Path) -> Result<Command> {
        let mut command = Command::new(this_program()?);
        command.arg(ROLE).arg(&self.folder).arg(&self.name).arg(daemon);
        Ok(command)
    }

    /// What keeps the daemons of a program that this starts, until that ends.
    pub fn command_until_end(&self) -> Result<Command> {
        let mut command = Command::new(this_program()?);
        command.arg(ROLE).arg(UNTIL_END).arg(&self.folder).arg(&self.name).arg(this_program()?);
        Ok(command)
    }

    /// What keeps a daemon that a command of the other host starts. The command is over when the daemon has said all,
    /// and does not take it with it.
    pub fn shell(&self) -> Result<impl Fn(&str) -> Command + Send + Sync + use<>> {
        let (program, folder, name) = (this_program()?, self.folder.clone(), self.name.clone());
        Ok(move |line: &str| {
            let mut command = Command::new("/bin/sh");
            // A shell waits for both sides of a pipe, but not for what goes on behind.
            command.args(["-c", "{ \"$0\" \"$@\" & } | cat"]);
            command.arg(&program).arg(ROLE).arg(&folder).arg(&name).args(["/bin/sh", "-c", line]);
            command
        })
    }

    /// The processes of the daemon.
    pub fn processes(&self) -> Vec<u32> {
        let children = self.keepers().into_iter().map(|keeper| orphans::children(keeper).unwrap_or_default());
        children.flatten().collect()
    }

    /// Those that called meanwhile, too.
    fn keepers(&self) -> Vec<u32> {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(UnixListener::accept) {
            keepers.extend(socket::own_peer(&stream).map(|keeper| (keeper, stream)));
        }
        keepers.iter().map(|(keeper, _)| *keeper).collect()
    }
}

impl Drop for SupervisedDaemon {
    fn drop(&mut self) {
        let keepers = self.keepers().into_iter().filter_map(|keeper| Process::open(keeper).ok().flatten());
        let keepers: Vec<Process> = keepers.collect();
        self.listener = None;
        self.keepers.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        for keeper in keepers {
            if !keeper.wait(PATIENCE).unwrap_or(false) {
                let _ = keeper.signal(Signal::Kill);
            }
        }
        // Where its keeper was killed.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Keeps until the end at home goes away, or all that it started, or only the program itself; gives that one's code.
pub fn main(until_end: bool, folder: &Path, home: &str, words: &[OsString]) -> Result<u8> {
    let nothing = || Error::usage("nothing to keep", "linerate starts this command itself");
    let (program, words) = words.split_first().ok_or_else(nothing)?;
    let owner = local::connect(home)?;
    if socket::own_peer(&owner).is_none() {
        return Err(Error::usage(format!("{home} is another user's"), "linerate starts this by itself"));
    }
    orphans::adopt()?;
    limit::bound_descriptors(DESCRIPTORS);
    let made = DirBuilder::new().mode(0o700).create(folder);
    made.map_err(|e| Error::io("mkdir", folder.display().to_string(), e))?;
    let ended = keep(until_end, (program, words), &owner);
    let emptied = end();
    let removed = std::fs::remove_dir_all(folder);
    let code = ended?;
    emptied?;
    removed.map_err(|e| Error::io("rmdir", folder.display().to_string(), e))?;
    Ok(code)
}

/// Until either goes.
fn keep(until_end: bool, (program, words): (&OsString, &[OsString]), owner: &UnixStream) -> Result<u8> {
    let mut command = Command::new(program);
    command.args(words);
    spawn::end_with_parent(&mut command);
    let object = program.to_string_lossy().into_owned();
    let daemon = command.spawn().map_err(|e| Error::io("start", object, e))?.id();
    orphans::silence()?;
    let mut code = 0;
    loop {
        let (others, ended) = orphans::reap(daemon);
        code = ended.unwrap_or(code);
        // Nobody says anything there: what comes is the end.
        if !others || (until_end && ended.is_some()) || socket::wait_readable(owner, LOOK).unwrap_or(true) {
            return Ok(code);
        }
    }
}

/// Ends every child, and what they leave behind.
fn end() -> Result<()> {
    let begun = Instant::now();
    while orphans::reap(0).0 {
        let how = if begun.elapsed() < TIDY { Signal::Terminate } else { Signal::Kill };
        orphans::signal_children(how)?;
        if begun.elapsed() > TIDY + GONE {
            return Err(Error::peer("a daemon", "cannot be killed", "it waits in the kernel"));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}
