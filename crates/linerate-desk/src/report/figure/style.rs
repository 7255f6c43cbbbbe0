//! Which colour and symbol a rung has: the same in all figures. Where recordings stand beside each other the
//! colour is the recording's, and the rungs are told apart by their symbols.

use super::{Series, Sheet};
use crate::vocabulary::RUNGS;

/// The symbols of the drawing library, in the order in which they are told apart best.
const SYMBOLS: [&str; 6] = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];

/// So many of them do where colours tell the rungs apart too.
const FEW: usize = 4;

/// The colours of a palette.
pub(super) const COLOURS: usize = 8;

/// An empty series in a style of its own: the `nth` of the figure.
pub(super) fn nth(name: String, nth: usize) -> Series {
    Series {
        name,
        panel: 0,
        group: String::new(),
        base: String::new(),
        everywhere: false,
        passes: Vec::new(),
        colour: nth % COLOURS,
        symbol: symbol(nth),
        dashed: false,
        open: false,
        shown: true,
        ghost: false,
        points: Vec::new(),
        raw: Vec::new(),
        lines: Vec::new(),
    }
}

/// The symbol of the `nth` series, where colours tell them apart too.
pub(super) fn symbol(nth: usize) -> &'static str {
    SYMBOLS[nth % FEW]
}

/// An empty series of one recording's rung.
pub(super) fn of_sheet(sheet: &Sheet, name: &str, rung: &str) -> Series {
    let series = of_rung(sheet.named(name), rung);
    match sheet.place() {
        None => series,
        Some(place) => {
            Series { colour: place % COLOURS, symbol: SYMBOLS[height(rung) % SYMBOLS.len()], ..series }
        }
    }
}

/// An empty series in the style of a rung.
pub(super) fn of_rung(name: String, rung: &str) -> Series {
    nth(name, height(rung))
}

/// The place of a rung among all: the rungs of the chain from memory to the network come first, from the top, so
/// that they differ most.
fn height(rung: &str) -> usize {
    let beside = |sibling| move |known: &&crate::vocabulary::Rung| known.sibling == sibling;
    let chain = RUNGS.iter().rev().filter(beside(false));
    let order = chain.chain(RUNGS.iter().filter(beside(true)));
    order.map(|rung| rung.id).position(|id| id == rung).unwrap_or(RUNGS.len())
}

/// Whether a rung is drawn at once: the chain, and what is measured only when it is named.
pub(super) fn is_drawn(rung: &str) -> bool {
    RUNGS.iter().any(|known| known.id == rung && (!known.sibling || known.on_request))
}

/// Where nothing of what was measured would be drawn at once, all of it is: an empty figure tells nothing.
pub(super) fn not_empty(mut series: Vec<Series>) -> Vec<Series> {
    if !series.iter().any(|one| one.shown) {
        series.iter_mut().for_each(|one| one.shown = true);
    }
    series
}

/// Whether a rung stands on the chain from memory to the network.
pub(super) fn is_on_chain(rung: &str) -> bool {
    RUNGS.iter().any(|known| known.id == rung && !known.sibling)
}
