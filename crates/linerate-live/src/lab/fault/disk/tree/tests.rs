//! What is written, named, moved, listed and removed.

use super::*;

const ROOT: u64 = INodeNo::ROOT.0;
const MAKER: Maker = Maker { uid: 1, gid: 2, mode: 0o640 };

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

/// A tree with a file of these bytes, and its number.
fn with_file(bytes: &[u8]) -> (Tree, u64) {
    let mut tree = Tree::new();
    let file = tree.make_file(ROOT, name("file"), MAKER).unwrap().ino.0;
    tree.write(file, 0, bytes).unwrap();
    (tree, file)
}

fn code<T: std::fmt::Debug>(outcome: Outcome<T>) -> i32 {
    outcome.unwrap_err().code()
}

#[test]
fn what_was_written_is_read() {
    let (mut tree, file) = with_file(b"abc");
    tree.write(file, 5, b"xyz").unwrap();
    tree.write(file, 1, b"B").unwrap();
    let cases: [(u64, u32, &[u8]); 4] =
        [(0, 100, b"aBc\0\0xyz"), (2, 2, b"c\0"), (8, 1, b""), (u64::MAX, 1, b"")];
    for (offset, size, expected) in cases {
        assert_eq!(tree.read(file, offset, size).unwrap(), expected, "{offset} {size}");
    }
    let attr = tree.lookup(ROOT, name("file")).unwrap();
    assert_eq!((attr.size, attr.perm, attr.uid, attr.gid), (8, 0o640, 1, 2));
    assert_eq!(tree.left(), CAPACITY - 8);
}

#[test]
fn a_file_is_resized_within_the_room() {
    let (mut tree, file) = with_file(b"abcdef");
    let mut size = |size| tree.change(file, Change { size: Some(size), ..Change::default() });
    assert_eq!(size(2).unwrap().size, 2);
    assert_eq!(size(4).unwrap().size, 4);
    assert_eq!(code(size(CAPACITY + 1)), Errno::ENOSPC.code());
    assert_eq!(tree.read(file, 0, 100).unwrap(), b"ab\0\0");
    assert_eq!(code(tree.write(file, CAPACITY, b"x")), Errno::ENOSPC.code());
    assert_eq!(code(tree.write(file, u64::MAX, b"x")), Errno::EFBIG.code());
    assert_eq!(tree.left(), CAPACITY - 4);
    tree.remove_file(ROOT, name("file")).unwrap();
    assert_eq!(tree.left(), CAPACITY);
}

#[test]
fn a_file_that_is_open_stays_without_its_name() {
    let (mut tree, file) = with_file(b"abc");
    tree.open(file).unwrap();
    tree.remove_file(ROOT, name("file")).unwrap();
    assert_eq!(code(tree.lookup(ROOT, name("file"))), Errno::ENOENT.code());
    assert_eq!(tree.read(file, 0, 3).unwrap(), b"abc");
    tree.close(file);
    assert_eq!((tree.left(), tree.count()), (CAPACITY, 1));
    assert_eq!(code(tree.read(file, 0, 3)), Errno::ENOENT.code());
}

#[test]
fn names_are_given_once_and_moved() {
    let (mut tree, file) = with_file(b"abc");
    let folder = tree.make_folder(ROOT, name("folder"), MAKER).unwrap().ino.0;
    let other = tree.make_file(folder, name("other"), MAKER).unwrap().ino.0;
    let (from, to) = ((ROOT, name("file")), (folder, name("other")));
    assert_eq!(code(tree.make_file(ROOT, name("folder"), MAKER)), Errno::EEXIST.code());
    assert_eq!(code(tree.remove_folder(ROOT, name("folder"))), Errno::ENOTEMPTY.code());
    assert_eq!(code(tree.remove_folder(ROOT, name("file"))), Errno::ENOTDIR.code());
    assert_eq!(code(tree.remove_file(ROOT, name("folder"))), Errno::EISDIR.code());
    assert_eq!(code(tree.rename(from, to, true)), Errno::EEXIST.code());
    assert_eq!(code(tree.rename(from, (ROOT, name("folder")), false)), Errno::EISDIR.code());
    tree.rename(from, to, false).unwrap();
    assert_eq!(tree.lookup(folder, name("other")).unwrap().ino.0, file);
    assert_eq!(code(tree.attr(other)), Errno::ENOENT.code());
    tree.rename(to, from, true).unwrap();
    tree.remove_folder(ROOT, name("folder")).unwrap();
    assert_eq!(tree.count(), 2);
}

#[test]
fn a_list_goes_on_behind_what_was_removed() {
    let mut tree = Tree::new();
    for number in 0..10 {
        tree.make_file(ROOT, name(&format!("{}", 9 - number)), MAKER).unwrap();
    }
    let first: Vec<_> = tree.list(ROOT, 0).unwrap().into_iter().take(5).collect();
    assert_eq!(first.iter().map(|(.., name)| *name).collect::<Vec<_>>(), [".", "..", "9", "8", "7"]);
    let behind = first[4].0;
    ["9", "8", "7"].iter().for_each(|gone| tree.remove_file(ROOT, name(gone)).unwrap());
    let rest = tree.list(ROOT, behind).unwrap();
    assert_eq!(rest.iter().map(|(.., name)| *name).collect::<Vec<_>>(), ["6", "5", "4", "3", "2", "1", "0"]);
}

#[test]
fn there_are_only_so_many() {
    let mut tree = Tree::new();
    for number in 1..MOST_NODES {
        tree.make_folder(ROOT, name(&number.to_string()), MAKER).unwrap();
    }
    assert_eq!(code(tree.make_file(ROOT, name("x"), MAKER)), Errno::ENOSPC.code());
}
