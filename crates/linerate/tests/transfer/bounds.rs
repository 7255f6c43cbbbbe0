//! The sentence names what was put into the lab.

use super::{command, told};
use serde_json::Value;
use tempfile::TempDir;

fn bound(target: &str, words: &[&str]) -> Value {
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), target);
    told(&command.args(["memory:4MB", "memory", "--json"]).args(words).output().unwrap())
}

#[test]
fn a_small_window_and_a_slow_link_are_named() {
    let window = bound("lab:delay=10ms", &["--streams", "1", "--set", "socket.receive-buffer=64KiB"]);
    let sentence = window["bound"]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("the window of the receiving host"), "{window}");
    assert!(sentence.contains("a round trip takes 20"), "{sentence}");
    let link = bound("lab:rate=20Mb/s", &[]);
    assert_eq!(link["bound"]["name"], "path", "{link}");
    let rate = link["throughput_bps"].as_f64().unwrap();
    assert!((10e6..20.5e6).contains(&rate), "not beyond the link: {rate}");
}
