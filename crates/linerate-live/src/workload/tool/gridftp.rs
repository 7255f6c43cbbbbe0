//! GridFTP, as the Grid Community Toolkit has it: any number of parallel streams, unsealed.

use super::service::Service;
use super::site::Site;
use super::{Tool, words};

/// The tool.
pub static GRIDFTP: Tool = Tool {
    name: "gridftp",
    about: "globus-url-copy, the client of GridFTP",
    programs: &["globus-url-copy", "globus-gridftp-server", "unshare"],
    packages: "globus-gass-copy-progs globus-gridftp-server-progs util-linux",
    streams: &[1, 2, 4],
    seals: false,
    pulls: false,
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
    words: |site, streams| {
        let to = format!("ftp://{}:{}{}", site.host(), site.port, site.destination());
        let from = format!("file://{}", site.source());
        words(["globus-url-copy", "-p", &streams.to_string(), &from, &to])
    },
    folder: Some(|site, streams| {
        let to = format!("ftp://{}:{}{}/", site.host(), site.port, site.destination());
        let from = format!("file://{}/", site.source());
        words(["globus-url-copy", "-r", "-cd", "-p", &streams.to_string(), &from, &to])
    }),
};
