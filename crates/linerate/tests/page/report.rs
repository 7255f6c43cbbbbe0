//! The page of a report, opened as a reader opens it.

use super::browser::Browser;
use super::tab::{NARROW, Page, View, WIDE, sheets};
use crate::user::runs::recording;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

/// The largest page, in bytes.
const LARGEST: usize = 8 << 20;
/// A sheet of A4 without its margins, in pixels of 1/96 inch.
const SHEET_HEIGHT: f64 = 1000.0;

fn linerate(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_linerate")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A run of the made-up machine and its page, made once for all tests of a run, which are processes.
fn made() -> &'static (PathBuf, PathBuf) {
    static MADE: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
        let lock = File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        let run = std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| std::process::id().to_string());
        let (mark, page) = (folder.join("made-for"), folder.join("page.html"));
        if std::fs::read_to_string(&mark).unwrap_or_default() != run {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).unwrap();
            linerate(&["run", "simulated", "--profile", "quick", "--quiet", "--output", text(&folder)]);
            linerate(&["report", text(&recording(&folder)), "--format", "html", "--output", text(&page)]);
            std::fs::write(&mark, run).unwrap();
        }
        (recording(&folder), page)
    })
}

/// Opens the page with every chart drawn.
fn drawn(browser: &Browser, view: View) -> Page {
    let shown = browser.open(&made().1, view);
    shown
        .wait("[...document.querySelectorAll('figure.chart')].every(chart => chart.dataset.drawn == 'true')");
    shown
}

/// Writes a picture into the folder that `PAGE_PICTURES` names, to be looked at.
fn keep(name: &str, picture: impl FnOnce() -> Vec<u8>) {
    if let Some(folder) = std::env::var_os("PAGE_PICTURES") {
        std::fs::write(PathBuf::from(folder).join(name), picture()).unwrap();
    }
}

/// A figure of the page by its id.
fn chart(id: &str) -> String {
    format!("figure.chart[data-chart='{id}']")
}

/// The ends of the horizontal axis.
fn ends(shown: &Page, id: &str) -> (f64, f64) {
    let ends = shown.eval(&format!("linerate.charts['{id}'].zoom.x"));
    (ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap())
}

#[test]
fn every_chart_is_drawn_and_nothing_is_asked_for() {
    let Some(browser) = Browser::start("every_chart_is_drawn_and_nothing_is_asked_for") else { return };
    for view in [WIDE, NARROW.dark()] {
        let shown = drawn(&browser, view);
        let charts = shown.eval("document.querySelectorAll('figure.chart').length").as_u64().unwrap();
        assert!(charts >= 4, "{charts} charts");
        assert_eq!(shown.eval("Object.values(linerate.charts).filter(chart => chart.drawn).length"), charts);
        assert_eq!(shown.eval("document.querySelectorAll('figure.chart details.data table').length"), charts);
        assert_eq!(
            shown.eval("Object.values(linerate.charts).filter(chart => chart.seriesCount == 0).length"),
            0
        );
        // A canvas on which every pixel is the same shows nothing.
        let blank = "[...document.querySelectorAll('.plot canvas')].filter(canvas => {
            const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
            return pixels.every(pixel => pixel == pixels[0]); }).length";
        assert_eq!(shown.eval(blank), 0, "a chart is blank");
        assert_eq!((shown.troubles(), shown.requests()), (vec![], vec![]));
    }
    assert!(std::fs::read(&made().1).unwrap().len() <= LARGEST);
}

#[test]
fn a_point_is_told_by_mouse_and_keys() {
    let Some(browser) = Browser::start("a_point_is_told_by_mouse_and_keys") else { return };
    let shown = drawn(&browser, WIDE);
    let chart = chart("throughput");
    let tip = format!("document.querySelector(\"{chart} .tip\")");
    let told = format!("!{tip}.hidden && /b\\/s.* to .*95 %/.test({tip}.textContent)");
    shown.middle(&format!("{chart} .plot"));
    let place = shown.eval(&format!(
        "(() => {{ const plot = document.querySelector(\"{chart} .plot\"), box = plot.getBoundingClientRect();
            const figure = JSON.parse(document.getElementById('figures').textContent).find(one => one.id == 'throughput');
            const point = figure.series.find(one => one.shown).points.find(one => one.low !== null);
            const [x, y] = echarts.getInstanceByDom(plot).convertToPixel({{gridIndex: 0}}, [linerateCharts.to(figure.x, point.x), linerateCharts.to(figure.y, point.y)]);
            return [box.x + x, box.y + y]; }})()"
    ));
    shown.hover((place[0].as_f64().unwrap(), place[1].as_f64().unwrap()));
    shown.wait(&told);
    shown.hover((1.0, 1.0));
    shown.wait(&format!("{tip}.hidden"));
    shown.focus(&format!("{chart} .plot"));
    shown.press("ArrowRight");
    shown.wait(&told);
    let first = shown.eval(&format!("{tip}.textContent"));
    shown.press("ArrowRight");
    shown.wait(&format!("{tip}.textContent != {first}"));
    shown.press("Escape");
    shown.wait(&format!("{tip}.hidden"));
}

#[test]
fn a_zoom_changes_the_axis_until_reset() {
    let Some(browser) = Browser::start("a_zoom_changes_the_axis_until_reset") else { return };
    let shown = drawn(&browser, WIDE);
    let plot = format!("{} .plot", chart("throughput"));
    let whole = ends(&shown, "throughput");
    let narrower = |now: (f64, f64)| now.0 > whole.0 && now.1 < whole.1;
    shown.focus(&plot);
    shown.press("+");
    shown.wait("linerate.charts.throughput.zoomed");
    assert!(narrower(ends(&shown, "throughput")), "{:?}", ends(&shown, "throughput"));
    shown.click(&format!("{} button.reset", chart("throughput")));
    shown.wait("!linerate.charts.throughput.zoomed");
    assert_eq!(ends(&shown, "throughput"), whole);
    let (x, y) = shown.middle(&plot);
    shown.drag((x - 80.0, y - 60.0), (x + 80.0, y + 60.0));
    shown.wait("linerate.charts.throughput.zoomed");
    assert!(narrower(ends(&shown, "throughput")), "{:?}", ends(&shown, "throughput"));
    shown.focus(&plot);
    shown.press("0");
    shown.wait("!linerate.charts.throughput.zoomed");
    assert_eq!(ends(&shown, "throughput"), whole);
    assert_eq!(shown.troubles(), [""; 0]);
}

#[test]
fn a_series_is_hidden_and_shown_by_its_button() {
    let Some(browser) = Browser::start("a_series_is_hidden_and_shown_by_its_button") else { return };
    let shown = drawn(&browser, WIDE);
    let toggle = format!("{} .legend button.toggle[aria-pressed='true']", chart("throughput"));
    let visible = || shown.eval("linerate.charts.throughput.visible").as_array().unwrap().clone();
    let name = shown.eval(&format!("document.querySelector(\"{toggle}\").textContent"));
    assert!(visible().contains(&name), "{name} is not among {:?}", visible());
    shown.click(&toggle);
    shown.wait(&format!("!linerate.charts.throughput.visible.includes({name})"));
    let hidden = format!("{} .legend button.toggle[aria-pressed='false']", chart("throughput"));
    let buttons =
        shown.eval(&format!("[...document.querySelectorAll(\"{hidden}\")].map(one => one.textContent)"));
    assert!(buttons.as_array().unwrap().contains(&name), "{buttons}");
    shown.eval(&format!(
        "[...document.querySelectorAll(\"{hidden}\")].find(one => one.textContent == {name}).click()"
    ));
    assert!(visible().contains(&name), "{:?}", visible());
}

#[test]
fn nothing_hinders_a_reader() {
    let Some(browser) = Browser::start("nothing_hinders_a_reader") else { return };
    let mut found = Vec::new();
    for view in [WIDE, WIDE.dark(), NARROW, NARROW.dark()] {
        let shown = drawn(&browser, view);
        let name = format!("{}-{}", view.width, if view.dark { "dark" } else { "light" });
        keep(&format!("{name}.png"), || shown.screenshot());
        shown.eval("document.querySelectorAll('details').forEach(one => { one.open = true; })");
        found.extend(shown.barriers().into_iter().map(|barrier| format!("{name}: {barrier}")));
        assert_eq!(shown.overhang(), 0, "{view:?} is wider than its window");
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn the_printed_page_has_every_figure_whole() {
    let Some(browser) = Browser::start("the_printed_page_has_every_figure_whole") else { return };
    let shown = drawn(&browser, WIDE);
    let pdf = shown.pdf();
    keep("page.pdf", || pdf.clone());
    assert!(sheets(&pdf) > 1 && pdf.len() > 50_000, "{} sheets, {} bytes", sheets(&pdf), pdf.len());
    shown.print_media();
    shown.eval("dispatchEvent(new Event('beforeprint'))");
    shown.wait(
        "[...document.querySelectorAll('.picture')].every(one => one.complete && one.naturalWidth > 0)",
    );
    let figures = shown.eval(
        "[...document.querySelectorAll('figure.chart')].map(figure => {
            const picture = figure.querySelector('.picture');
            const around = [];
            for (let one = picture; one != figure.parentElement; one = one.parentElement) around.push(getComputedStyle(one).breakInside);
            return [figure.dataset.chart, picture.getBoundingClientRect().height, around.some(one => one.startsWith('avoid'))]; })",
    );
    for figure in figures.as_array().unwrap() {
        let height = figure[1].as_f64().unwrap();
        assert!(height > 50.0 && height < SHEET_HEIGHT && figure[2] == true, "{figure} may be cut");
    }
}

#[test]
fn the_pages_data_are_the_other_formats() {
    let Some(browser) = Browser::start("the_pages_data_are_the_other_formats") else { return };
    let shown = browser.open(&made().1, WIDE);
    let links = shown
        .eval("[...document.querySelectorAll('#data a[download]')].map(link => [link.download, link.href])");
    let held = |ending: &str| {
        let mut links = links.as_array().unwrap().iter();
        let link = links.find(|link| link[0].as_str().unwrap().ends_with(ending)).unwrap();
        let (_, data) = link[1].as_str().unwrap().split_once("base64,").unwrap();
        String::from_utf8(BASE64_STANDARD.decode(data).unwrap()).unwrap()
    };
    let printed = |format: &str| linerate(&["report", text(&made().0), "--format", format]);
    let (json, csv) = (held(".json"), held(".csv"));
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(value(&json), value(&printed("json")));
    assert_eq!(csv.trim_end(), printed("csv").trim_end());
    let parsed: Value = serde_json::from_str(&json).unwrap();
    assert!(parsed["schema"].as_str().unwrap().starts_with("linerate.report/"));
    assert!(csv::Reader::from_reader(csv.as_bytes()).records().all(|row| row.is_ok()));
}

#[test]
fn without_scripts_the_page_says_as_much() {
    let Some(browser) = Browser::start("without_scripts_the_page_says_as_much") else { return };
    let shown = browser.open(&made().1, View { scripts: false, ..WIDE });
    let answer = linerate(&["report", text(&made().0), "--format", "json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let said = shown.eval("document.querySelector('.answer').textContent");
    // A per cent stays on the line of its number.
    let said = said.as_str().unwrap().trim().replace('\u{a0}', " ");
    assert_eq!(said, answer["sentence"].as_str().unwrap());
    let pictures = "[...document.querySelectorAll('figure.chart .picture')]";
    shown.wait(&format!("{pictures}.every(one => one.complete)"));
    assert_eq!(
        shown.eval(&format!(
            "{pictures}.filter(one => one.naturalWidth == 0 || !one.checkVisibility()).length"
        )),
        0
    );
    assert_eq!(
        shown.eval("[...document.querySelectorAll('.tools')].filter(one => one.checkVisibility()).length"),
        0
    );
    let rows = shown.eval("document.querySelectorAll('figure.chart details.data tbody tr').length");
    assert!(rows.as_u64().unwrap() > 20, "{rows} rows");
}

#[test]
fn two_recordings_stand_beside_each_other() {
    let Some(browser) = Browser::start("two_recordings_stand_beside_each_other") else { return };
    let recording = text(&made().0);
    let path = made().1.with_file_name("two.html");
    linerate(&["report", recording, recording, "--format", "html", "--output", text(&path)]);
    let shown = browser.open(&path, WIDE);
    shown.wait("linerate.charts.throughput?.drawn");
    assert_eq!(shown.eval("document.querySelectorAll('.answer').length"), 2);
    let names = shown.eval("linerate.charts.throughput.visible.join('|')");
    let names = names.as_str().unwrap();
    assert!(names.contains('A') && names.contains('B'), "{names}");
    assert_eq!((shown.troubles(), shown.requests()), (vec![], vec![]));
    assert_eq!(shown.barriers(), [""; 0]);
}

#[test]
fn a_page_of_many_points_opens() {
    let Some(browser) = Browser::start("a_page_of_many_points_opens") else { return };
    let page = std::fs::read_to_string(&made().1).unwrap();
    let begin = "<script id=\"figures\" type=\"application/json\">";
    let (head, rest) = page.split_once(begin).unwrap();
    let (figures, tail) = rest.split_once("</script>").unwrap();
    let mut figures: Value = serde_json::from_str(figures).unwrap();
    let mut all = figures.as_array_mut().unwrap().iter_mut();
    let throughput = all.find(|figure| figure["id"] == "throughput").unwrap();
    let value = |point: u32| f64::from(point % 997) * 1e7 + 1e9;
    let point = |point: u32| Value::from(vec![f64::from(point % 23).exp2(), value(point)]);
    let points: Vec<Value> = (0..100_000).map(point).collect();
    throughput["series"][0]["raw"] = Value::Array(points);
    let path = made().1.with_file_name("many.html");
    std::fs::write(&path, format!("{head}{begin}{figures}</script>{tail}")).unwrap();
    let before = Instant::now();
    let shown = browser.open(&path, WIDE);
    shown.eval("document.querySelector(\"figure.chart[data-chart='throughput']\").scrollIntoView()");
    shown.wait("linerate.charts.throughput?.drawn");
    println!("a page of 100000 points was drawn after {:.1} s", before.elapsed().as_secs_f64());
    assert_eq!(shown.troubles(), [""; 0]);
}
