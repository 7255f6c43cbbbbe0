//! Columns of text beside each other, as many as the page is wide.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Blanks between two columns of a block, and between two blocks.
const GAP: usize = 2;
const BETWEEN: usize = 3;

/// Some columns that belong together, with a title over them.
pub(super) struct Block {
    /// Stands over all columns.
    pub title: String,
    /// Stands over each column.
    pub heads: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// Whether columns begin left.
    pub left: bool,
}

impl Block {
    /// The lines, all of one width: title, heads, rows.
    fn lines(&self) -> Vec<String> {
        let mut table = borderless(None);
        table.set_header(self.heads.clone());
        for row in &self.rows {
            table.add_row(row.clone());
        }
        let last = table.column_count().saturating_sub(1);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if index == last { 0 } else { GAP as u16 }));
            column.set_cell_alignment(if self.left { CellAlignment::Left } else { CellAlignment::Right });
        }
        let body: Vec<String> = table.lines().collect();
        let width = body.iter().chain([&self.title]).map(|line| line.chars().count()).max().unwrap_or(0);
        let title = std::iter::once(if self.left { self.title.clone() } else { centred(&self.title, width) });
        title.chain(body).map(|line| padded(&line, width, self.left)).collect()
    }
}

/// A table without lines; with a width its cells are wrapped.
pub(super) fn borderless(width: Option<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).force_no_tty();
    match width {
        None => table.set_content_arrangement(ContentArrangement::Disabled),
        Some(width) => {
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
            table.set_content_arrangement(ContentArrangement::Dynamic)
        }
    };
    table
}

/// The lines of such a table, words to the left and numbers to the right.
pub(super) fn aligned(mut table: Table, is_word: impl Fn(usize) -> bool) -> Vec<String> {
    let last = table.column_count().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { GAP as u16 }));
        column.set_cell_alignment(if is_word(index) { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn centred(text: &str, width: usize) -> String {
    format!("{text:^width$}")
}

fn padded(text: &str, width: usize, left: bool) -> String {
    if left { format!("{text:<width$}") } else { format!("{text:>width$}") }
}

/// Sets blocks beside the first one; where they do not fit, the first one is repeated below. Gives the
/// lines of each band; the first two of a band are its heads.
pub(super) fn bands(first: &Block, others: &[Block], width: Option<usize>) -> Vec<Vec<String>> {
    let first = first.lines();
    let mut bands: Vec<Vec<String>> = Vec::new();
    let mut placed = 0;
    for block in others {
        let lines = block.lines();
        let added = BETWEEN + lines.first().map_or(0, |line| line.chars().count());
        match bands.last_mut() {
            Some(band) if width.is_none_or(|width| placed + added <= width) => {
                placed += added;
                beside(band, &lines);
            }
            _ => {
                let mut band = first.clone();
                placed = added + band.first().map_or(0, |line| line.chars().count());
                beside(&mut band, &lines);
                bands.push(band);
            }
        }
    }
    bands.iter_mut().flatten().for_each(|line| line.truncate(line.trim_end().len()));
    bands
}

fn beside(band: &mut [String], lines: &[String]) {
    for (line, more) in band.iter_mut().zip(lines) {
        line.push_str(&" ".repeat(BETWEEN));
        line.push_str(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(title: &str, heads: &[&str], rows: &[&[&str]], left: bool) -> Block {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Block {
            title: title.into(),
            heads: words(heads),
            rows: rows.iter().map(|row| words(row)).collect(),
            left,
        }
    }

    #[test]
    fn blocks_stand_beside_each_other_while_they_fit() {
        let first = block("", &["rung"], &[&["low"], &["higher"]], true);
        let others = [
            block("rate", &["a>b", "±"], &[&["612 µs", "3 %"], &["-", ""]], false),
            block("a long title", &["x"], &[&["1"], &["22"]], false),
        ];
        let wide = bands(&first, &others, None);
        assert_eq!(
            wide[0],
            [
                "            rate       a long title",
                "rung        a>b    ±              x",
                "low      612 µs  3 %              1",
                "higher        -                  22",
            ]
        );
        let narrow = bands(&first, &others, Some(28));
        assert_eq!(narrow.len(), 2);
        assert!(narrow.iter().flatten().all(|line| line.chars().count() <= 28));
        assert!(narrow[1][3].starts_with("higher"));
    }
}
