//! A packet counts once, whatever devices it passes; a socket is held by who owns it, whatever took the packet from its device.

use super::{Counted, Counting, may_not, watched_at};
use crate::ethtool::{Ethtool, OFFLOADS};
use crate::{namespace, thread};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

const BYTES: usize = 50_000;

#[track_caller]
pub(super) fn done(program: &str, words: &str) {
    let status = Command::new(program).args(words.split(' ')).status().unwrap();
    assert!(status.success(), "{program} {words}");
}

/// Its device is polled by a thread of the kernel.
fn poll_by_a_thread(device: &str) {
    let gro = OFFLOADS.iter().find(|one| one.name == "gro").unwrap();
    Ethtool::open().unwrap().set_offload(device, gro, true).unwrap();
    let script = format!("mount -t sysfs sysfs /sys && echo 1 > /sys/class/net/{device}/threaded");
    assert!(Command::new("unshare").args(["-m", "sh", "-c", &script]).status().unwrap().success());
}

/// A host that receives, and that program takes its time to.
fn receives(tell: &std::sync::mpsc::Sender<String>, is_wired: &std::sync::mpsc::Receiver<()>) -> Counted {
    namespace::become_another_host().unwrap();
    let own = format!("/proc/{}/task/{}/ns/net", std::process::id(), thread::current().number());
    tell.send(own).unwrap();
    is_wired.recv().unwrap();
    done("ip", "addr add 10.9.9.2/24 dev vb");
    done("ip", "link set vb up");
    poll_by_a_thread("vb");
    let listener = TcpListener::bind("10.9.9.2:0").unwrap();
    tell.send(listener.local_addr().unwrap().to_string()).unwrap();
    let (mut receiver, _) = listener.accept().unwrap();
    let mut counting = Counting::load(&[]).unwrap();
    counting.begin(watched_at(&receiver), thread::current_cpu()).unwrap();
    receiver.write_all(&[1]).unwrap();
    // All comes while nobody is in a call on the socket, however long the other end took to begin.
    is_wired.recv().unwrap();
    receiver.read_exact(&mut [0; BYTES]).unwrap();
    counting.end().unwrap()
}

#[test]
fn a_packet_counts_once_and_napi_holds_no_socket() {
    const NAME: &str = "a_packet_counts_once_and_napi_holds_no_socket";
    if let Some(why) = may_not() {
        return println!("SKIP: {NAME}: {why}");
    }
    let ((tell, told), (wire, is_wired)) = (channel(), channel());
    let other = std::thread::spawn(move || receives(&tell, &is_wired));
    let sent = std::thread::spawn(move || {
        namespace::become_another_host().unwrap();
        done("ip", "link add va type veth peer name vb");
        done("ip", &format!("link set vb netns {}", told.recv().unwrap()));
        // One device above another, as a VLAN's is.
        done("ip", "link add link va name above type macvlan mode bridge");
        done("ip", "addr add 10.9.9.1/24 dev above");
        done("ip", "link set va up");
        done("ip", "link set above up");
        wire.send(()).unwrap();
        let mut sender = TcpStream::connect(told.recv().unwrap()).unwrap();
        sender.read_exact(&mut [0; 1]).unwrap();
        let mut counting = Counting::load(&[]).unwrap();
        counting.begin(watched_at(&sender), thread::current_cpu()).unwrap();
        sender.write_all(&[7; BYTES]).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        wire.send(()).unwrap();
        (counting.end().unwrap(), sender)
    });
    let (sent, _open) = sent.join().unwrap();
    let came = other.join().unwrap();
    assert_eq!(sent.number("out-bytes"), Some(BYTES as u64), "{sent:?}");
    assert_eq!(came.number("in-bytes"), Some(BYTES as u64), "{came:?}");
    // The acknowledgement of its own byte may come while it is in that call yet.
    assert!(came.number("taken-held") <= Some(1), "{came:?}");
    assert!(
        came.number("taken") > Some(0) && sent.drops.is_empty() && came.drops.is_empty(),
        "{sent:?} {came:?}"
    );
}
