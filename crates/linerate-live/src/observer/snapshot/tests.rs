//! Fixtures are captured from Linux 6.18; the numbers were made small.

use super::*;
use std::io::Write;
use std::net::{TcpListener, TcpStream};

const STAT: &str = "\
cpu  120 7 40 3000 20 3 5 11 60 2
cpu0 50 3 20 1500 10 1 2 6 30 1
cpu1 70 4 20 1500 10 2 3 5 30 1
intr 413955 0 0 1 0
ctxt 485928
btime 1795274482
processes 9105
softirq 240932 0 23838 4
";

const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
  eth0: 122177672    7250    1    2    9     9          0         0   554811    6648    3    4    9     9       9          0
br0:1:9 8 0 0 0 0 0 0 7 6 0 0 0 0 0 0
";

const SOFTNET: &str = "\
0000000f 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
fffffff0 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001
";

const SNMP: &str = "\
Ip: Forwarding DefaultTTL ReasmReqds ReasmFails
Ip: 1 64 400 9
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 34 7206 6613 17 0 24 0
Udp: InDatagrams NoPorts
Udp: 3 0
";

fn stat(text: &str, cpus: &[u32]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.take_stat(text, cpus, 10_000_000);
    snapshot
}

#[test]
fn busy_is_all_work_and_steal_is_apart() {
    let snapshot = stat(STAT, &[1, 5]);
    assert_eq!(snapshot.busy_ns, [(1, 990_000_000)]);
    assert_eq!((snapshot.steal_ns, snapshot.context_switches), (110_000_000, 485_928));
}

#[test]
fn interfaces_are_read_by_the_last_colon() {
    let read = interfaces(DEV);
    let names: Vec<&str> = read.iter().map(|interface| interface.name.as_str()).collect();
    assert_eq!(names, ["lo", "eth0", "br0:1"]);
    assert_eq!((read[1].rx_bytes, read[1].tx_packets, read[1].drops), (122_177_672, 6648, 10));
}

#[test]
fn softnet_is_hexadecimal_and_wraps() {
    let sum = softnet(SOFTNET);
    assert_eq!(sum, Softnet { processed: u32::MAX, dropped: 1, squeezed: 3 });
    assert_eq!(wrapped(u32::MAX, 4), 5);
    assert_eq!(wrapped(100, 90), 0, "a CPU went away");
}

#[test]
fn counters_of_protocols_are_found_by_name() {
    assert_eq!(of_snmp(SNMP, "Tcp:", "RetransSegs"), 17);
    assert_eq!(of_snmp(SNMP, "Ip:", "ReasmFails"), 9);
    assert_eq!(of_snmp("Tcp: RetransSegs\n", "Tcp:", "RetransSegs"), 0);
    let lines = "Ip6ReasmReqds                   \t3\nIp6ReasmFails                   \t2\n";
    assert_eq!((of_snmp6(lines, "Ip6ReasmFails"), of_snmp6("Ip6ReasmFails", "Ip6ReasmFails")), (2, 0));
}

#[test]
fn text_cut_off_anywhere_is_read() {
    for whole in [
        STAT,
        DEV,
        SOFTNET,
        SNMP,
        "cpu\ncpu0\ncpuX 1\nctxt\nTcp:\nTcp:\n::\nzz zz\ncpu0 -1 99999999999999999999\n",
    ] {
        for end in 0..whole.len() {
            let cut = &whole[..end];
            let (mut one, two) = (stat(cut, &[0, 1]), stat(STAT, &[0, 1]));
            one.interfaces = interfaces(cut);
            one.softnet = softnet(cut);
            one.tcp_retransmitted_segments = of_snmp(cut, "Tcp:", "RetransSegs");
            one.delta(&two);
            two.delta(&one);
        }
    }
}

#[test]
fn a_file_larger_than_the_buffer_is_read_whole() {
    let mut reader = Reader { files: FILES.map(|path| File::open(path).ok()), buffer: vec![0; 16] };
    let names = |text: &str| text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    let whole: Vec<String> = names(&std::fs::read_to_string(FILES[0]).unwrap());
    for _ in 0..2 {
        let read: Vec<String> = names(&reader.text(0));
        assert_eq!(read, whole);
    }
    reader.files[0] = None;
    assert_eq!(reader.text(0), "");
}

#[test]
fn only_what_moved_or_came_is_counted() {
    let before = Snapshot {
        at_ns: 1_000,
        busy_ns: vec![(0, 50), (1, 70)],
        own_ns: vec![(7, 900), (8, 5)],
        context_switches: 10,
        interfaces: interfaces(DEV),
        ..Snapshot::default()
    };
    let mut after = before.clone();
    after.at_ns = 5_000;
    after.busy_ns = vec![(0, 50), (1, 95)];
    after.own_ns = vec![(7, 1_000), (9, 33)];
    after.context_switches = 4;
    after.interfaces.remove(0);
    after.interfaces[0].rx_bytes += 1500;
    after.interfaces.push(InterfaceDelta { name: "veth".into(), tx_packets: 2, ..Default::default() });
    let delta = before.delta(&after);
    assert_eq!((delta.wall_ns, delta.context_switches), (4_000, 0));
    assert_eq!(delta.busy_ns, [(1, 25)].into());
    assert_eq!(delta.own_ns, 133);
    let moved: Vec<_> =
        delta.interfaces.iter().map(|i| (i.name.as_str(), i.rx_bytes, i.tx_packets)).collect();
    assert_eq!(moved, [("eth0", 1500, 0), ("veth", 0, 2)]);
}

#[test]
fn this_host_counts_its_own_work_and_bytes() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let before = snapshot(&[], &[]);
    client.write_all(&[1; 10_000]).unwrap();
    while cpu_time::process_ns(std::process::id()).unwrap() < before.own_ns[0].1 + 1_000_000 {}
    let delta = before.delta(&snapshot(&[], &[]));
    let lo = delta.interfaces.iter().find(|interface| interface.name == "lo").unwrap();
    assert!(lo.rx_bytes >= 10_000 && lo.tx_bytes >= 10_000, "{lo:?}");
    assert!(delta.own_ns >= 1_000_000 && delta.wall_ns >= 1, "{delta:?}");
}
