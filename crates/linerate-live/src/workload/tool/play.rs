//! One transfer by one tool: from the start of the program to the file on the disk, and whether it is the file.

use super::Tool;
use super::service::{last_line, quiet};
use super::site::Site;
use crate::control::Check;
use crate::lab::VirtualHost;
use crate::transport::foreign::library::ProcessEnvironment;
use crate::transport::foreign::library::supervise::SupervisedDaemon;
use crate::{Error, Result};
use blake3::Hasher;
use linerate_sys::child::ChildProcess;
use linerate_sys::spawn;
use rand::Rng;
use std::fs::{self, DirBuilder, File};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a transfer may take: so long, and what it has bytes for at this rate.
const LONGEST: Duration = Duration::from_secs(30);
const SLOWEST_BYTES_PER_S: u64 = 1_000_000;

/// How often is asked whether the user waits on.
const LOOK: Duration = Duration::from_millis(100);

/// How long the folder's keeper may take to begin.
const BEGINS: Duration = Duration::from_secs(20);

/// The first port of services; each transfer has the next one. They are of a lab's host, which has no others.
const FIRST_PORT: u16 = 20_000;

/// Bytes that are made or read at once.
const PIECE: usize = 1 << 20;

/// Where files are moved by tools: a folder of its own, which goes with whoever made it, however that ends.
pub struct Bench {
    folder: PathBuf,
    user: String,
    transfers: u16,
    // After what is in it.
    _keeper: ChildProcess,
    _kept: SupervisedDaemon,
}

/// A file to be moved, and its digest.
pub struct Files {
    /// What is moved.
    pub source: PathBuf,
    bytes: u64,
    digest: blake3::Hash,
}

impl Bench {
    /// Makes the folder.
    pub fn new() -> Result<Bench> {
        let kept = SupervisedDaemon::expect()?;
        let mut command = kept.command(Path::new("sleep"))?;
        command.arg("infinity").stdin(Stdio::null()).stdout(Stdio::null());
        // It leads a session of its own, which the leader of a group cannot.
        spawn::end_with_parent(&mut command);
        let keeper = ChildProcess::start("the keeper of the files", Duration::from_secs(5), command)?;
        let (folder, begun) = (kept.folder().to_owned(), Instant::now());
        while !folder.is_dir() {
            if keeper.has_ended() || begun.elapsed() > BEGINS {
                return Err(Error::unavailable("no folder for the files", "see whether /tmp can be written"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // Where what is received is.
        make(&folder.join("in"))?;
        let user = Command::new("id").arg("-un").stdin(Stdio::null()).output();
        let user = user.map_err(|e| Error::io("start", "id", e))?;
        let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
        Ok(Bench { folder, user, transfers: 0, _keeper: keeper, _kept: kept })
    }

    /// A file of so many bytes, which nothing can make smaller.
    pub fn file(&self, bytes: u64) -> Result<Files> {
        let source = self.folder.join(format!("{bytes}"));
        let fail = |e| Error::io("write", source.display().to_string(), e);
        let (mut file, mut hasher) = (File::create(&source).map_err(fail)?, Hasher::new());
        let (mut block, mut left) = (vec![0; PIECE], bytes);
        while left > 0 {
            let length = left.min(PIECE as u64) as usize;
            rand::rng().fill_bytes(&mut block[..length]);
            file.write_all(&block[..length]).map_err(fail)?;
            hasher.update(&block[..length]);
            left -= length as u64;
        }
        // What is not on the disk yet would be written while something is timed.
        file.sync_all().map_err(fail)?;
        drop(file);
        Ok(Files { source, bytes, digest: hasher.finalize() })
    }

    /// What is received next; nothing is there.
    pub fn destination(&self) -> PathBuf {
        let path = self.folder.join("in/file");
        let _ = fs::remove_file(&path);
        path
    }

    /// Moves a file from the first host to the second, and gives the time that it took until it was on the disk.
    pub fn play(
        &mut self,
        tool: &Tool,
        streams: u32,
        files: &Files,
        hosts: &[VirtualHost],
        check: Check<'_>,
    ) -> Result<u64> {
        let [first, second, ..] = hosts else { return Err(Error::usage("a lab of one host", "")) };
        let (client, far) = if tool.pulls { (second, first) } else { (first, second) };
        self.transfers += 1;
        let site = Site {
            folder: self.folder.join(format!("transfer-{}", self.transfers)),
            source: files.source.clone(),
            destination: self.destination(),
            address: far.address,
            port: FIRST_PORT + self.transfers,
            user: self.user.clone(),
        };
        make(&site.folder)?;
        let serving = tool.service.start(far, &site)?;
        let log = site.folder.join("tool.log");
        let command = quiet(client, &(tool.words)(&site, streams), &site, &log)?;
        let longest = LONGEST + Duration::from_secs(files.bytes / SLOWEST_BYTES_PER_S);
        let begun = Instant::now();
        let process = ChildProcess::start(tool.name, Duration::ZERO, command)?;
        while !process.wait(LOOK) {
            check()?;
            if begun.elapsed() > longest {
                let what = format!("took more than {} s", longest.as_secs());
                return Err(Error::peer(tool.name, what, "try a smaller file"));
            }
        }
        let synced = File::open(&site.destination).and_then(|file| file.sync_all());
        let took_ns = begun.elapsed().as_nanos() as u64;
        drop(serving);
        let is_well = process.status().is_some_and(|status| status.success());
        if !is_well || synced.is_err() {
            let what = format!("moved nothing: {}", last_line(&log));
            return Err(Error::peer(tool.name, what, format!("apt-get install {}", tool.packages)));
        }
        self.is_whole(&site.destination, files, tool.name)?;
        let _ = fs::remove_dir_all(&site.folder);
        Ok(took_ns)
    }

    /// Whether what came is what was sent.
    pub fn is_whole(&self, path: &Path, files: &Files, who: &str) -> Result<()> {
        let fail = |e| Error::io("read", path.display().to_string(), e);
        let (mut file, mut hasher) = (File::open(path).map_err(fail)?, Hasher::new());
        let mut block = vec![0; PIECE];
        loop {
            match file.read(&mut block).map_err(fail)? {
                0 => break,
                came => drop(hasher.update(&block[..came])),
            }
        }
        match hasher.finalize() == files.digest {
            true => Ok(()),
            false => Err(Error::peer(who, "delivered something else than was sent", "it has no number")),
        }
    }

    /// Where programs are looked for.
    pub fn programs() -> Vec<PathBuf> {
        ProcessEnvironment::of_this_process().programs
    }
}

fn make(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    made.map_err(|e| Error::io("mkdir", folder.display().to_string(), e))
}
