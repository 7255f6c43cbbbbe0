//! What came of the races: JSON lines, a table for the screen, and one for a page.

use super::race::{Figure, Race};
use linerate::statistic::{Raced, Verdict, median, races};
use serde_json::{Value, json};
use std::fmt::Write;

/// One line of the table.
pub struct Line {
    /// The place of its race among all.
    pub race: usize,
    pub row: String,
    pub peer: String,
    pub unit: &'static str,
    pub ours: Vec<f64>,
    pub theirs: Vec<f64>,
    /// The size that both sides send, where it is not the row's.
    pub bytes: u64,
    pub engine: Option<String>,
    /// What the pairs say, or why there are none.
    pub raced: Result<Raced, String>,
}

/// The lines of all races, judged together, at one of so many looks.
pub fn lines(all: &[Race], looks: u32) -> Vec<Line> {
    let of_race = |(place, race)| Race::figures(race).into_iter().map(move |figure| (place, figure));
    let figures: Vec<(usize, Figure<'_>)> = all.iter().enumerate().flat_map(of_race).collect();
    let ratios: Vec<Vec<f64>> = figures.iter().map(|(_, figure)| figure.ratios()).collect();
    let judged = races(&ratios, looks);
    let line = |((race, figure), raced): ((usize, Figure<'_>), Option<Raced>)| Line {
        race,
        row: figure.race.row.name.clone() + figure.metric.suffix,
        peer: figure.race.found.title(),
        unit: figure.metric.unit,
        bytes: figure.race.work.bytes,
        engine: figure.race.engine.clone(),
        raced: raced.ok_or_else(|| figure.why()),
        ours: figure.ours,
        theirs: figure.theirs,
    };
    figures.into_iter().zip(judged).map(line).collect()
}

impl Line {
    /// Whether further blocks may tell more.
    pub fn is_open(&self) -> bool {
        self.raced.as_ref().is_ok_and(|raced| raced.verdict == Verdict::CannotTell)
    }

    fn verdict(&self) -> String {
        match &self.raced {
            Ok(raced) => raced.verdict.to_string(),
            Err(why) => why.clone(),
        }
    }

    /// As a line of JSON. The blocks are in it, so that whoever doubts a verdict can compute it again.
    pub fn json(&self) -> Value {
        let verdict = self.verdict();
        let (verdict, why) = match verdict.strip_prefix("missing: ") {
            Some(why) => ("missing".to_owned(), Some(why.to_owned())),
            None => (verdict, None),
        };
        let raced = self.raced.as_ref().ok();
        json!({
            "row": self.row, "peer": self.peer,
            "ours_value": median(self.ours.iter().copied()), "peer_value": median(self.theirs.iter().copied()),
            "unit": self.unit, "ratio": raced.map(|it| it.ratio),
            "low": raced.and_then(|it| it.low), "high": raced.and_then(|it| it.high),
            "n": raced.map_or(0, |it| it.n), "verdict": verdict, "why": why,
            "message_bytes": self.bytes, "ours_engine": self.engine,
            "ours_blocks": self.ours, "peer_blocks": self.theirs,
        })
    }

    /// Its cells: row, peer, ours, theirs, unit, ratio, interval, blocks, verdict.
    fn cells(&self) -> [String; 9] {
        let value = |values: &[f64]| median(values.iter().copied()).map_or("-".into(), digits);
        let (mut ratio, mut interval, mut n) = ("-".to_owned(), "-".to_owned(), "0".to_owned());
        if let Ok(raced) = &self.raced {
            ratio = format!("{:.3}", raced.ratio);
            n = raced.n.to_string();
            if let Some((low, high)) = raced.low.zip(raced.high) {
                interval = format!("{low:.3} to {high:.3}");
            }
        }
        let (ours, theirs) = (value(&self.ours), value(&self.theirs));
        let (row, peer, unit) = (self.row.clone(), self.peer.clone(), self.unit.to_owned());
        [row, peer, ours, theirs, unit, ratio, interval, n, self.verdict()]
    }
}

/// Three digits, or all before the point.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.places$}")
}

const TITLES: [&str; 9] =
    ["row", "peer", "ours", "theirs", "unit", "ratio", "95 % interval", "blocks", "verdict"];
/// The columns of numbers.
const RIGHT: [bool; 9] = [false, false, true, true, false, true, false, true, false];

/// The table for the screen.
pub fn table(lines: &[Line]) -> String {
    let mut rows = vec![TITLES.map(String::from)];
    rows.extend(lines.iter().map(Line::cells));
    let widths: Vec<usize> =
        (0..9).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let width = widths[at];
            // Writing to a string cannot fail.
            let _ =
                if RIGHT[at] { write!(line, "{cell:>width$}  ") } else { write!(line, "{cell:<width$}  ") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The table for a page, with how it came about above it.
pub fn markdown(lines: &[Line], about: &str) -> String {
    let mut text = format!("{about}\n\n| {} |\n|", TITLES.join(" | "));
    for is_number in RIGHT {
        text.push_str(if is_number { "---:|" } else { "---|" });
    }
    text.push('\n');
    for line in lines {
        let _ = writeln!(text, "| {} |", line.cells().map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text
}

/// A page with the table between the marks of this name; the table alone where it has none.
pub fn filled(page: &str, name: &str, table: &str) -> String {
    let [begin, end] = [format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->")];
    let found = page.split_once(&begin).and_then(|(above, rest)| Some((above, rest.split_once(&end)?.1)));
    match found {
        Some((above, below)) => format!("{above}{begin}{table}{end}{below}"),
        None => table.to_owned(),
    }
}

/// How many lines ended in which way.
pub fn counts(lines: &[Line]) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for line in lines {
        let verdict = line.verdict();
        let kind = verdict.split(':').next().unwrap_or_default();
        match counted.iter_mut().find(|(known, _)| known == kind) {
            Some((_, count)) => *count += 1,
            None => counted.push((kind.to_owned(), 1)),
        }
    }
    counted.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "a bench compiles its tests and runs none: tests/races.rs does")]
mod tests {
    use super::*;

    fn line(raced: Result<Raced, String>) -> Line {
        let (ours, theirs) = (vec![2.0, 4.0, 3.0], vec![1.0]);
        Line {
            race: 0,
            row: "row".into(),
            peer: "peer 1.2".into(),
            unit: "Gb/s",
            ours,
            theirs,
            bytes: 14,
            engine: None,
            raced,
        }
    }

    fn judged() -> Raced {
        races(&[vec![2.0; 7]], 1)[0].unwrap()
    }

    #[test]
    fn a_json_line_has_figures_and_verdict() {
        let json = line(Ok(judged())).json();
        let value = |key: &str| json[key].as_f64().unwrap();
        assert_eq!((value("ours_value"), value("peer_value")), (3.0, 1.0));
        assert!((value("ratio") - 2.0).abs() < 1e-12 && value("n") == 7.0, "{json}");
        assert_eq!((&json["verdict"], &json["unit"]), (&json!("ahead"), &json!("Gb/s")));
    }

    #[test]
    fn what_was_not_raced_says_why() {
        let missing = line(Err("missing: it is not on the path".into())).json();
        assert_eq!((&missing["verdict"], &missing["ratio"]), (&json!("missing"), &Value::Null));
        assert_eq!(missing["why"], "it is not on the path");
        let failed = line(Err("failed: it hung".into()));
        assert_eq!(failed.json()["verdict"], "failed: it hung");
        let open = line(races(&[vec![0.5, 2.0]], 1)[0].ok_or("none".into()));
        assert_eq!([&failed, &open, &line(Ok(judged()))].map(Line::is_open), [false, true, false]);
        let all = [line(Ok(judged())), failed, line(Ok(judged()))];
        assert_eq!(counts(&all), "2 ahead, 1 failed");
    }

    #[test]
    fn tables_have_a_line_each() {
        let all = [line(Ok(judged())), line(Err("missing: x".into()))];
        assert_eq!(table(&all).lines().count(), 3);
        let page = markdown(&all, "a day");
        assert!(page.starts_with("a day\n\n| row |") && page.lines().count() == 6, "{page}");
        assert_eq!(filled("old", "races", &page), page);
        let marked = "above\n<!-- races: begin -->\nold\n<!-- races: end -->\nbelow\n";
        let new = format!("above\n<!-- races: begin -->\n{page}<!-- races: end -->\nbelow\n");
        assert_eq!(filled(marked, "races", &page), new);
        assert_eq!(filled(&new, "races", &page), new);
        assert_eq!(filled(&new, "profiles", "other"), "other");
        assert!(page.contains("| 2.000 | 2.000 to 2.000 | 7 | ahead |"), "{page}");
    }
}
