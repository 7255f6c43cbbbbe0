//! What NetPIPE's programs are told, and what they print.

/// The words by which a program measures one size, which it perturbs by nothing, and keeps no file.
pub fn words(bytes: u64) -> [String; 8] {
    let size = bytes.to_string();
    ["-l", &size, "-u", &size, "-p", "0", "-o", "/dev/null"].map(String::from)
}

/// Half a round trip in microseconds. A program writes
/// `0:       1 bytes   1568 times -->     17.65 Mbps in       2.67 usec`, to either stream.
pub fn half_us(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_end().ends_with("usec"))?;
    line.split_whitespace().rev().nth(1)?.parse().ok()
}
