//! Servers of HTTP and WebDAV for one transfer: those that rclone has.

use super::service::Service;
use super::site::Site;
use super::words;

/// Takes files.
pub static WEBDAV: Service = Service {
    name: "rclone serve webdav",
    words: |site| Ok(serve(site, "webdav", &site.destination_folder())),
};

/// Gives them.
pub static HTTP: Service = Service {
    name: "rclone serve http",
    words: |site| {
        let folder = site.source.parent().map_or("/".into(), |folder| folder.display().to_string());
        Ok(serve(site, "http", &folder))
    },
};

fn serve(site: &Site, kind: &str, folder: &str) -> Vec<String> {
    let place = format!("{}:{}", site.host(), site.port);
    words(["rclone", "--config", "", "serve", kind, "--addr", &place, folder])
}
