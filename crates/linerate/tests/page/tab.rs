//! One open page: what it said, what it asked for, and what a user would do with it.

use super::browser::PATIENCE;
use super::devtools::DevTools;
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// axe-core; see README.md.
pub const AXE: &str = include_str!("axe.min.js");

/// How a page is looked at.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Columns of pixels.
    pub width: u32,
    /// Rows of pixels.
    pub height: u32,
    /// Whether dark colours are preferred.
    pub dark: bool,
    /// Whether the page may run its scripts.
    pub scripts: bool,
}

/// A wide window by day.
pub const WIDE: View = View { width: 1280, height: 900, dark: false, scripts: true };
/// A telephone by day.
pub const NARROW: View = View { width: 390, height: 844, ..WIDE };

impl View {
    /// The same by night.
    pub fn dark(self) -> View {
        View { dark: true, ..self }
    }
}

/// What a page did that its reader did not ask for.
#[derive(Debug, Default)]
struct Seen {
    troubles: Vec<String>,
    requests: Vec<String>,
}

/// An open page.
pub struct Page {
    devtools: Arc<Mutex<DevTools>>,
    session: String,
    seen: Mutex<Seen>,
}

impl Page {
    /// Opens a file in a tab and waits until it is loaded.
    pub fn open(devtools: Arc<Mutex<DevTools>>, path: &Path, view: View) -> Page {
        let browser = |method, parameters| devtools.lock().unwrap().call(None, method, parameters);
        let target = browser("Target.createTarget", json!({"url": "about:blank"}))["targetId"].take();
        let attached = browser("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let page = Page { devtools, session, seen: Mutex::default() };
        for domain in ["Runtime", "Log", "Network", "Page"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        let scheme = if view.dark { "dark" } else { "light" };
        page.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ]}),
        );
        page.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": false}),
        );
        page.call("Emulation.setScriptExecutionDisabled", json!({"value": !view.scripts}));
        let address = format!("file://{}", path.canonicalize().unwrap().display());
        page.call("Page.navigate", json!({"url": address}));
        page.wait(&format!("location.href == {address:?} && document.readyState == 'complete'"));
        page
    }

    fn call(&self, method: &str, parameters: Value) -> Value {
        let mut devtools = self.devtools.lock().unwrap();
        let result = devtools.call(Some(&self.session), method, parameters);
        let mut seen = self.seen.lock().unwrap();
        devtools.events(&self.session).iter().for_each(|event| note(event, &mut seen));
        result
    }

    /// The value of an expression; of a promise, what it comes to.
    pub fn eval(&self, expression: &str) -> Value {
        let mut answer = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {}", about(thrown));
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true.
    pub fn wait(&self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.eval(&format!("Boolean({condition})")) != json!(true) {
            assert!(
                Instant::now() < deadline,
                "never came true: {condition}; {:?}",
                self.seen.lock().unwrap()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Errors, warnings and exceptions.
    pub fn troubles(&self) -> Vec<String> {
        // What was said before now arrives before the answer to this.
        self.eval("0");
        self.seen.lock().unwrap().troubles.clone()
    }

    /// What the page asked for that is not in the page itself, its own file apart.
    pub fn requests(&self) -> Vec<String> {
        let own = self.eval("location.href").as_str().unwrap().to_owned();
        let outside = |address: &&String| {
            **address != own && !["data:", "blob:"].iter().any(|scheme| address.starts_with(scheme))
        };
        self.seen.lock().unwrap().requests.iter().filter(outside).cloned().collect()
    }

    /// The middle of an element, after it was scrolled into view.
    pub fn middle(&self, selector: &str) -> (f64, f64) {
        let place = self.eval(&format!(
            "(() => {{ const it = document.querySelector({selector:?});
                it.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}});
                const box = it.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    fn mouse(&self, kind: &str, (x, y): (f64, f64)) {
        let held = u32::from(kind != "mouseReleased");
        self.call(
            "Input.dispatchMouseEvent",
            json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": held, "clickCount": 1}),
        );
    }

    /// Moves the mouse to a place in the window.
    pub fn hover(&self, (x, y): (f64, f64)) {
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
    }

    /// Presses the mouse at one place, moves it, and lets go at another.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.hover(from);
        self.mouse("mousePressed", from);
        for step in 1..=5 {
            let part = |from: f64, to: f64| from + (to - from) * f64::from(step) / 5.0;
            self.mouse("mouseMoved", (part(from.0, to.0), part(from.1, to.1)));
        }
        self.mouse("mouseReleased", to);
    }

    /// Clicks on the middle of an element.
    pub fn click(&self, selector: &str) {
        let middle = self.middle(selector);
        self.hover(middle);
        self.mouse("mousePressed", middle);
        self.mouse("mouseReleased", middle);
    }

    /// Presses and releases a key: `ArrowRight`, `Escape`, `+`.
    pub fn press(&self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key}));
        }
    }

    /// Gives the keyboard to an element.
    pub fn focus(&self, selector: &str) {
        self.eval(&format!("document.querySelector({selector:?}).focus()"));
    }

    /// What hinders readers, by axe-core: the rule, how bad, what it says, where.
    pub fn barriers(&self) -> Vec<String> {
        self.eval(&format!("{AXE}; 0"));
        let found =
            self.eval("axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)");
        let told = |one: &Value| {
            let places = one["nodes"].as_array().unwrap().iter();
            let places: Vec<_> = places
                .map(|node| node["target"].to_string() + &node["any"][0]["message"].to_string())
                .collect();
            format!("{} ({}): {} {places:#?}", one["id"], one["impact"], one["help"])
        };
        found.as_array().unwrap().iter().map(told).collect()
    }

    /// How many pixels the page is wider than its window.
    pub fn overhang(&self) -> i64 {
        self.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            .as_i64()
            .unwrap()
    }

    /// The whole page as a PNG.
    pub fn screenshot(&self) -> Vec<u8> {
        let size = self.eval("[document.documentElement.clientWidth, document.documentElement.scrollHeight]");
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1});
        let how = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        bytes(&self.call("Page.captureScreenshot", how))
    }

    /// Shows the page as it is laid out for print, at the width of a sheet of A4 with its margins.
    pub fn print_media(&self) {
        self.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
        let sheet = json!({"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", sheet);
    }

    /// The page as it is printed.
    pub fn pdf(&self) -> Vec<u8> {
        bytes(&self.call("Page.printToPDF", json!({"printBackground": true, "preferCSSPageSize": true})))
    }
}

/// How many sheets a printed page has.
pub fn sheets(pdf: &[u8]) -> usize {
    let word = b"/Type /Page";
    let ends = |after: Option<&u8>| after.is_none_or(|byte| *byte != b's');
    let found = |at: &usize| pdf[*at..].starts_with(word) && ends(pdf.get(at + word.len()));
    (0..pdf.len()).filter(found).count()
}

/// What an answer holds as text that stands for bytes.
fn bytes(answer: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
}

/// What was thrown.
fn about(thrown: &Value) -> String {
    format!("{} {}", thrown["text"], thrown["exception"]["description"])
}

fn note(event: &Value, seen: &mut Seen) {
    let parameters = &event["params"];
    let is_bad = |kind: &Value| ["error", "warning", "assert"].iter().any(|bad| kind == bad);
    match event["method"].as_str().unwrap_or_default() {
        "Runtime.consoleAPICalled" if is_bad(&parameters["type"]) => {
            seen.troubles.push(format!("{}: {}", parameters["type"], parameters["args"]));
        }
        "Runtime.exceptionThrown" => {
            seen.troubles.push(format!("exception: {}", about(&parameters["exceptionDetails"])));
        }
        "Log.entryAdded" if is_bad(&parameters["entry"]["level"]) => {
            seen.troubles.push(format!("log: {}", parameters["entry"]["text"]));
        }
        "Network.requestWillBeSent" => {
            seen.requests.push(parameters["request"]["url"].as_str().unwrap().to_owned());
        }
        _ => {}
    }
}
