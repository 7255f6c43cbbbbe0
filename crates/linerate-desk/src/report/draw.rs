//! Figures as SVG and PNG, without a browser: the chart library runs in a small JavaScript engine.

use super::figure::Figure;
use crate::{Error, Result};
use resvg::{tiny_skia, usvg};
use rquickjs::{Context, Function, Object, Runtime};
use std::sync::Arc;
use std::thread::Builder;

/// The chart library, and what turns a figure into its options.
pub(super) const LIBRARY: &str = include_str!("../../assets/echarts.min.js");
pub(super) const CHARTS: &str = include_str!("../../assets/charts.js");

/// The engine has no timers. Nothing that is drawn at once needs any.
const TIMERS: &str = "globalThis.setTimeout = () => 0; globalThis.clearTimeout = () => {};";

const REGULAR: &[u8] = include_bytes!("../../assets/source-sans-3-400.ttf");
const BOLD: &[u8] = include_bytes!("../../assets/source-sans-3-600.ttf");

/// Engines that draw at once. Each takes a tenth of a second to start, and there are about a dozen figures.
const ENGINES: usize = 2;

/// The width of a figure in the units of its text: two columns of a paper.
pub const WIDTH: u32 = 760;

/// Pixels for each such unit in a PNG: sharp in print at the width of a column.
const SCALE: f32 = 3.0;

/// Each figure as SVG: by engines side by side, for each takes a tenth of a second a figure.
pub fn svg(figures: &[Figure]) -> Result<Vec<String>> {
    let engines = ENGINES.min(figures.len().max(1));
    let answers = std::thread::scope(|scope| {
        // Dealt out in turn: figures that take long stand side by side.
        let part = |first: usize| figures.iter().skip(first).step_by(engines);
        let beside = |first| Builder::new().spawn_scoped(scope, move || drawn(part(first))).ok();
        let started: Vec<_> = (1..engines).map(beside).collect();
        let own = std::iter::once(drawn(part(0)));
        // What no thread could be had for is drawn here.
        let rest = started.into_iter().zip(1..).map(|(engine, first)| match engine {
            Some(engine) => engine.join().unwrap_or_else(|_| Err(broken("its engine ended"))),
            None => drawn(part(first)),
        });
        own.chain(rest).collect::<Vec<_>>()
    });
    let parts = answers.into_iter();
    let mut parts = parts.map(|part| Ok(part?.into_iter())).collect::<Result<Vec<_>>>()?;
    Ok((0..figures.len()).filter_map(|place| parts[place % engines].next()).collect())
}

/// Some figures, one after the other.
fn drawn<'f>(figures: impl Iterator<Item = &'f Figure>) -> Result<Vec<String>> {
    let runtime = Runtime::new().map_err(|error| broken(&error.to_string()))?;
    let context = Context::full(&runtime).map_err(|error| broken(&error.to_string()))?;
    context.with(|js| {
        let said = |error: rquickjs::Error| match error {
            rquickjs::Error::Exception => broken(&format!("{:?}", js.catch())),
            other => broken(&other.to_string()),
        };
        [TIMERS, LIBRARY, CHARTS].into_iter().try_for_each(|code| js.eval::<(), _>(code)).map_err(said)?;
        let charts: Object = js.globals().get("linerateCharts").map_err(said)?;
        let draw: Function = charts.get("svg").map_err(said)?;
        figures
            .map(|figure| {
                // Single values are not in a picture, and each of them would be read.
                let text = serde_json::to_string(&figure.without_raw())
                    .map_err(|error| broken(&error.to_string()))?;
                let value = js.json_parse(text).map_err(said)?;
                draw.call::<_, String>((value, "light", WIDTH)).map_err(said)
            })
            .collect()
    })
}

/// An SVG of [`svg`] as PNG.
pub fn png(svg: &str) -> Result<Vec<u8>> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(BOLD.to_vec());
    let ours = fonts.faces().next().and_then(|face| Some(face.families.first()?.0.clone()));
    // Whatever family the figure names, this one is at hand.
    fonts.set_sans_serif_family(ours.unwrap_or_default());
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| broken(&error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| broken("it has no size"))?;
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height())
        .ok_or_else(|| broken("it does not fit into memory"))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| broken(&error.to_string()))
}

fn broken(why: &str) -> Error {
    if why.contains("out of memory") {
        let hint = "allow more memory: free -m shows what there is, `ulimit -v` what a process may have";
        return Error::unavailable("a figure could not be drawn: there is no memory for it", hint);
    }
    Error::unavailable(
        format!("a figure could not be drawn: {why}"),
        "this is a defect of linerate: please report it",
    )
}

/// The ends of a number and of its interval, in pixels from the left; none where it has none.
#[cfg(test)]
pub(super) type Ends = Option<(f64, f64)>;

/// The numbers of a figure of rows with their intervals, as they are drawn at a width.
#[cfg(test)]
pub(super) fn numbers(figure: &Figure, width: u32) -> Result<Vec<[Ends; 2]>> {
    let text = serde_json::to_string(figure).map_err(|error| broken(&error.to_string()))?;
    let context = Runtime::new().and_then(|runtime| Context::full(&runtime));
    let context = context.map_err(|error| broken(&error.to_string()))?;
    let found: String = context.with(|js| {
        let said = |error: rquickjs::Error| broken(&format!("{error}: {:?}", js.catch()));
        [TIMERS, LIBRARY, CHARTS].into_iter().try_for_each(|code| js.eval::<(), _>(code)).map_err(said)?;
        let ends = "label ? [label.at, label.at + label.width] : null";
        let ask = format!(
            "JSON.stringify(linerateCharts.numbers({text}, {width}).map(({{label, whisker}}) => [{ends}, whisker]))"
        );
        js.eval(ask).map_err(said)
    })?;
    serde_json::from_str(&found).map_err(|error| broken(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{BitRate, Bytes, Nanoseconds};
    use sha2::{Digest, Sha256};

    /// What the page writes of a number.
    fn written(value: f64, unit: &str) -> String {
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        context.with(|js| {
            js.eval::<(), _>(CHARTS).unwrap();
            js.eval(format!("linerateCharts.format({value}, '{unit}')")).unwrap()
        })
    }

    #[test]
    fn page_and_program_agree_on_numbers() {
        for value in [1.0, 999.6, 1000.0, 47.25e9, 1.234e12, 9.996e6] {
            let read: BitRate = written(value, "bits-per-second").parse().unwrap();
            assert!((read.0 / value - 1.0).abs() < 0.006, "{value} {read}");
            let read: Nanoseconds = written(value, "nanoseconds").parse().unwrap();
            assert!((read.0 / value - 1.0).abs() < 0.006, "{value} {read}");
        }
        for value in [1, 64, 1000, 1024, 1536, 1 << 20, 3 << 20, 1 << 30] {
            let read: Bytes = written(value as f64, "bytes").parse().unwrap();
            assert!((read.0 as f64 / value as f64 - 1.0).abs() < 0.006, "{value} {read}");
        }
        let cases = [(0.123, "share", "12.3 %"), (100.0, "tail", "99 %"), (1000.0, "tail", "99.9 %")];
        for (value, unit, shown) in cases {
            assert_eq!(written(value, unit), shown);
        }
    }

    #[test]
    fn vendored_files_are_as_published() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        let page = std::fs::read_to_string(format!("{folder}/README.md")).unwrap();
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let foreign = files.filter(|name| {
            let name = name.to_string_lossy();
            [".min.js", ".woff2", ".ttf"].iter().any(|end| name.ends_with(end))
        });
        let mut count = 0;
        for name in foreign {
            let name = name.to_string_lossy().into_owned();
            let hash = Sha256::digest(std::fs::read(format!("{folder}/{name}")).unwrap());
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            let line = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            assert!(line.is_some_and(|line| line.contains(&hash)), "{name}: {hash}");
            count += 1;
        }
        assert_eq!(count, 8);
    }
}
