//! The documentation as a site: it builds without a warning, every page is in the menu, every link and anchor
//! leads somewhere, and nothing is loaded from another host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The top of the repository.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize().unwrap()
}

/// What `mkdocs build` says when all is well.
const SAID: [&str; 3] =
    ["Cleaning site directory", "Building documentation to directory", "Documentation built in"];

/// The site's files by their path below its folder, and what the building said beside [`SAID`].
struct Site {
    files: BTreeMap<PathBuf, Vec<u8>>,
    complaints: Vec<String>,
}

/// The site, built anew; none where MkDocs is not installed.
fn site() -> Option<Site> {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new("mkdocs");
    command.args(["build", "--strict", "--config-file"]).arg(root().join("mkdocs.yml"));
    let output = match command.arg("--site-dir").arg(folder.path()).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let usual = |line: &&str| !line.trim().is_empty() && !SAID.iter().any(|usual| line.contains(usual));
    let complaints = said.lines().filter(usual).map(String::from).collect();
    let mut files = BTreeMap::new();
    read(folder.path(), folder.path(), &mut files);
    Some(Site { files, complaints })
}

fn read(top: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(top, &path, files);
        } else {
            files.insert(path.strip_prefix(top).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
}

impl Site {
    /// The files with an ending, as text.
    fn texts(&self, ending: &str) -> impl Iterator<Item = (&Path, String)> {
        let wanted = move |path: &Path| path.extension().is_some_and(|found| found == ending);
        let files = self.files.iter().filter(move |(path, _)| wanted(path));
        files.map(|(path, bytes)| (path.as_path(), String::from_utf8_lossy(bytes).into_owned()))
    }

    /// Where a link on a page leads: a file of the site and an anchor in it.
    fn resolve(page: &Path, link: &str) -> (PathBuf, String) {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target =
            if file.is_empty() { page.to_owned() } else { page.parent().unwrap_or(Path::new("")).join(file) };
        let mut path = PathBuf::new();
        for part in target.components() {
            match part {
                Component::ParentDir => {
                    assert!(path.pop(), "{}: {link} leads out of the site", page.display())
                }
                Component::CurDir => (),
                part => path.push(part),
            }
        }
        if path.as_os_str().is_empty() {
            path.push("index.html");
        }
        (path, anchor.to_owned())
    }
}

/// The values of an attribute on a page.
fn attributes<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!(" {name}=\"");
    text.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Whether an address is on another host, or none that a page could be read from.
fn elsewhere(link: &str) -> bool {
    link.starts_with("//") || link.contains("://") || link.starts_with("mailto:")
}

/// What a page loads by itself: scripts, pictures, style sheets, frames.
fn loaded(text: &str) -> Vec<&str> {
    let linked = text.split("<link ").skip(1).filter_map(|rest| rest.split('>').next());
    let styles = linked.flat_map(|tag| tag.split("href=\"").skip(1));
    let styles = styles.filter_map(|rest| rest.split('"').next());
    attributes(text, "src").into_iter().chain(styles).collect()
}

#[test]
fn the_site_builds_without_a_word_of_complaint() {
    let Some(site) = site() else {
        return println!("SKIP: the_site_builds_without_a_word_of_complaint: mkdocs is not installed");
    };
    assert!(site.complaints.is_empty(), "{}", site.complaints.join("\n"));
}

#[test]
fn every_page_is_in_the_menu() {
    let Some(site) = site() else {
        return println!("SKIP: every_page_is_in_the_menu: mkdocs is not installed");
    };
    let home = String::from_utf8_lossy(&site.files[Path::new("index.html")]).into_owned();
    let menu =
        home.split("<!-- Main navigation -->").nth(1).and_then(|rest| rest.split("role=\"main\"").next());
    let menu: BTreeSet<_> = attributes(menu.unwrap(), "href").into_iter().collect();
    let mut sources = BTreeMap::new();
    read(&root().join("docs"), &root().join("docs"), &mut sources);
    let pages: Vec<_> = sources.keys().filter_map(|path| path.to_str()).collect();
    let pages: Vec<_> = pages.into_iter().filter(|path| path.ends_with(".md")).collect();
    assert!(pages.len() > 30, "{pages:?}");
    for page in pages {
        let file = page.replace("README.md", "index.html").replace(".md", ".html");
        let linked = menu.contains(file.as_str()) || file == "index.html";
        assert!(linked, "docs/{page} is not in the menu: add it to `nav` in mkdocs.yml");
    }
}

#[test]
fn every_link_and_anchor_leads_somewhere() {
    let Some(site) = site() else {
        return println!("SKIP: every_link_and_anchor_leads_somewhere: mkdocs is not installed");
    };
    let anchors: BTreeMap<_, BTreeSet<_>> = site
        .texts("html")
        .map(|(path, text)| (path, attributes(&text, "id").into_iter().map(String::from).collect()))
        .collect();
    let mut followed = 0;
    // The page of a missing page cannot know from which folder it is shown.
    for (page, text) in site.texts("html").filter(|(page, _)| *page != Path::new("404.html")) {
        for link in attributes(&text, "href").into_iter().filter(|link| !elsewhere(link)) {
            let (path, anchor) = Site::resolve(page, link);
            assert!(site.files.contains_key(&path), "{}: {link} leads to no page", page.display());
            let known = anchor.is_empty() || anchors[path.as_path()].contains(&anchor);
            assert!(known, "{}: {link} leads to no heading", page.display());
            followed += 1;
        }
    }
    assert!(followed > 1000, "only {followed} links were found: is the theme another one?");
}

#[test]
fn nothing_is_loaded_from_another_host() {
    let Some(site) = site() else {
        return println!("SKIP: nothing_is_loaded_from_another_host: mkdocs is not installed");
    };
    for (page, text) in site.texts("html") {
        let found = loaded(&text);
        assert!(!found.is_empty(), "{} loads no style sheet", page.display());
        for address in found {
            assert!(!elsewhere(address), "{} loads {address}", page.display());
            let missing =
                page != Path::new("404.html") && !site.files.contains_key(&Site::resolve(page, address).0);
            assert!(!missing, "{} loads {address}, which is not in the site", page.display());
        }
    }
    for (sheet, text) in site.texts("css") {
        let loads = text.split("url(").skip(1).filter_map(|rest| rest.split(')').next());
        let loads = loads.map(|address| address.trim_matches(['"', '\'', ' ']));
        for address in loads.filter(|address| !address.starts_with("data:")) {
            assert!(!elsewhere(address), "{} loads {address}", sheet.display());
        }
        assert!(!text.contains("@import"), "{} imports another sheet", sheet.display());
    }
}

#[test]
fn what_a_page_loads_and_links_is_told_apart() {
    let page =
        r#"<link href="a.css" rel="stylesheet"><script src="//x/y.js"></script><a href="https://x">x</a>"#;
    assert_eq!(loaded(page), ["//x/y.js", "a.css"]);
    assert_eq!(attributes(page, "href"), ["a.css", "https://x"]);
    assert!(elsewhere("//x/y.js") && elsewhere("https://x") && !elsewhere("../a.html#b"));
    let (path, anchor) = Site::resolve(Path::new("method/ab.html"), "../compare.html#memory");
    assert_eq!((path.to_str(), anchor.as_str()), (Some("compare.html"), "memory"));
}
