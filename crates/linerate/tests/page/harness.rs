//! That the tests find what they look for: errors, requests, barriers, processes left behind.

use super::browser::{Browser, processes};
use super::tab::{AXE, NARROW, View, WIDE, sheets};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use tempfile::TempDir;

/// A page with a plot, as the report has it.
const SOUND: &str = r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root { color-scheme: light dark; background: Canvas; color: CanvasText; }
.plot { width: 100%; height: 200px; } .tip[hidden] { display: none; } section { break-after: page; }
</style></head><body><main><h1>A page</h1><noscript>No scripts.</noscript><figure class="chart" data-chart="one">
<div class="plot" tabindex="0" role="img" aria-label="a line"></div><div class="tip" hidden></div>
<button class="toggle" aria-pressed="true">a series</button></figure><section>One</section><section>Two</section>
<script>
const plot = document.querySelector('.plot'), tip = document.querySelector('.tip');
const show = text => { tip.textContent = text; tip.hidden = false; };
plot.addEventListener('mousemove', event => show('mouse ' + event.buttons));
plot.addEventListener('keydown', event => show('key ' + event.key));
plot.addEventListener('mouseup', event => show('dragged'));
const button = document.querySelector('button');
button.addEventListener('click', () => button.setAttribute('aria-pressed', 'false'));
document.querySelector('figure').dataset.drawn = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
</script></main></body></html>"#;

/// A file with this text; the folder must outlive it.
fn page(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn a_sound_page_is_found_sound_and_can_be_used() {
    let Some(browser) = Browser::start("a_sound_page_is_found_sound_and_can_be_used") else { return };
    let (_folder, path) = page(SOUND);
    let shown = browser.open(&path, WIDE);
    assert_eq!((shown.troubles(), shown.requests()), (vec![], vec![]));
    assert_eq!(shown.barriers(), [""; 0]);
    let tip = "document.querySelector('.tip').textContent";
    let middle = shown.middle(".plot");
    shown.hover(middle);
    shown.wait(&format!("{tip} == 'mouse 0'"));
    shown.drag(middle, (middle.0 + 100.0, middle.1));
    shown.wait(&format!("{tip} == 'dragged'"));
    shown.focus(".plot");
    shown.press("ArrowRight");
    shown.wait(&format!("{tip} == 'key ArrowRight'"));
    shown.click("button.toggle");
    shown.wait("document.querySelector('.toggle').getAttribute('aria-pressed') == 'false'");
    assert_eq!(sheets(&shown.pdf()), 2);
    let picture = shown.screenshot();
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 1000);
}

#[test]
fn a_page_is_seen_as_its_reader_sees_it() {
    let Some(browser) = Browser::start("a_page_is_seen_as_its_reader_sees_it") else { return };
    let (_folder, path) = page(SOUND);
    let narrow = browser.open(&path, NARROW.dark());
    assert_eq!(
        narrow.eval("[innerWidth, document.querySelector('figure').dataset.drawn]"),
        json!([390, "dark"])
    );
    assert_eq!(narrow.eval("matchMedia('(prefers-reduced-motion: reduce)').matches"), json!(true));
    assert_eq!(narrow.overhang(), 0);
    let silent = browser.open(&path, View { scripts: false, ..WIDE });
    assert_eq!(
        silent.eval("document.querySelector('figure').dataset.drawn ?? 'not drawn'"),
        json!("not drawn")
    );
    assert!(silent.eval("document.body.innerText").as_str().unwrap().contains("No scripts."));
}

#[test]
fn what_is_wrong_with_a_page_is_found() {
    let Some(browser) = Browser::start("what_is_wrong_with_a_page_is_found") else { return };
    let (_folder, path) = page(
        r#"<html><body><img src="http://192.0.2.1/x.png"><p style="color:#aaa;background:#fff;width:2000px">pale</p>
        <script>console.error('said'); fetch('https://example.invalid/y').catch(() => 0);
        setTimeout(() => { undefined.thrown; }, 0);</script></body></html>"#,
    );
    let shown = browser.open(&path, NARROW);
    shown.wait("performance.getEntriesByType('resource').length >= 1");
    let asked = shown.requests().join(" ");
    assert!(asked.contains("192.0.2.1/x.png") && asked.contains("example.invalid/y"), "{asked}");
    let troubles = shown.troubles().join(" ");
    assert!(troubles.contains("said") && troubles.contains("thrown"), "{troubles}");
    let barriers = shown.barriers().join(" ");
    let rules = ["color-contrast", "document-title", "html-has-lang", "image-alt"];
    assert!(rules.iter().all(|rule| barriers.contains(rule)), "{barriers}");
    assert!(shown.overhang() > 1000, "{}", shown.overhang());
}

#[test]
fn no_process_stays_when_a_test_fails() {
    let Some(browser) = Browser::start("no_process_stays_when_a_test_fails") else { return };
    let mark = browser.mark();
    assert!(processes(&mark).len() > 1, "the browser has several processes");
    let failed = std::thread::spawn(move || {
        let (_folder, path) = page(SOUND);
        browser.open(&path, WIDE).eval("nothing.there")
    });
    assert!(failed.join().is_err(), "an expression that throws fails the test");
    assert_eq!(processes(&mark), [""; 0]);
}

#[test]
fn axe_is_the_one_that_was_published() {
    let sum: String = Sha256::digest(AXE).iter().map(|byte| format!("{byte:02x}")).collect();
    let page = include_str!("README.md");
    assert!(page.contains(&sum), "{sum} is not in README.md");
    let version = AXE.lines().next().and_then(|line| line.strip_prefix("/*! axe v")).unwrap();
    assert!(page.contains(&format!("version {version} of the npm package `axe-core`")), "{version}");
}
