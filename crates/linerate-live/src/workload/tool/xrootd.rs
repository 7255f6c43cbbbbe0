//! xrdcp, the client of XRootD.

use super::service::Service;
use super::site::Site;
use super::{Tool, words};
use crate::Result;

/// The tool.
pub static XRDCP: Tool = Tool { best: Some(&BEST), ..SHIPPED };

/// Connections beside the first one of a session.
static BEST: Tool = Tool { flags: "-S 8", streams: &[8], ..SHIPPED };

const SHIPPED: Tool = Tool {
    name: "xrdcp",
    about: "xrdcp to an xrootd",
    programs: &["xrdcp", "xrootd", "unshare"],
    packages: "xrootd-client xrootd-server util-linux",
    streams: &[1, 2, 4],
    seals: false,
    pulls: false,
    flags: "",
    best: None,
    sealing: None,
    paper: &[],
    service: &Service { name: "xrootd", words: server },
    words: |site, streams| {
        let to = format!("root://{}:{}/{}", site.host(), site.port, site.destination());
        words(["xrdcp", "-f", "--nopbar", "-S", &streams.to_string(), &site.source(), &to])
    },
    folder: None,
};

fn server(site: &Site) -> Result<Vec<String>> {
    let (to, port, own) = (site.destination_folder(), site.port, site.path("xrootd"));
    let text = format!(
        "all.export {to}\nxrd.port {port}\nall.adminpath {own}\nall.pidpath {own}\nofs.persist off\n",
    );
    let config = site.write("xrootd.cfg", &text)?.display().to_string();
    Ok([Site::as_another(), words(["xrootd", "-c", &config, "-l", &site.path("xrootd.log")])].concat())
}
