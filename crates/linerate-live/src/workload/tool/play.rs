//! One transfer by one tool: from the start of the program to the file on the disk, and whether it is the file.

use super::Tool;
use super::service::{Place, last_line, quiet};
use super::site::Site;
use crate::control::Check;
use crate::lab::VirtualHost;
use crate::transport::foreign::library::ProcessEnvironment;
use crate::transport::foreign::library::supervise::SupervisedDaemon;
use crate::{Error, Result};
use blake3::Hasher;
use linerate_sys::child::ChildProcess;
use linerate_sys::{cpu_time, destination, spawn};
use rand::Rng;
use std::fs::{self, DirBuilder, File};
use std::io::{Read, Write};
use std::net::IpAddr;
use std::ops::RangeInclusive;
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

const PORTS: u16 = 40_000;

/// Bytes of a small file.
const SMALL: RangeInclusive<usize> = 4 << 10..=64 << 10;

/// Bytes that are made or read at once.
const PIECE: usize = 1 << 20;

/// Where files on a disk are, and those in memory: the hierarchy standard, and shm_overview(7).
const PLACES: &[(&str, &str)] = &[("disk", "/var/tmp"), ("memory", "/dev/shm")];

/// Where files are moved by tools: folders of its own, which go with whoever made them, however that ends.
pub struct Bench {
    from: KeptFolder,
    /// Where what is received is; none where that is the same place.
    to: Option<KeptFolder>,
    user: String,
    transfers: u16,
}

/// A folder that goes with its process.
struct KeptFolder {
    path: PathBuf,
    // The keeper ends by what it waits for, which goes first: else its end would be waited for in vain.
    _kept: SupervisedDaemon,
    _keeper: ChildProcess,
}

/// What a transfer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Took {
    /// By the clock, until all was on the disk.
    pub wall_ns: u64,
    /// Of the CPUs of both ends.
    pub cpu_ns: u64,
}

/// A file or a folder to be moved, and its digest.
pub struct Files {
    /// What is moved.
    pub source: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// How many files a folder has; none of a file.
    pub count: Option<u64>,
    /// Of its bytes.
    pub digest: blake3::Hash,
}

impl Bench {
    /// Where files are on a `disk`, or in `memory`, at each end.
    pub fn between(from: &str, to: &str) -> Result<Bench> {
        let to = (to != from).then(|| KeptFolder::new(to)).transpose()?;
        let from = KeptFolder::new(from)?;
        // Where what is received is.
        make(&to.as_ref().unwrap_or(&from).path.join("in"))?;
        let user = Command::new("id").arg("-un").stdin(Stdio::null()).output();
        let user = user.map_err(|e| Error::io("start", "id", e))?;
        let user = String::from_utf8_lossy(&user.stdout).trim().to_owned();
        Ok(Bench { from, to, user, transfers: 0 })
    }

    /// A file of so many bytes, which nothing can make smaller.
    pub fn file(&self, bytes: u64) -> Result<Files> {
        let source = self.from.path.join(format!("{bytes}"));
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
        Ok(Files { source, bytes, count: None, digest: hasher.finalize() })
    }

    /// A folder of so many small files, a hundred in each of its own.
    pub fn small_files(&self, count: u64) -> Result<Files> {
        let source = self.from.path.join(format!("{count}-files"));
        make(&source)?;
        let (mut block, mut bytes) = (vec![0; *SMALL.end()], 0);
        for number in 0..count {
            let folder = source.join(format!("{}", number / 100));
            if number % 100 == 0 {
                make(&folder)?;
            }
            let length = rand::random_range(SMALL);
            rand::rng().fill_bytes(&mut block[..length]);
            let path = folder.join(format!("{number}"));
            fs::write(&path, &block[..length])
                .map_err(|e| Error::io("write", path.display().to_string(), e))?;
            bytes += length as u64;
        }
        on_disk(&source)?;
        let digest = digest(&source)?;
        Ok(Files { source, bytes, count: Some(count), digest })
    }

    /// What is received next; nothing is there.
    pub fn destination(&self) -> PathBuf {
        let folder = self.to.as_ref().unwrap_or(&self.from).path.join("in");
        let path = folder.join("it");
        for left in ["it", "it.linerate-part", "it.linerate-journal"].map(|name| folder.join(name)) {
            let _ = fs::remove_file(&left).or_else(|_| fs::remove_dir_all(&left));
        }
        path
    }

    /// What the next transfer by a tool is of, to a service at an address.
    pub fn site(&mut self, source: &Path, address: IpAddr) -> Result<Site> {
        self.transfers = (self.transfers + 1) % PORTS;
        let site = Site {
            folder: self.from.path.join(format!("transfer-{}", self.transfers)),
            source: source.to_owned(),
            destination: self.destination(),
            address,
            port: FIRST_PORT + self.transfers,
            user: self.user.clone(),
        };
        make(&site.folder)?;
        Ok(site)
    }

    /// Moves a file from the first host to the second. The CPUs' time is that of the program and of its service, from their start
    /// to their end, as far as they had waited for what they started, or it still ran. What takes longer is ended.
    pub fn play(
        &mut self,
        tool: &Tool,
        streams: u32,
        files: &Files,
        (hosts, longest): (&[VirtualHost], Duration),
        check: Check<'_>,
    ) -> Result<Took> {
        let [first, second, ..] = hosts else { return Err(Error::usage("a lab of one host", "")) };
        let (client, far) = if tool.pulls { (second, first) } else { (first, second) };
        let site = self.site(&files.source, far.address)?;
        let before_ns = cpu_time::waited_children_ns();
        let serving = tool.service.start(far, &site)?;
        let ran_ns = tool.run(streams, files.count.is_some(), &site, (client, longest), check);
        let synced_ns = on_disk(&site.destination);
        let served_ns = serving.descendants_ns();
        drop(serving);
        let cpu_ns = cpu_time::waited_children_ns().saturating_sub(before_ns) + served_ns;
        let wall_ns = ran_ns? + synced_ns.map_err(|_| tool.moved_nothing(&site))?;
        self.is_whole(&site.destination, files, tool.name)?;
        let _ = fs::remove_dir_all(&site.folder);
        Ok(Took { wall_ns, cpu_ns })
    }

    /// Whether what came is what was sent.
    pub fn is_whole(&self, path: &Path, files: &Files, who: &str) -> Result<()> {
        match digest(path)? == files.digest {
            true => Ok(()),
            false => Err(Error::peer(who, "delivered something else than was sent", "it has no number")),
        }
    }

    /// Where programs are looked for.
    pub fn programs() -> Vec<PathBuf> {
        ProcessEnvironment::of_this_process().programs
    }
}

impl KeptFolder {
    /// Makes it in a place of that name.
    fn new(place: &str) -> Result<KeptFolder> {
        let below = PLACES.iter().find(|(name, _)| *name == place).map_or("/var/tmp", |(_, folder)| folder);
        let kept = SupervisedDaemon::expect_below(Path::new(below))?;
        let mut command = kept.command(Path::new("sleep"))?;
        command.arg("infinity").stdin(Stdio::null()).stdout(Stdio::null());
        // It leads a session of its own, which the leader of a group cannot.
        spawn::end_with_parent(&mut command);
        let keeper = ChildProcess::start("the keeper of the files", Duration::from_secs(5), command)?;
        let (path, begun) = (kept.folder().to_owned(), Instant::now());
        while !path.is_dir() {
            if keeper.has_ended() || begun.elapsed() > BEGINS {
                let hint = format!("see whether {below} can be written");
                return Err(Error::unavailable("no folder for the files", hint));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(KeptFolder { path, _keeper: keeper, _kept: kept })
    }
}

/// How long a transfer of so many bytes may take.
pub fn longest(bytes: u64) -> Duration {
    LONGEST + Duration::from_secs(bytes / SLOWEST_BYTES_PER_S)
}

impl Tool {
    /// Runs the program, and gives the time from its start to its end. What it moved may not be on the disk yet.
    pub fn run(
        &self,
        streams: u32,
        is_folder: bool,
        site: &Site,
        (place, longest): (&dyn Place, Duration),
        check: Check<'_>,
    ) -> Result<u64> {
        let words = if is_folder { self.folder } else { Some(self.words) };
        let words = words.ok_or_else(|| Error::unavailable(format!("{} moves no folders", self.name), ""))?;
        let command = quiet(place, &words(site, streams), site, &site.folder.join(LOG))?;
        let begun = Instant::now();
        let process = ChildProcess::start(self.name, Duration::ZERO, command)?;
        while !process.wait(LOOK) {
            check()?;
            if begun.elapsed() > longest {
                let what = format!("took more than {:.1} s", longest.as_secs_f64());
                return Err(Error::peer(self.name, what, "try a smaller file"));
            }
        }
        let ran_ns = begun.elapsed().as_nanos() as u64;
        match process.status().is_some_and(|status| status.success()) {
            true => Ok(ran_ns),
            false => Err(self.moved_nothing(site)),
        }
    }

    fn moved_nothing(&self, site: &Site) -> Error {
        let what = format!("moved nothing: {}", last_line(&site.folder.join(LOG)));
        Error::peer(self.name, what, format!("apt-get install {}", self.packages))
    }
}

/// What a tool said.
const LOG: &str = "tool.log";

fn make(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    made.map_err(|e| Error::io("mkdir", folder.display().to_string(), e))
}

/// Waits until all of it is on the disk; of a folder, all that its file system has. Gives the time that it took.
pub fn on_disk(path: &Path) -> Result<u64> {
    let begun = Instant::now();
    if path.is_dir() {
        destination::sync_file_system(&destination::open_folder(path)?, path)?;
    } else {
        let synced = File::open(path).and_then(|file| file.sync_all());
        synced.map_err(|e| Error::io("fsync", path.display().to_string(), e))?;
    }
    Ok(begun.elapsed().as_nanos() as u64)
}

/// Of a file's bytes; of a folder's files, in their order, with their names and lengths.
pub fn digest(path: &Path) -> Result<blake3::Hash> {
    let mut hasher = Hasher::new();
    if !path.is_dir() {
        digest_file(path, &mut hasher)?;
        return Ok(hasher.finalize());
    }
    let (mut files, mut folders) = (Vec::new(), vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        let fail = |e| Error::io("read", folder.display().to_string(), e);
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let is_folder = entry.file_type().map_err(fail)?.is_dir();
            if is_folder { &mut folders } else { &mut files }.push(entry.path());
        }
    }
    files.sort_unstable();
    for file in files {
        let name = file.strip_prefix(path).unwrap_or(&file).as_os_str().as_encoded_bytes();
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name);
        let bytes = digest_file(&file, &mut hasher)?;
        hasher.update(&bytes.to_le_bytes());
    }
    Ok(hasher.finalize())
}

fn digest_file(path: &Path, hasher: &mut Hasher) -> Result<u64> {
    let fail = |e| Error::io("read", path.display().to_string(), e);
    let (mut file, mut block, mut bytes) = (File::open(path).map_err(fail)?, vec![0; PIECE], 0);
    loop {
        match file.read(&mut block).map_err(fail)? {
            0 => return Ok(bytes),
            came => {
                hasher.update(&block[..came]);
                bytes += came as u64;
            }
        }
    }
}
