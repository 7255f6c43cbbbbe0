//! How fast one core seals, by the library that OpenSSH seals with.

use crate::transport::foreign::library::bounded_output;
use std::collections::BTreeMap;
use std::process::Command;

/// How long each is tried, and by how much at once: a packet of ssh has 32 KiB at most, and OpenSSL's own table goes to 16.
const SECONDS: &str = "1";
const BYTES: &str = "16384";

/// Bytes a second of each cipher; without those that `openssl` does not tell.
pub fn one_core(ciphers: impl Iterator<Item = &'static str>) -> BTreeMap<String, f64> {
    ciphers.filter_map(|cipher| Some((cipher.to_owned(), speed(cipher)?))).collect()
}

fn speed(cipher: &str) -> Option<f64> {
    let mut command = Command::new("openssl");
    command.args(["speed", "-mr", "-seconds", SECONDS, "-bytes", BYTES, "-evp", cipher]);
    let (lines, _) = bounded_output::lines(command, "openssl speed", |_| false).ok()?;
    speed_in(&lines.join("\n"))
}

/// The last field of the line that begins with `+F:`, as `-mr` has it.
fn speed_in(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("+F:"))?;
    line.rsplit(':').next()?.trim().parse().ok().filter(|speed: &f64| speed.is_finite() && *speed > 0.0)
}

#[cfg(test)]
mod tests {
    use super::speed_in;

    #[test]
    fn the_speed_is_the_last_field() {
        // As OpenSSL 3.0.19 prints it.
        let text = "+H:16384\n+F:25:ChaCha20-Poly1305:1766883328.00\n";
        assert_eq!(speed_in(text), Some(1_766_883_328.0));
        assert_eq!([speed_in(""), speed_in("+F:25:x:no"), speed_in("+F:25:x:-1")], [None; 3]);
    }
}
