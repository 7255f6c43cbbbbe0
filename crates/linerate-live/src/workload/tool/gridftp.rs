//! GridFTP, as the Grid Community Toolkit has it: any number of parallel streams, unsealed.

use super::service::Service;
use super::site::Site;
use super::{Tool, words};

const SHIPPED: Tool = Tool {
    name: "gridftp",
    about: "globus-url-copy, the client of GridFTP",
    programs: &["globus-url-copy", "globus-gridftp-server", "unshare"],
    packages: "globus-gass-copy-progs globus-gridftp-server-progs util-linux",
    streams: &[1, 2, 4],
    seals: false,
    pulls: false,
    flags: "",
    best: None,
    sealing: None,
    paper: &[(1, "GridFTP p=1"), (2, "GridFTP p=2"), (4, "GridFTP p=4")],
    service: &Service {
        name: "globus-gridftp-server",
        words: |site| {
            let server = super::program("globus-gridftp-server", &[]);
            let server = server.map_or("globus-gridftp-server".into(), |path| path.display().to_string());
            let (port, data) = (site.port.to_string(), site.address.to_string());
            let server = words([&server, "-p", &port, "-aa", "-c", "none", "-data-interface", &data]);
            Ok([Site::as_another(), server].concat())
        },
    },
    words: |site, streams| copy(site, streams, &[], ""),
    folder: Some(|site, streams| copy(site, streams, &["-r", "-cd"], "/")),
};

/// The tool.
pub static GRIDFTP: Tool = Tool { best: Some(&BEST), ..SHIPPED };

/// Channels stay open, blocks are large; of small files several go at once.
static BEST: Tool = Tool {
    streams: &[8],
    flags: "-fast -bs 4M; of a folder -cc 4 too",
    words: |site, streams| copy(site, streams, &["-fast", "-bs", "4M"], ""),
    folder: Some(|site, streams| copy(site, streams, &["-r", "-cd", "-fast", "-bs", "4M", "-cc", "4"], "/")),
    paper: &[],
    ..SHIPPED
};

fn copy(site: &Site, streams: u32, how: &[&str], end: &str) -> Vec<String> {
    let to = format!("ftp://{}:{}{}{end}", site.host(), site.port, site.destination());
    let from = format!("file://{}{end}", site.source());
    let how = how.iter().map(|word| (*word).to_owned());
    words(["globus-url-copy", "-p", &streams.to_string()]).into_iter().chain(how).chain([from, to]).collect()
}
