//! aria2, which fetches by HTTP in several streams.

use super::web::HTTP;
use super::{Tool, words};

/// The tool.
pub static ARIA2: Tool = Tool { best: Some(&BEST), ..SHIPPED };

/// As many connections as it makes to one server.
static BEST: Tool = Tool { flags: "-x16 -s16 -k1M", streams: &[16], ..SHIPPED };

/// Without its least size of a piece it would take one stream for a small file.
const SHIPPED: Tool = Tool {
    name: "aria2",
    about: "aria2c from rclone's HTTP server",
    programs: &["aria2c", "rclone"],
    packages: "aria2 rclone",
    streams: &[1, 2, 4],
    seals: false,
    pulls: true,
    flags: "",
    best: None,
    sealing: None,
    paper: &[],
    service: &HTTP,
    words: |site, streams| {
        let count = streams.to_string();
        let name = site.source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let from = format!("http://{}:{}/{name}", site.host(), site.port);
        let (folder, to) = (site.destination_folder(), site.destination_name());
        let mut all = words(["aria2c", "--no-conf", "-q", "-x", &count, "-s", &count, "-k", "1M"]);
        all.extend(words(["--file-allocation=falloc", "-d", &folder, "-o", &to, &from]));
        all
    },
    folder: None,
};
