//! Message passing by the real libraries that MPIs carry their messages by: every byte is there, between hosts it crosses
//! the link, and what goes wrong is told in time and leaves nothing behind.

use crate::user::disturbed::{disturbed, in_the_middle, long};
use crate::user::ranks::{
    SHORT, crossed, every_byte_came, is_all, nobody_is_left, program, recorded, sessions, words,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a rung of a library that only polls has.
const WAYS: [(&str, &str); 2] = [("ping-pong", "polling"), ("stream", "polling")];

fn on_rung(folder: &Path, rung: &str, settings: &[&str]) -> Command {
    let mut command = program(folder);
    command.args(["--only", rung]).args(settings.iter().flat_map(|setting| ["--set", setting]));
    command
}

/// What is on record of a run that went well.
fn measured(rung: &str, settings: &[&str], variables: &[(&str, &str)]) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let mut command = on_rung(folder.path(), rung, settings);
    let output = command.args(SHORT).envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    nobody_is_left(folder.path());
    let lines = recorded(folder.path());
    every_byte_came(&lines, &WAYS);
    lines
}

/// Both ends of each session.
fn both(lines: &[Value]) -> Vec<(&str, BTreeMap<&str, &Value>)> {
    let all = sessions(lines);
    assert!(all.len() > 1);
    all
}

fn granted<'v>(of: &BTreeMap<&str, &'v Value>, knob: &str) -> &'v Value {
    of.get(knob).copied().unwrap_or(&Value::Null)
}

#[test]
fn within_a_host_ucx_carries_every_byte() {
    for (settings, transports) in [(&[][..], None), (&["ucx.transports=tcp"][..], Some("tcp"))] {
        let lines = measured("in-host.ucx", settings, &[]);
        for (about, of) in both(&lines) {
            assert!(about.starts_with("UCX 1.") && about.contains("/libucp.so."), "{about}");
            let told = granted(&of, "ucx.transports").as_str().unwrap();
            assert!(about.contains(&format!(", by {}", told.split(',').next().unwrap())), "{about} {told}");
            // Untold, it takes what is faster than a socket.
            assert_eq!(transports.unwrap_or("tcp") == told, transports.is_some(), "{told}");
        }
    }
}

#[test]
fn between_two_hosts_every_byte_of_ucx_crosses() {
    let lines = measured("network.ucx", &["ucx.eager-limit=16KiB"], &[]);
    for (step, came, moved) in crossed(&lines) {
        assert!(is_all(&moved, came), "{moved:?} of {came}: {step}");
    }
    for (about, of) in both(&lines) {
        assert!(about.contains(", by tcp/"), "{about}");
        assert_eq!(
            (granted(&of, "ucx.transports"), granted(&of, "ucx.eager-limit")),
            (&json!("tcp"), &json!("16384"))
        );
    }
}

#[test]
fn within_a_host_libfabric_carries_every_byte() {
    for (provider, way) in [("tcp", "tcp;ofi_rxm at "), ("net", "net at "), ("shm", "shm at ")] {
        let setting = format!("libfabric.provider={provider}");
        let lines = measured("in-host.libfabric", &[&setting], &[]);
        for (about, of) in both(&lines) {
            let told = format!(", by {way}");
            assert!(about.starts_with("libfabric 1.") && about.contains(&told), "{about}");
            assert_eq!(granted(&of, "libfabric.provider"), provider);
        }
    }
}

#[test]
fn between_hosts_every_byte_of_libfabric_crosses() {
    let lines = measured("network.libfabric", &["libfabric.eager-limit=8KiB"], &[("FI_PROVIDER", "shm")]);
    for (step, came, moved) in crossed(&lines) {
        assert!(is_all(&moved, came), "{moved:?} of {came}: {step}");
    }
    for (about, of) in both(&lines) {
        assert!(about.contains(", by tcp;ofi_rxm at "), "{about}");
        assert_eq!(granted(&of, "libfabric.provider"), "tcp");
        assert!(granted(&of, "libfabric.eager-limit").is_null(), "no call tells it");
    }
}

#[test]
fn what_goes_past_the_network_is_refused() {
    for (rung, past) in [
        ("network.ucx", "ucx.environment=UCX_TLS=posix,sysv UCX_NET_DEVICES=all"),
        ("network.libfabric", "libfabric.provider=shm"),
    ] {
        let folder = TempDir::new().unwrap();
        let output = on_rung(folder.path(), rung, &[past]).args(SHORT).output().unwrap();
        let text = words(&output);
        assert!(!output.status.success() && text.contains("it took another way than the network"), "{text}");
        nobody_is_left(folder.path());
    }
}

#[test]
fn variables_on_no_record_change_nothing() {
    let lines = measured("in-host.ucx", &[], &[("UCX_TLS", "tcp"), ("UCX_RNDV_THRESH", "4321")]);
    for (_, of) in both(&lines) {
        assert_ne!(granted(&of, "ucx.transports"), "tcp");
        assert_ne!(granted(&of, "ucx.eager-limit"), "4321");
    }
}

/// A host whose loader knows no library but those of this folder.
fn with_only(folder: &Path, rung: &str) -> (Output, Duration) {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let loader = bin.join("ldconfig");
    std::fs::write(&loader, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&loader, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = on_rung(folder, rung, &[]);
    command.args(SHORT).env("PATH", path).env("LD_LIBRARY_PATH", folder.join("lib"));
    let begun = Instant::now();
    let output = command.output().unwrap();
    nobody_is_left(folder);
    (output, begun.elapsed())
}

/// One that is made of this source.
fn made(name: &str, source: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let (lib, file) = (folder.path().join("lib"), folder.path().join("source.c"));
    std::fs::create_dir(&lib).unwrap();
    std::fs::write(&file, source).unwrap();
    let mut gcc = Command::new("gcc");
    let status = gcc.args(["-shared", "-fPIC", "-o"]).arg(lib.join(name)).arg(&file).status().unwrap();
    assert!(status.success());
    folder
}

#[test]
fn a_missing_library_is_told_with_its_package() {
    for (rung, package) in
        [("in-host.ucx", "apt-get install libucx0"), ("network.libfabric", "apt-get install libfabric1")]
    {
        let folder = TempDir::new().unwrap();
        let (output, _) = with_only(folder.path(), rung);
        let text = words(&output);
        assert!(!output.status.success(), "{text}");
        assert!(text.contains("was not found on this host") && text.contains(package), "{text}");
    }
}

#[test]
fn a_broken_library_is_told_in_time() {
    let version = "const char *ucp_get_version_string(void) { return \"1.99\"; }";
    let (output, _) = with_only(made("libucp.so.0", version).path(), "in-host.ucx");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("dlsym") && text.contains("ucp_"), "{text}");

    let calls =
        ["ucp_worker_get_address", "ucp_worker_release_address", "ucp_ep_create", "ucp_worker_progress"];
    let more =
        ["ucp_tag_send_nbx", "ucp_tag_recv_nbx", "ucp_request_check_status", "ucp_tag_recv_request_test"];
    let rest =
        ["ucp_request_free", "ucp_ep_close_nbx", "ucp_worker_destroy", "ucp_cleanup", "ucp_ep_print_info"];
    let last = ["ucp_config_release", "ucp_init_version", "ucp_worker_create"];
    let all = calls.iter().chain(&more).chain(&rest).chain(&last);
    let all: String = all.map(|call| format!("char {call}(void) {{ return 0; }}\n")).collect();
    for (begin, says) in [
        ("#include <stdlib.h>\nchar ucp_config_read(void) { abort(); }", "signal: 6"),
        ("#include <unistd.h>\nchar ucp_config_read(void) { for (;;) pause(); }", "gave no answer for 15 s"),
        (
            "#include <stdio.h>\nchar ucp_config_read(void) { puts(\"no room here\"); fflush(stdout); return -4; }",
            "UCS_ERR_NO_MEMORY; its rank said: no room here",
        ),
    ] {
        let folder = made("libucp.so.0", &format!("{begin}\n{version}\n{all}"));
        let (output, took) = with_only(folder.path(), "in-host.ucx");
        let text = words(&output);
        assert!(!output.status.success() && text.contains(says), "{says}: {text}");
        assert!(took < Duration::from_secs(60), "{took:?}");
    }
}

/// A run in its middle, and a rank of it that plays.
fn begun(folder: &Path, rung: &str) -> (Child, u32) {
    in_the_middle(&mut long(folder, rung, "polling"), folder, "endpoint")
}

/// A rank of this rung that gets a signal is on record, and nothing is left.
fn is_told(rung: &str, signal: &str) -> String {
    let folder = TempDir::new().unwrap();
    let (run, rank) = begun(folder.path(), rung);
    let why = disturbed(run, folder.path(), rank, signal, 40);
    nobody_is_left(folder.path());
    why
}

#[test]
fn a_killed_rank_is_on_record() {
    // Who waits for a rank is the same for both libraries, within a host and between two.
    for rung in ["in-host.ucx", "network.libfabric"] {
        let why = is_told(rung, "-KILL");
        assert!(why.contains("signal: 9"), "{why}");
    }
}

#[test]
#[ignore = "waits long for what mpi waits for in the same way: ./test --long"]
fn a_hung_rank_is_on_record() {
    is_told("network.ucx", "-STOP");
}

/// What a library leaves in shared memory that has a name.
fn named_memory() -> Vec<PathBuf> {
    let all = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    all.map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains("ucx")).collect()
}

#[test]
fn a_run_that_is_killed_leaves_no_rank_behind() {
    let before = named_memory();
    let folder = TempDir::new().unwrap();
    let (mut run, _) = begun(folder.path(), "in-host.ucx");
    run.kill().unwrap();
    run.wait().unwrap();
    nobody_is_left(folder.path());
    assert_eq!(named_memory(), before);
}

/// A rank that this test is the end of.
struct Rank {
    child: Child,
    stream: UnixStream,
}

impl Rank {
    fn start(name: &str, file: &str) -> Rank {
        let home = format!("linerate-test-{}-{name}", std::process::id());
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&home).unwrap()).unwrap();
        let asked = json!({ "name": name, "file": file, "home": home, "at": null });
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.arg("endpoint").arg(asked.to_string()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        listener.set_nonblocking(true).unwrap();
        let mut stream = loop {
            if let Ok((stream, _)) = listener.accept() {
                break stream;
            }
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "the rank has not called: {ended:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        Rank { child, stream }
    }

    /// Its answer; none where it is gone.
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.stream, "{request}").unwrap();
        let mut line = String::new();
        let read = BufReader::new(&self.stream).read_line(&mut line);
        (read.is_ok_and(|read| read > 0)).then(|| serde_json::from_str(&line).unwrap())
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_address_that_is_none_ends_at_most_the_rank() {
    for (name, file) in [("ucx", "libucp.so.0"), ("libfabric", "libfabric.so.1")] {
        for garbage in
            [vec![], vec![0; 3], vec![0xff; 16 << 10], (0..=255).cycle().take(5000).collect::<Vec<u8>>()]
        {
            let mut rank = Rank::start(name, file);
            let own = rank.ask("address", &Value::Null).unwrap();
            assert!(!own["result"].as_array().unwrap().is_empty(), "{own}");
            let connect = json!({ "address": garbage, "first": true });
            if let Some(answer) = rank.ask("connect", &connect) {
                assert!(answer["error"].is_object(), "{answer}");
            }
        }
        let mut rank = Rank::start(name, file);
        let answer = rank.ask("connect", &json!({ "address": "far away", "first": 7 })).unwrap();
        assert!(answer["error"].is_object(), "{answer}");
        let answer = rank.ask("play", &json!({})).unwrap();
        assert!(answer["error"].is_object(), "{answer}");
    }
}
