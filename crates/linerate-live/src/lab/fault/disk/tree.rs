//! Files and folders in memory, as many and as large as they may be.
//!
//! What asks is the kernel, which has looked at names and permissions already; only what it cannot know is
//! looked at here: what is there, and how much room is left.

#[cfg(test)]
mod tests;

use fuser::{Errno, FileAttr, FileType, INodeNo};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

/// Bytes of all files together.
pub const CAPACITY: u64 = 1 << 30;
/// Files and folders.
pub const MOST_NODES: usize = 1 << 16;
/// What the kernel calls a block.
pub const BLOCK: u32 = 4096;

type Outcome<T> = Result<T, Errno>;

/// What is to be changed of a file or folder.
#[derive(Debug, Default)]
pub struct Change {
    /// Permissions.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Size; of a file.
    pub size: Option<u64>,
    /// When it was last read.
    pub atime: Option<SystemTime>,
    /// When it was last written.
    pub mtime: Option<SystemTime>,
}

/// All of it.
#[derive(Debug)]
pub struct Tree {
    nodes: BTreeMap<u64, Node>,
    /// Numbers are never used again: the first two stand for `.` and `..` where folders are listed.
    next: u64,
    used: u64,
}

#[derive(Debug)]
struct Node {
    attr: FileAttr,
    content: Content,
    /// How often it is open: one that was removed goes with the last.
    open: u64,
}

#[derive(Debug)]
enum Content {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, u64>),
}

impl Content {
    fn file() -> Content {
        Content::File(Vec::new())
    }

    fn folder() -> Content {
        Content::Folder(BTreeMap::new())
    }

    fn kind(&self) -> FileType {
        match self {
            Content::File(_) => FileType::RegularFile,
            Content::Folder(_) => FileType::Directory,
        }
    }
}

/// Who makes something, and with which permissions.
#[derive(Debug, Clone, Copy)]
pub struct Maker {
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The permissions.
    pub mode: u32,
}

impl Tree {
    /// An empty folder that belongs to root and in which everyone may write, as in `/tmp`.
    pub fn new() -> Tree {
        let root = INodeNo::ROOT.0;
        let node = Node::new(root, Maker { uid: 0, gid: 0, mode: 0o1777 }, Content::folder());
        Tree { nodes: BTreeMap::from([(root, node)]), next: 3, used: 0 }
    }

    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        CAPACITY - self.used
    }

    /// Files and folders.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// What has this name.
    pub fn lookup(&self, parent: u64, name: &OsStr) -> Outcome<FileAttr> {
        self.attr(*self.folder(parent)?.get(name).ok_or(Errno::ENOENT)?)
    }

    /// What is known of it.
    pub fn attr(&self, number: u64) -> Outcome<FileAttr> {
        let node = self.node(number)?;
        let size = match &node.content {
            Content::File(bytes) => bytes.len() as u64,
            Content::Folder(_) => 0,
        };
        Ok(FileAttr { size, blocks: size.div_ceil(512), ..node.attr })
    }

    /// Makes a file.
    pub fn make_file(&mut self, parent: u64, name: &OsStr, maker: Maker) -> Outcome<FileAttr> {
        self.make(parent, name, maker, Content::file())
    }

    /// Makes a folder.
    pub fn make_folder(&mut self, parent: u64, name: &OsStr, maker: Maker) -> Outcome<FileAttr> {
        self.make(parent, name, maker, Content::folder())
    }

    fn make(&mut self, parent: u64, name: &OsStr, maker: Maker, content: Content) -> Outcome<FileAttr> {
        if self.nodes.len() >= MOST_NODES {
            return Err(Errno::ENOSPC);
        }
        let number = self.next;
        let folder = self.folder_mut(parent)?;
        if folder.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        folder.insert(name.to_owned(), number);
        self.nodes.insert(number, Node::new(number, maker, content));
        self.next += 1;
        self.attr(number)
    }

    /// Removes a file.
    pub fn remove_file(&mut self, parent: u64, name: &OsStr) -> Outcome<()> {
        match self.lookup(parent, name)?.kind {
            FileType::Directory => Err(Errno::EISDIR),
            _ => self.remove(parent, name),
        }
    }

    /// Removes an empty folder.
    pub fn remove_folder(&mut self, parent: u64, name: &OsStr) -> Outcome<()> {
        let number = self.lookup(parent, name)?.ino.0;
        match self.folder(number)?.is_empty() {
            true => self.remove(parent, name),
            false => Err(Errno::ENOTEMPTY),
        }
    }

    fn remove(&mut self, parent: u64, name: &OsStr) -> Outcome<()> {
        let number = self.folder_mut(parent)?.remove(name).ok_or(Errno::ENOENT)?;
        self.node_mut(number)?.attr.nlink = 0;
        self.let_go(number);
        Ok(())
    }

    /// Gives it another name; what has that name goes, unless it is to be kept.
    pub fn rename(&mut self, from: (u64, &OsStr), to: (u64, &OsStr), keep: bool) -> Outcome<()> {
        let moved = self.lookup(from.0, from.1)?;
        match self.lookup(to.0, to.1) {
            Ok(_) if keep => return Err(Errno::EEXIST),
            Ok(there) if there.ino == moved.ino => return Ok(()),
            Ok(_) if moved.kind == FileType::Directory => self.remove_folder(to.0, to.1)?,
            Ok(_) => self.remove_file(to.0, to.1)?,
            Err(_) => {}
        }
        self.folder_mut(to.0)?.insert(to.1.to_owned(), moved.ino.0);
        self.folder_mut(from.0)?.remove(from.1);
        Ok(())
    }

    /// Keeps a file from going while it is open.
    pub fn open(&mut self, number: u64) -> Outcome<()> {
        self.node_mut(number)?.open += 1;
        Ok(())
    }

    /// The other side of [`open`](Self::open).
    pub fn close(&mut self, number: u64) {
        if let Ok(node) = self.node_mut(number) {
            node.open = node.open.saturating_sub(1);
        }
        self.let_go(number);
    }

    /// Frees what has no name and is not open.
    fn let_go(&mut self, number: u64) {
        let is_gone = |node: &Node| node.attr.nlink == 0 && node.open == 0;
        if self.nodes.get(&number).is_some_and(is_gone)
            && let Some(Node { content: Content::File(bytes), .. }) = self.nodes.remove(&number)
        {
            self.used -= bytes.len() as u64;
        }
    }

    /// Bytes of a file from a place on, as far as there are any.
    pub fn read(&self, number: u64, offset: u64, size: u32) -> Outcome<&[u8]> {
        let Content::File(bytes) = &self.node(number)?.content else { return Err(Errno::EISDIR) };
        let begin = offset.min(bytes.len() as u64) as usize;
        let rest = &bytes[begin..];
        Ok(&rest[..rest.len().min(size as usize)])
    }

    /// Writes bytes of a file at a place, behind zeros where nothing was yet.
    pub fn write(&mut self, number: u64, offset: u64, data: &[u8]) -> Outcome<()> {
        let end = offset.checked_add(data.len() as u64).ok_or(Errno::EFBIG)?;
        if end > self.attr(number)?.size {
            self.resize(number, end)?;
        }
        self.file_mut(number)?[offset as usize..end as usize].copy_from_slice(data);
        self.node_mut(number)?.attr.mtime = SystemTime::now();
        Ok(())
    }

    /// Cuts a file, or fills it up with zeros, which take room as other bytes do.
    fn resize(&mut self, number: u64, size: u64) -> Outcome<()> {
        let others = self.used - self.attr(number)?.size;
        if size > CAPACITY - others {
            return Err(Errno::ENOSPC);
        }
        let bytes = self.file_mut(number)?;
        let more = (size as usize).saturating_sub(bytes.len());
        bytes.try_reserve(more).map_err(|_| Errno::ENOSPC)?;
        bytes.resize(size as usize, 0);
        if more == 0 {
            bytes.shrink_to_fit();
        }
        self.used = others + size;
        Ok(())
    }

    /// Changes what is known of it, and its size.
    pub fn change(&mut self, number: u64, change: Change) -> Outcome<FileAttr> {
        if let Some(size) = change.size {
            self.resize(number, size)?;
        }
        let now = SystemTime::now();
        let written = change.mtime.or(change.size.map(|_| now));
        let attr = &mut self.node_mut(number)?.attr;
        attr.perm = change.mode.map_or(attr.perm, permissions);
        attr.uid = change.uid.unwrap_or(attr.uid);
        attr.gid = change.gid.unwrap_or(attr.gid);
        attr.atime = change.atime.unwrap_or(attr.atime);
        attr.mtime = written.unwrap_or(attr.mtime);
        attr.ctime = now;
        self.attr(number)
    }

    /// What is in a folder, behind a place in its list: the number, kind and name of each. The number is also the
    /// place, so that a list goes on where it was although something was removed meanwhile.
    pub fn list(&self, number: u64, behind: u64) -> Outcome<Vec<(u64, FileType, &OsStr)>> {
        let dots = [(1, "."), (2, "..")].map(|(place, name)| (place, FileType::Directory, OsStr::new(name)));
        let inside = self.folder(number)?.iter();
        let inside =
            inside.filter_map(|(name, at)| Some((*at, self.node(*at).ok()?.attr.kind, name.as_os_str())));
        let mut all: Vec<_> = dots.into_iter().chain(inside).filter(|(place, ..)| *place > behind).collect();
        all.sort_unstable_by_key(|(place, ..)| *place);
        Ok(all)
    }

    fn node(&self, number: u64) -> Outcome<&Node> {
        self.nodes.get(&number).ok_or(Errno::ENOENT)
    }

    fn node_mut(&mut self, number: u64) -> Outcome<&mut Node> {
        self.nodes.get_mut(&number).ok_or(Errno::ENOENT)
    }

    fn folder(&self, number: u64) -> Outcome<&BTreeMap<OsString, u64>> {
        match &self.node(number)?.content {
            Content::Folder(inside) => Ok(inside),
            Content::File(_) => Err(Errno::ENOTDIR),
        }
    }

    fn folder_mut(&mut self, number: u64) -> Outcome<&mut BTreeMap<OsString, u64>> {
        let node = self.node_mut(number)?;
        node.attr.mtime = SystemTime::now();
        match &mut node.content {
            Content::Folder(inside) => Ok(inside),
            Content::File(_) => Err(Errno::ENOTDIR),
        }
    }

    fn file_mut(&mut self, number: u64) -> Outcome<&mut Vec<u8>> {
        match &mut self.node_mut(number)?.content {
            Content::File(bytes) => Ok(bytes),
            Content::Folder(_) => Err(Errno::EISDIR),
        }
    }
}

impl Node {
    fn new(number: u64, maker: Maker, content: Content) -> Node {
        let now = SystemTime::now();
        let attr = FileAttr {
            ino: INodeNo(number),
            size: 0,
            blocks: 0,
            atime: now,
            mtime: now,
            ctime: now,
            crtime: now,
            kind: content.kind(),
            perm: permissions(maker.mode),
            // Of a folder, too: its folders are not counted.
            nlink: 1,
            uid: maker.uid,
            gid: maker.gid,
            rdev: 0,
            blksize: BLOCK,
            flags: 0,
        };
        Node { attr, content, open: 0 }
    }
}

/// The part of a mode that is no kind of file.
fn permissions(mode: u32) -> u16 {
    (mode & 0o7777) as u16
}
