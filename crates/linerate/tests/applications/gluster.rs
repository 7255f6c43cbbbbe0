//! GlusterFS between two hosts of a lab: a server on one, its mount on the other, whose clients read and write by path.

use super::points;
use crate::user::runs::{PROGRAM, recording, report};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output};

const PLAN: &str = r#"
name = "mine"
[[case]]
id = "read"
rung = "network.tcp"
pattern = "striped-read"
roles = "back"
sizes = ["1MiB"]
trial = "40ms"
[[case]]
id = "write"
rung = "network.tcp"
pattern = "striped-write"
roles = "there"
sizes = ["1MiB"]
trial = "40ms"
[[figure]]
id = "all"
title = "All"
cases = ["read", "write"]
x = "connections"
y = "striped-throughput"
"#;

const DAEMON: &str = "volume management
    type mgmt/glusterd
    option working-directory FOLDER/state
    option transport-type socket
    option transport.socket.bind-address 198.18.0.2
    option transport.socket.listen-port 24007
    option transport.address-family inet
    option max-port 60999
end-volume
";

/// The daemon may take a while until it answers.
const SERVER: &str = "cd FOLDER && mkdir state brick mount && glusterd -f FOLDER/daemon.vol -l FOLDER/daemon.log -p FOLDER/daemon.pid && \
    for turn in $(seq 50); do gluster --mode=script volume create one 198.18.0.2:FOLDER/brick force && break; sleep 0.2; done && \
    gluster --mode=script volume start one";
const CLIENT: &str = "cd FOLDER && mount -t glusterfs -o log-file=FOLDER/mount.log 198.18.0.2:/one FOLDER/mount && \
    df FOLDER/mount | grep -q 198.18.0.2:/one";

/// A lab that is kept, whose commands end with it.
struct Lab<'f>(&'f Path);

impl Lab<'_> {
    fn said(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.env("XDG_RUNTIME_DIR", self.0.join("run")).args(arguments).output().unwrap()
    }

    /// Runs a script on a host; FOLDER stands for the test's own.
    fn on(&self, host: &str, script: &str) -> String {
        let script = script.replace("FOLDER", self.0.to_str().unwrap());
        let output = self.said(&["lab", "exec", host, "--", "sh", "-c", &script]);
        let all = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{script}: {all:?}");
        all[0].clone()
    }

    fn sent_by_a(&self) -> u64 {
        self.on("a", "cat /sys/class/net/wire0/statistics/tx_bytes").trim().parse().unwrap()
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        self.said(&["lab", "down", "--all", "--kill"]);
    }
}

/// Contents are compared, or the step has failed; what is written crosses the lab's network; nothing is left.
#[test]
fn glusterfs_of_two_hosts_is_read_and_written() {
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root || !Path::new("/usr/sbin/glusterd").exists() {
        println!("SKIP: glusterfs_of_two_hosts_is_read_and_written: no /usr/sbin/glusterd here, or not root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    std::fs::create_dir(folder.path().join("run")).unwrap();
    std::fs::write(folder.path().join("daemon.vol"), DAEMON.replace("FOLDER", place)).unwrap();
    std::fs::write(folder.path().join("mine.toml"), PLAN).unwrap();
    let lab = Lab(folder.path());
    assert!(lab.said(&["lab", "up", "hosts=2", "--detach"]).status.success());
    lab.on("b", SERVER);
    lab.on("a", CLIENT);
    let before = lab.sent_by_a();
    // The agents call back within the lab.
    let run = format!(
        "{PROGRAM} run launch:a,b --launch '{PROGRAM} lab exec {{host}} --' --listen 198.18.0.2:0 --plan FOLDER/mine.toml \
         --profile quick --passes 1 --set striped.path=FOLDER/mount --output FOLDER/recordings"
    );
    lab.on("b", &run);
    let found = points(&report(&recording(&folder.path().join("recordings"))), "all");
    assert_eq!(found.len(), 2, "{found:?}");
    let sent = lab.sent_by_a() - before;
    assert!(sent > 16 << 20, "a file of 8 MiB is made twice by host a: {sent}");
    assert_eq!(lab.on("a", "ls -A FOLDER/mount"), "", "nothing is left there");
}
