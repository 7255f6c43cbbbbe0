//! A slow disk takes its time, keeps what was written, and is on its own host alone.

use crate::user::runs::PROGRAM;
use linerate::lab::{Lab, VirtualHost};
use linerate::plan::Topology;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Whether this user may serve files on this machine.
pub fn may_serve() -> bool {
    fs::File::options().read(true).write(true).open("/dev/fuse").is_ok()
}

/// What is written and read: a second's worth.
const BYTES: usize = 12_500_000;
const FAULT: &str = "slow-disk=100Mb/s";

/// Each takes as long as its bytes at least, but for the few milliseconds that an idle disk may do at once; commands
/// and a busy machine take time, too.
const TOLERANCE: std::ops::Range<f64> = 0.98..1.30;

fn lab(fault: &str) -> Lab {
    let topology = Topology::default().with_faults([fault.parse().unwrap()]).unwrap();
    Lab::build(&topology, Path::new(PROGRAM)).unwrap()
}

/// The folder that a disk was mounted over.
fn folder(lab: &Lab) -> String {
    lab.faults()[0].granted.split_once(':').unwrap().0.to_owned()
}

/// What a script says on a host, in a folder; `D` in it is the disk's.
fn say(host: &VirtualHost, disk: &str, script: &str) -> String {
    let mut command = host.command("sh");
    let output = command.env("D", disk).args(["-c", &format!("exec 2>&1; {script}")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// How many disks a host sees.
fn disks(host: &VirtualHost) -> String {
    say(host, "", "grep -c fuse.linerate /proc/self/mountinfo").trim().to_owned()
}

#[test]
fn bytes_take_their_time_and_come_back() {
    if !may_serve() {
        return println!("SKIP: bytes_take_their_time_and_come_back: /dev/fuse may not be opened here");
    }
    let files = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..BYTES as u64).map(|place| (place * place % 251) as u8).collect();
    fs::write(files.path().join("source"), &bytes).unwrap();
    let lab = lab(&format!("b:{FAULT}"));
    let [_, b] = lab.hosts() else { panic!("two hosts") };
    let disk = folder(&lab);
    let source = files.path().join("source").display().to_string();
    let written = format!("dd if={source} of=$D/file bs=64K conv=fsync status=none");
    let direct = format!("dd if={source} of=$D/file bs=1M oflag=direct status=none");
    let read = format!("cmp {source} $D/file");
    // What was read once is read as slowly again: no cache hides the disk.
    for script in [&written, &direct, &read, &read] {
        let began = Instant::now();
        assert_eq!(say(b, &disk, script), "", "{script}");
        let ratio = began.elapsed().as_secs_f64() / (BYTES as f64 * 8.0 / 100e6);
        println!("{ratio:.4} of the time: {script}");
        assert!(TOLERANCE.contains(&ratio), "{script}: {ratio} of the time");
    }
}

#[test]
fn a_disk_is_on_its_host_alone() {
    if !may_serve() {
        return println!("SKIP: a_disk_is_on_its_host_alone: /dev/fuse may not be opened here");
    }
    let one = lab(&format!("b:{FAULT}"));
    let [a, b] = one.hosts() else { panic!("two hosts") };
    assert_eq!((disks(a), disks(b)), ("0".into(), "1".into()));
    assert!(!fs::read_to_string("/proc/self/mountinfo").unwrap().contains("fuse.linerate"));
    assert_eq!(one.faults().len(), 1);
    let both = lab(FAULT);
    let disk = folder(&both);
    let [a, b] = both.hosts() else { panic!("two hosts") };
    assert_eq!((disks(a), disks(b)), ("1".into(), "1".into()));
    assert_eq!(say(a, &disk, "echo x > $D/file; ls $D"), "file\n");
    assert_eq!(say(b, &disk, "ls $D"), "");
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
}

#[test]
fn a_command_stays_in_its_folder() {
    if !may_serve() {
        return println!("SKIP: a_command_stays_in_its_folder: /dev/fuse may not be opened here");
    }
    let lab = lab(&format!("b:{FAULT}"));
    let folder = tempfile::tempdir().unwrap();
    for host in lab.hosts() {
        let output = host.command("pwd").current_dir(folder.path()).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), folder.path().to_str().unwrap());
    }
}

#[test]
fn ordinary_tools_work_on_it() {
    if !may_serve() {
        return println!("SKIP: ordinary_tools_work_on_it: /dev/fuse may not be opened here");
    }
    let lab = lab(&format!("b:{FAULT}"));
    let (disk, b) = (folder(&lab), &lab.hosts()[1]);
    let cases = [
        ("mkdir -p $D/x/y && cp -r /etc/hostname $D/x/y/name && cmp /etc/hostname $D/x/y/name", ""),
        ("mv $D/x/y/name $D/x/other; ls $D/x; rmdir $D/x/y; ls $D/x", "other\ny\nother\n"),
        ("cat $D/x/none", "cat: $D/x/none: No such file or directory\n"),
        ("echo one > $D/f; echo two >> $D/f; cat $D/f; : > $D/f; stat -c %s $D/f", "one\ntwo\n0\n"),
        ("chmod 600 $D/f; touch -d @1000 $D/f; stat -c '%a %Y' $D/f", "600 1000\n"),
        ("for i in $(seq 500); do : > $D/x/$i; done; ls $D/x | wc -l; rm -r $D/x; ls $D", "501\nf\n"),
        ("exec 3<> $D/f; rm $D/f; echo kept >&3; cat /proc/self/fd/3", "kept\n"),
        (
            "printf abc | sha256sum > $D/sum; cd $D && printf abc > abc && sha256sum abc | cut -c1-8",
            "ba7816bf\n",
        ),
        (
            "truncate -s 2G $D/large",
            "truncate: failed to truncate '$D/large' at 2147483648 bytes: No space left on device\n",
        ),
        ("df --output=fstype,size -B1 $D | tail -1 | tr -s ' '", "fuse.linerate 1073741824\n"),
    ];
    for (script, expected) in cases {
        assert_eq!(say(b, &disk, script), expected.replace("$D", &disk), "{script}");
    }
}
