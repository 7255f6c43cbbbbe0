//! What hosts did over a typical unit of work of an application, in words and as JSON.

use super::shape::{LaneEntry, TimeLineEntry};
use crate::analysis::{LaneValues, TimeLineValues};
use crate::unit::{Bytes, Nanoseconds, counted};

/// The JSON form.
pub(super) fn entry(values: &TimeLineValues) -> TimeLineEntry {
    let lane =
        |lane: &LaneValues| LaneEntry { host: lane.host, name: lane.of.clone(), spent_ns: lane.totals() };
    TimeLineEntry {
        id: values.case.id.clone(),
        title: title(values),
        caption: caption(values),
        span_ns: values.span_ns,
        clocks: values.clocks,
        lanes: values.lanes.iter().map(lane).collect(),
    }
}

/// `units · what each thread did, 64 KiB, ahead`.
pub(super) fn title(values: &TimeLineValues) -> String {
    let id = values.case.id.split_once('.').map_or(&*values.case.id, |(_, id)| id);
    let with = if values.words.is_empty() { String::new() } else { format!(", {}", values.words) };
    format!("{id} · what each thread did, {}{with}", Bytes(values.message_bytes))
}

/// What is shown, and whose clocks it is by.
pub(super) fn caption(values: &TimeLineValues) -> String {
    let pattern = values.case.pattern.entry();
    let from = match values.units {
        1 => format!("unit {}", values.unit.saturating_add(1)),
        units => format!("{} from number {} on", counted(units, "unit"), values.unit.saturating_add(1)),
    };
    let of = match values.passes {
        1 => "One pass".to_owned(),
        passes => format!("Of {passes} passes the one in the middle by its time, pass {}", values.pass),
    };
    let clocks = match values.clocks {
        1 => "All threads are by one clock: their hosts are one machine.",
        _ => {
            "Each machine is by its own clock, and its lanes begin where its first thread did: nothing is known of these \
             clocks that is as fine, so that what stands one above the other on two machines need not have been at once."
        }
    };
    format!(
        "{of}: {from} of `{}`; {} are shown. The height of a colour is the share of that moment; what is blank was not watched. \
         {clocks}",
        pattern.name,
        Nanoseconds(values.span_ns)
    )
}
