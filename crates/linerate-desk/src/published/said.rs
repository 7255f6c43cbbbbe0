//! A line of a file in words: what was measured with what, and the number as it is printed.

use super::row::{Layer, Row, Size};

/// Words of the file that say how a value came about, not what was measured with.
const NO_TEST: &[&str] = &["prior", "limit", "setting", "aggregate", "projection", "hw"];

/// What was measured with what.
pub(super) fn label(row: &Row) -> String {
    let test = if NO_TEST.contains(&row.test.as_str()) { "" } else { row.test.as_str() };
    let mtu = row.mtu.filter(|_| !row.config.contains("1500") && !row.config.contains("9000"));
    let mtu = mtu.map_or(String::new(), |mtu| format!("MTU {mtu}"));
    let file = match &row.bytes {
        Some(Size::File(size)) => format!("{size} file"),
        _ => String::new(),
    };
    let fallen = if row.metric.ends_with("falloff") { "beyond the fall-off" } else { "" };
    let direction = match row.metric.strip_prefix("dma_") {
        Some("bidir") => "both ways",
        direction => direction.unwrap_or_default(),
    };
    let named = if test.is_empty() && row.config.is_empty() { row.network.as_str() } else { "" };
    let over = if row.layer == Layer::Offload { row.network.as_str() } else { "" };
    let parts = [named, test, &row.config, over, direction, fallen, &mtu, &file];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The number as the paper prints it.
pub(super) fn printed(row: &Row) -> String {
    let unit = row.unit.name.replace("us", "µs");
    let number = match (row.value, row.low, row.high) {
        (Some(value), _, _) => format!("{value}"),
        (None, Some(low), Some(high)) => format!("{low} to {high}"),
        _ => String::new(),
    };
    format!("{}{number} {unit}", row.qualifier.sign())
}
