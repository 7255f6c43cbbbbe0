//! Lines of running text: how wide, how far in, and in which colour.

use super::Page;
use super::block::borderless;

/// The width of running text where the page does not say.
pub(super) const TEXT_WIDTH: usize = 110;
/// Nothing is set narrower than this.
pub(super) const LEAST_WIDTH: usize = 40;
pub(super) const INDENT: &str = "  ";

pub(super) const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// The text in a colour, where the page has any.
pub(super) fn marked(text: &str, mark: &str, page: Page) -> String {
    if page.colour { format!("{mark}{text}{PLAIN}") } else { text.to_owned() }
}

/// Lines of at most `width` columns, broken between words.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut table = borderless(Some(width));
    table.add_row([text]);
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 0));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
