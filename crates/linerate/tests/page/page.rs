//! One open page: what it said, what it asked for, and what a user would do with it.

use crate::browser::PATIENCE;
use base64::prelude::{BASE64_STANDARD, Engine};
use headless_chrome::Tab;
use headless_chrome::protocol::cdp::types::{Event, Method};
use headless_chrome::protocol::cdp::{Emulation, Input, Network, Page as Pages, Runtime};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::fmt::Debug;
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
    tab: Arc<Tab>,
    seen: Arc<Mutex<Seen>>,
}

impl Page {
    /// Opens a file in a tab and waits until it is loaded.
    pub fn open(tab: Arc<Tab>, path: &Path, view: View) -> Page {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let noted = Arc::clone(&seen);
        tab.add_event_listener(Arc::new(move |event: &Event| note(event, &mut noted.lock().unwrap())))
            .unwrap();
        tab.enable_runtime().unwrap();
        tab.enable_log().unwrap();
        let page = Page { tab, seen };
        page.call::<Network::Enable>(json!({}));
        let scheme = if view.dark { "dark" } else { "light" };
        page.call::<Emulation::SetEmulatedMedia>(json!({"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]}));
        page.call::<Emulation::SetDeviceMetricsOverride>(json!({
            "width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": false,
        }));
        page.call::<Emulation::SetScriptExecutionDisabled>(json!({"value": !view.scripts}));
        let address = format!("file://{}", path.canonicalize().unwrap().display());
        page.tab.navigate_to(&address).unwrap();
        page.wait(&format!("location.href == {address:?} && document.readyState == 'complete'"));
        page
    }

    fn call<C>(&self, parameters: Value) -> C::ReturnObject
    where
        C: Method + Serialize + DeserializeOwned + Debug,
    {
        self.tab.call_method(serde_json::from_value::<C>(parameters).unwrap()).unwrap()
    }

    /// The value of an expression; of a promise, what it comes to.
    pub fn eval(&self, expression: &str) -> Value {
        let answer = self.call::<Runtime::Evaluate>(json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        }));
        if let Some(thrown) = answer.exception_details {
            let about = thrown.exception.and_then(|object| object.description);
            panic!("{expression}: {}", about.unwrap_or(thrown.text));
        }
        answer.result.value.unwrap_or(Value::Null)
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
        self.call::<Input::DispatchMouseEvent>(json!({
            "type": kind, "x": x, "y": y, "button": "left", "buttons": held, "clickCount": 1,
        }));
    }

    /// Moves the mouse to a place in the window.
    pub fn hover(&self, (x, y): (f64, f64)) {
        self.call::<Input::DispatchMouseEvent>(json!({"type": "mouseMoved", "x": x, "y": y}));
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
        self.tab.press_key(key).unwrap();
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
        let picture = self.call::<Pages::CaptureScreenshot>(json!({
            "format": "png", "captureBeyondViewport": true,
            "clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1},
        }));
        BASE64_STANDARD.decode(picture.data).unwrap()
    }

    /// Shows the page as it is laid out for print, at the width of a sheet of A4 with its margins.
    pub fn print_media(&self) {
        self.call::<Emulation::SetEmulatedMedia>(json!({"media": "print"}));
        self.call::<Emulation::SetDeviceMetricsOverride>(json!({
            "width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": false,
        }));
    }

    /// The page as it is printed.
    pub fn pdf(&self) -> Vec<u8> {
        let printed =
            self.call::<Pages::PrintToPDF>(json!({"printBackground": true, "preferCSSPageSize": true}));
        BASE64_STANDARD.decode(printed.data).unwrap()
    }
}

/// How many sheets a printed page has.
pub fn sheets(pdf: &[u8]) -> usize {
    let word = b"/Type /Page";
    let ends = |after: Option<&u8>| after.is_none_or(|byte| *byte != b's');
    let found = |at: &usize| pdf[*at..].starts_with(word) && ends(pdf.get(at + word.len()));
    (0..pdf.len()).filter(found).count()
}

fn note(event: &Event, seen: &mut Seen) {
    match event {
        Event::RuntimeConsoleAPICalled(said) => {
            let kind = format!("{:?}", said.params.Type);
            if ["Error", "Warning", "Assert"].contains(&kind.as_str()) {
                let words =
                    said.params.args.iter().map(|word| format!("{:?} {:?}", word.value, word.description));
                seen.troubles.push(format!("{kind}: {}", words.collect::<Vec<_>>().join(" ")));
            }
        }
        Event::RuntimeExceptionThrown(thrown) => {
            let details = &thrown.params.exception_details;
            let about = details.exception.as_ref().and_then(|object| object.description.clone());
            seen.troubles.push(format!("exception: {} {}", details.text, about.unwrap_or_default()));
        }
        Event::LogEntryAdded(entry) => {
            let kind = format!("{:?}", entry.params.entry.level);
            if ["Error", "Warning"].contains(&kind.as_str()) {
                seen.troubles.push(format!("log {kind}: {}", entry.params.entry.text));
            }
        }
        Event::NetworkRequestWillBeSent(asked) => seen.requests.push(asked.params.request.url.clone()),
        _ => {}
    }
}
