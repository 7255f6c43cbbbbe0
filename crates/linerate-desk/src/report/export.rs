//! Reports for other programs: tables as CSV, numbers with labels as OpenMetrics, a stream as iperf3 would tell it.
//!
//! All are renderings of the same [`Report`](super::Report) and recording as every other form. What they have a place for
//! and linerate does not know is left out or null.

mod iperf3;
mod open_metrics;
mod tables;

pub(super) use iperf3::iperf3;
pub(super) use open_metrics::open_metrics;
pub(super) use tables::tables;
