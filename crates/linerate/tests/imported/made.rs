//! What the tools of this machine print now: each is run here, also stopped in its midst, and its output read.

use super::{Told, told};
use linerate::record::Imported;
use linerate::vocabulary::{Does, Quantity};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A server of a tool, which ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody has now.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Whether a program is here; the skip is told where it is not.
fn is_here(program: &str, test: &str) -> bool {
    let found = std::env::var("PATH")
        .unwrap_or_default()
        .split(':')
        .any(|folder| std::path::Path::new(folder).join(program).exists());
    if !found {
        println!("SKIP: {test}: {program} is not installed");
    }
    found
}

fn serve(program: &str, arguments: &[&str], port: u16) -> Server {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Server(command.spawn().unwrap());
    let until = Instant::now() + Duration::from_secs(10);
    while !is_listening(port) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

/// Whether somebody listens there, without a connection that a server of one test would count.
fn is_listening(port: u16) -> bool {
    let wanted = format!(":{port:04X} ");
    let lists =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    lists.iter().flat_map(|list| list.lines()).any(|line| line.contains(&wanted) && line.contains(" 0A "))
}

/// What a client printed, both outputs together; stopped by SIGINT where a time is given.
fn client(program: &str, arguments: &str, stop: Option<&str>) -> Vec<u8> {
    let words = arguments.split_whitespace();
    let mut command = match stop {
        Some(after) => {
            let mut command = Command::new("timeout");
            command.args(["--signal=INT", after, program]);
            command
        }
        None => Command::new(program),
    };
    let Output { stdout, stderr, .. } = command.args(words).output().unwrap();
    [stderr, stdout].concat()
}

fn rates(told: &Told) -> Vec<&Imported> {
    told.rows
        .iter()
        .filter(|row| row.quantity == Quantity::Throughput && row.end == Some(Does::Receives))
        .collect()
}

fn read(bytes: &[u8], tool: &str) -> Told {
    let told =
        told(bytes, None).unwrap_or_else(|refusal| panic!("{refusal}: {}", String::from_utf8_lossy(bytes)));
    assert_eq!(told.source.tool, tool);
    told
}

#[test]
fn iperf3_of_this_machine_is_read_whole_and_stopped() {
    if !is_here("iperf3", "imported::made::iperf3_of_this_machine_is_read_whole_and_stopped") {
        return;
    }
    let port = port();
    let _server = serve("iperf3", &["-s", "-p", &port.to_string()], port);
    let text = read(&client("iperf3", &format!("-c 127.0.0.1 -p {port} -t 1 -i 0.5 -P 2"), None), "iperf3");
    assert!(rates(&text).iter().any(|row| row.values[0] > 1e6 && row.flows == Some(2)), "{:?}", text.rows);
    for form in ["-J", ""] {
        let stopped = client("iperf3", &format!("-c 127.0.0.1 -p {port} -t 9 -i 0.2 {form}"), Some("0.7"));
        let stopped = read(&stopped, "iperf3");
        assert!(stopped.doubts("interrupt") && rates(&stopped).is_empty(), "{:?}", stopped.source.doubts);
        assert!(stopped.rows.iter().any(|row| row.values.len() > 1), "its parts are there");
    }
}

#[test]
fn iperf_2_of_this_machine_is_read_as_text_and_csv() {
    if !is_here("iperf", "imported::made::iperf_2_of_this_machine_is_read_as_text_and_csv") {
        return;
    }
    let port = port();
    let _server = serve("iperf", &["-s", "-p", &port.to_string()], port);
    let text = read(&client("iperf", &format!("-c 127.0.0.1 -p {port} -t 1 -i 0.5"), None), "iperf2");
    assert!(
        text.rows.iter().any(|row| row.end == Some(Does::Sends) && row.values[0] > 1e6),
        "{:?}",
        text.rows
    );
    assert!(text.rows.iter().any(|row| row.at_s.len() > 1), "{:?}", text.rows);
    let csv = read(&client("iperf", &format!("-c 127.0.0.1 -p {port} -t 1 -y C"), None), "iperf2");
    assert!(csv.rows[0].values[0] > 1e6, "{:?}", csv.rows);
}

#[test]
fn nuttcp_of_this_machine_is_read_in_its_forms() {
    if !is_here("nuttcp", "imported::made::nuttcp_of_this_machine_is_read_in_its_forms") {
        return;
    }
    let (control, data) = (port(), port());
    let _server =
        serve("nuttcp", &["-S", "--nofork", "-P", &control.to_string(), "-p", &data.to_string()], control);
    for form in ["-i0.5", "-v", "-u -R50m -fparse"] {
        let printed = client("nuttcp", &format!("-T1 -P {control} -p {data} {form} 127.0.0.1"), None);
        let told = read(&printed, "nuttcp");
        assert!(rates(&told).iter().any(|row| row.values[0] > 1e6), "{form}: {:?}", told.rows);
    }
}

#[test]
fn ping_and_fping_of_this_machine_are_read() {
    let is_all = ["ping", "fping"]
        .iter()
        .all(|program| is_here(program, "imported::made::ping_and_fping_of_this_machine_are_read"));
    if !is_all {
        return;
    }
    for (program, arguments) in [
        ("ping", "-c 3 -i 0.2 127.0.0.1"),
        ("fping", "-c 3 -p 20 127.0.0.1"),
        ("fping", "-C 3 -p 20 127.0.0.1"),
        ("fping", "-e 127.0.0.1"),
    ] {
        let told = read(&client(program, arguments, None), program);
        let is_time = |row: &&Imported| row.quantity == Quantity::RoundTrip && row.values[0] > 100.0;
        assert!(told.rows.iter().any(|row| is_time(&row)), "{program} {arguments}: {:?}", told.rows);
    }
    let stopped = read(&client("ping", "-i 0.2 127.0.0.1", Some("0.5")), "ping");
    assert!(stopped.rows.iter().any(|row| row.quantity == Quantity::LostShare), "{:?}", stopped.rows);
}
