//! A program that runs: what its connections wait for is told by reading alone, in whatever network namespace it is.

use crate::user::nobody::program;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A child that ends with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What is told, with the exit code.
#[track_caller]
fn told(options: &[&str]) -> (Value, Option<i32>) {
    let mut command = Command::new(program());
    command.arg("diagnose").args(options).args(["--budget", "2s", "--format", "json"]);
    let output = command.env("LINERATE_CONFIG", "").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let told = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"));
    (told, output.status.code())
}

fn causes(told: &Value) -> Vec<&str> {
    let verdicts = told["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().all(|one| one["grade"] == "consistent" && one["gain"].is_null()), "{told}");
    verdicts.iter().filter_map(|one| one["cause"].as_str()).collect()
}

/// An iperf3 server that is ready, and its port.
fn server() -> Option<(Ends, u16)> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("iperf3");
    command.args(["-s", "-1", "--forceflush", "-p", &port.to_string()]).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let child = Ends(child);
    lines.map_while(Result::ok).find(|line| line.contains("listening"))?;
    Some((child, port))
}

/// A client of it that sends for long, once it sends.
fn client(port: u16, options: &[&str]) -> Ends {
    let mut command = Command::new("iperf3");
    command.args(["-c", "127.0.0.1", "--forceflush", "-i", "0.2", "-t", "60", "-p", &port.to_string()]);
    let mut child = command.args(options).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let child = Ends(child);
    lines.map_while(Result::ok).find(|line| line.contains("bits/sec")).unwrap();
    child
}

#[test]
fn an_iperf3_that_sends_little_is_its_own_limit() {
    let Some((_server, port)) = server() else {
        return println!("SKIP: an_iperf3_that_sends_little_is_its_own_limit: iperf3 is not installed");
    };
    let client = client(port, &["-b", "20M", "-l", "4K"]);
    let (told, code) = told(&["--pid", &client.0.id().to_string()]);
    assert_eq!((causes(&told), code), (vec!["slow-source"], Some(11)), "{told}");
    assert!(told["name"].as_str().unwrap().contains("(iperf3)"), "{told}");
    let data = &told["connections"][0];
    let rate = data["sent_bps"].as_f64().unwrap();
    assert!((10e6..40e6).contains(&rate), "20 Mb/s were asked for: {data}");
    let waits = data["waits"].as_object().unwrap();
    let sum: f64 = waits.values().filter_map(Value::as_f64).sum();
    assert!((sum - 1.0).abs() < 0.01, "{waits:?}");
    assert!(told["busiest_thread"].as_f64().is_some_and(|share| share < 1.01), "{told}");
}

#[test]
fn a_reader_that_sleeps_is_told_by_its_window() {
    static OVER: AtomicBool = AtomicBool::new(false);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut sender = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (mut reader, _) = listener.accept().unwrap();
    sender.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
    let sending = std::thread::spawn(move || {
        while !OVER.load(Ordering::Relaxed) {
            let _ = sender.write(&[7; 65_536]);
        }
    });
    let reading = std::thread::spawn(move || {
        let mut space = vec![0; 65_536];
        while !OVER.load(Ordering::Relaxed) {
            let _ = reader.read(&mut space).unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    // Both ends of the connection have the port, so both are seen.
    let (told, code) = told(&["--port", &port.to_string()]);
    OVER.store(true, Ordering::Relaxed);
    sending.join().unwrap();
    reading.join().unwrap();
    assert_eq!((causes(&told).first(), code), (Some(&"slow-reader"), Some(11)), "{told}");
    let evidence = told["verdicts"][0]["evidence"].to_string();
    assert!(evidence.contains("the receiver's window"), "{evidence}");
}

#[test]
fn a_process_in_another_network_namespace_is_read() {
    // Its own loopback is all that is there: the port is nobody's outside.
    let script = "import socket,time\ns=socket.create_server(('127.0.0.1',7007))\nc=socket.create_connection(('127.0.0.1',7007))\n\
                  a,_=s.accept()\nprint('ready',flush=True)\n\
                  while True:\n c.sendall(b'x'*20000)\n n=0\n while n<20000: n+=len(a.recv(65536))\n time.sleep(0.02)\n";
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", "ip link set lo up && exec python3 -c \"$0\"", script]);
    let Ok(child) = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return println!("SKIP: a_process_in_another_network_namespace_is_read: unshare is not installed");
    };
    let mut child = Ends(child);
    let mut line = String::new();
    let _ = BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut line);
    if line.trim() != "ready" {
        return println!(
            "SKIP: a_process_in_another_network_namespace_is_read: no network namespace can be made, or python3 is not installed"
        );
    }
    let pid = child.0.id().to_string();
    let (of_process, code) = told(&["--pid", &pid]);
    assert_eq!(of_process["connections"].as_array().unwrap().len(), 2, "{of_process}");
    assert_eq!((causes(&of_process), code), (vec!["slow-source"], Some(11)), "{of_process}");
    let (of_port, code) = told(&["--port", "7007"]);
    assert_eq!((of_port["connections"].as_array().unwrap().len(), code), (0, Some(11)), "{of_port}");
}

#[test]
fn what_cannot_be_watched_is_a_usage_error() {
    let refused = |options: &[&str]| {
        let mut command = Command::new(program());
        let output = command.arg("diagnose").args(options).env("LINERATE_CONFIG", "").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["--pid", "1000000000"]).contains("no process"));
    for options in [&["lab", "--pid", "1"][..], &["--pid", "1", "--port", "1"], &["--port", "0"], &[]] {
        assert!(!refused(options).is_empty());
    }
    assert!(refused(&["--port", "80", "--base", "tcp.mss=500"]).contains("--base"));
}
