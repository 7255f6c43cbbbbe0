//! What the kernel asks of the disk's process (FUSE), and its answers.
//!
//! One thing is done after the other, as a disk does it: who asks for a file's name waits for the bytes before.

use super::pace::Pace;
use super::tree::{BLOCK, CAPACITY, Change, MOST_NODES, Maker, Tree};
use fuser::{
    Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, KernelConfig, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use linerate_sys::clock::monotonic_ns;
use std::ffi::OsStr;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The most that is read or written at once: at 1 Mb/s others wait for a second behind it.
const LONGEST: u32 = 128 << 10;

/// For how long the kernel may believe what it was told: nobody else changes anything.
const VALID: Duration = Duration::from_secs(3600);

/// The longest name of a file.
const LONGEST_NAME: usize = 255;

/// What the kernel's cache of pages would make fast goes past it.
const OPENED: FopenFlags = FopenFlags::FOPEN_DIRECT_IO;

/// A disk at work.
pub struct Disk(Mutex<State>);

struct State {
    tree: Tree,
    pace: Pace,
}

impl Disk {
    /// An empty one.
    pub fn new(bits_per_second: f64) -> Disk {
        Disk(Mutex::new(State { tree: Tree::new(), pace: Pace::new(bits_per_second) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Sleeps until so many bytes have passed.
    fn pass(&mut self, bytes: usize) {
        let now = monotonic_ns();
        let left = self.pace.due_ns(now, bytes).saturating_sub(now);
        std::thread::sleep(Duration::from_nanos(left));
    }
}

fn maker(request: &Request, mode: u32, umask: u32) -> Maker {
    Maker { uid: request.uid(), gid: request.gid(), mode: mode & !umask }
}

fn time(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

fn named(name: &OsStr) -> Result<&OsStr, Errno> {
    if name.len() > LONGEST_NAME { Err(Errno::ENAMETOOLONG) } else { Ok(name) }
}

fn entry(reply: ReplyEntry, found: Result<FileAttr, Errno>) {
    match found {
        Ok(attr) => reply.entry(&VALID, &attr, Generation(0)),
        Err(errno) => reply.error(errno),
    }
}

fn attributes(reply: ReplyAttr, found: Result<FileAttr, Errno>) {
    match found {
        Ok(attr) => reply.attr(&VALID, &attr),
        Err(errno) => reply.error(errno),
    }
}

fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    match done {
        Ok(()) => reply.ok(),
        Err(errno) => reply.error(errno),
    }
}

impl Filesystem for Disk {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        config.set_max_write(LONGEST).map(drop).map_err(|_| io::ErrorKind::InvalidInput.into())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, named(name).and_then(|name| self.state().tree.lookup(parent.0, name)));
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        attributes(reply, self.state().tree.attr(number.0));
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let change = Change { mode, uid, gid, size, atime: atime.map(time), mtime: mtime.map(time) };
        attributes(reply, self.state().tree.change(number.0, change));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let maker = maker(request, mode, umask);
        entry(reply, named(name).and_then(|name| self.state().tree.make_folder(parent.0, name, maker)));
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let tree = &mut self.state().tree;
        let maker = maker(request, mode, umask);
        let made = named(name).and_then(|name| tree.make_file(parent.0, name, maker));
        match made.and_then(|attr| tree.open(attr.ino.0).map(|()| attr)) {
            Ok(attr) => reply.created(&VALID, &attr, Generation(0), FileHandle(0), OPENED),
            Err(errno) => reply.error(errno),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.state().tree.remove_file(parent.0, name));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.state().tree.remove_folder(parent.0, name));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let keep = flags == RenameFlags::RENAME_NOREPLACE;
        let is_known = keep || flags.is_empty();
        let known = is_known.then_some(()).ok_or(Errno::EINVAL).and_then(|()| named(new_name));
        let (from, to) = ((parent.0, name), |name| (new_parent.0, name));
        empty(reply, known.and_then(|name| self.state().tree.rename(from, to(name), keep)));
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.state().tree.open(number.0) {
            Ok(()) => reply.opened(FileHandle(0), OPENED),
            Err(errno) => reply.error(errno),
        }
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut state = self.state();
        match state.tree.read(number.0, offset, size).map(<[u8]>::len) {
            Ok(bytes) => state.pass(bytes),
            Err(errno) => return reply.error(errno),
        }
        match state.tree.read(number.0, offset, size) {
            Ok(bytes) => reply.data(bytes),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut state = self.state();
        match state.tree.write(number.0, offset, data) {
            Ok(()) => {
                state.pass(data.len());
                reply.written(data.len() as u32);
            }
            Err(errno) => reply.error(errno),
        }
    }

    /// What was written has passed already.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.state().tree.close(number.0);
        reply.ok();
    }

    /// What was written has passed already.
    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(&self, _: &Request, number: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let state = self.state();
        match state.tree.list(number.0, offset) {
            Ok(list) => {
                let _ =
                    list.into_iter().any(|(place, kind, name)| reply.add(INodeNo(place), place, kind, name));
                reply.ok();
            }
            Err(errno) => reply.error(errno),
        }
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let tree = &self.state().tree;
        let (all, left) = (CAPACITY / u64::from(BLOCK), tree.left() / u64::from(BLOCK));
        let nodes_left = (MOST_NODES - tree.count()) as u64;
        reply.statfs(all, left, left, MOST_NODES as u64, nodes_left, BLOCK, LONGEST_NAME as u32, BLOCK);
    }
}
