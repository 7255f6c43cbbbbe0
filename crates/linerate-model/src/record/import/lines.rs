//! Text, line by line: where a number stands, and what nobody read.

use super::row::number;
use super::{Draft, Read, Run, refuse};

/// Far more than any tool prints in a line.
const LONGEST: usize = 64 << 10;
/// Far more than any tool prints.
pub(super) const MOST: usize = 200_000;

/// A line with its number, from 1.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub number: u64,
    pub text: String,
}

/// The lines that are not blank, without colours.
pub(super) fn lines(run: &Run) -> Read<Vec<Line>> {
    let all = (run.line..).zip(run.text.lines());
    let all = all.map(|(number, text)| Line { number, text: plain(text).trim().to_owned() });
    let kept: Vec<Line> = all.filter(|line| !line.text.is_empty()).take(MOST + 1).collect();
    if kept.len() > MOST {
        return too_many();
    }
    if let Some(long) = kept.iter().find(|line| line.text.len() > LONGEST) {
        let what = format!("line {} is longer than {LONGEST} bytes", long.number);
        return refuse(what, "import what the tool printed, and nothing else");
    }
    Ok(kept)
}

pub(super) fn too_many<T>() -> Read<T> {
    let hint = "import the result of one run, not a log of many";
    refuse(format!("it has more than {MOST} lines"), hint)
}

/// Without what sets a terminal's colours: ESC, `[`, up to the letter.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.find(|c: char| c.is_ascii_alphabetic()).map_or("", |at| &part[at + 1..])
    })
}

impl Line {
    /// Its words.
    pub fn words(&self) -> Vec<&str> {
        self.text.split_whitespace().collect()
    }

    /// Whether it begins with a digit: a line of a table.
    pub fn is_row(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }

    /// All its words as numbers; the first that is none refuses the file.
    pub fn numbers(&self) -> Read<Vec<f64>> {
        self.words().iter().map(|word| self.number(word)).collect()
    }

    /// One of its words as a number.
    pub fn number(&self, word: &str) -> Read<f64> {
        number(word, &format!("line {}", self.number))
    }

    /// The number that follows a text in it, where there is one.
    pub fn find(&self, text: &str, draft: &mut Draft) -> Option<f64> {
        draft.keep(self.after(text)).flatten()
    }

    /// The word that follows a text in it, as a number; none where the text is not in it.
    pub fn after(&self, text: &str) -> Read<Option<f64>> {
        let Some((_, rest)) = self.text.split_once(text) else { return Ok(None) };
        let word = rest
            .trim_start()
            .split(|c: char| c.is_whitespace() || ";,)]".contains(c))
            .next()
            .unwrap_or_default();
        self.number(word).map(Some)
    }

    /// Keeps the line as one that no row is made of.
    pub fn is_unread(&self, draft: &mut Draft) {
        draft.unread(format!("line {}", self.number), &self.text);
    }
}
