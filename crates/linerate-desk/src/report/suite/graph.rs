//! A pipeline drawn in characters: a bar for each stage, and an arrow for each stream with what it was waited for.

use crate::analysis::{Binding, StageValues, StagesValues, StreamValues};
use crate::report::line::wrapped;
use crate::report::shape::{GraphStageEntry, GraphStreamEntry, StageGraphEntry};
use crate::unit::percent;

/// How long a bar is, and what each part of it is drawn with.
const BAR: usize = 32;
const MARKS: [char; 3] = ['█', '░', '▒'];

/// What is said below a graph of the marks in it.
const LEGEND: &str = "█ works, ░ waits for input, ▒ waits for room, of the time of the stage that took longest. Beside an \
                      arrow: so long both of its ends waited for it.";

/// The JSON form; none of a pipeline that is no row of stages.
pub(super) fn entry(values: &StagesValues) -> Option<StageGraphEntry> {
    let first = &values.streams.first()?.from;
    let order = [first].into_iter().chain(values.streams.iter().map(|stream| &stream.to));
    let of = |id: &String| values.stages.iter().find(|stage| stage.stage == *id);
    let stages: Option<Vec<GraphStageEntry>> =
        order.map(|id| Some(stage(of(id)?, &values.binding))).collect();
    let streams = values.streams.iter().map(|one| stream(one, &values.binding)).collect();
    Some(StageGraphEntry { stages: stages?, streams })
}

fn stage(of: &StageValues, binding: &Binding) -> GraphStageEntry {
    GraphStageEntry {
        name: of.stage.clone(),
        copies: of.copies,
        hosts: of.hosts.clone(),
        works: of.compute,
        waits_for_input: of.input,
        waits_for_room: of.output,
        binds: matches!(binding, Binding::Stage(stage, _) if *stage == of.stage),
    }
}

fn stream(of: &StreamValues, binding: &Binding) -> GraphStreamEntry {
    let is_it = |from: &str, to: &str| (from, to) == (&*of.from, &*of.to);
    GraphStreamEntry {
        from: of.from.clone(),
        to: of.to.clone(),
        waited_for: of.waited,
        binds: matches!(binding, Binding::Stream(from, to, _) if is_it(from, to)),
    }
}

/// The lines of a graph.
pub(super) fn lines(graph: &StageGraphEntry, width: usize) -> Vec<String> {
    let names: Vec<String> = graph.stages.iter().map(GraphStageEntry::called).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (at, (stage, name)) in graph.stages.iter().zip(&names).enumerate() {
        let works = percent(stage.works.median);
        let row = format!("{name:<longest$}  {}  works {works}{}", bar(stage), binds(stage.binds));
        lines.push(row);
        lines.extend(graph.streams.get(at).map(|stream| {
            let arrow = if stream.binds { '┃' } else { '│' };
            format!("  {arrow} {}{}", percent(stream.waited_for.median), binds(stream.binds))
        }));
    }
    lines.extend(wrapped(LEGEND, width));
    lines
}

fn binds(binds: bool) -> &'static str {
    if binds { "  ◀ binds" } else { "" }
}

/// Its three shares after each other: where each ends is rounded, so that they never reach beyond the whole.
fn bar(stage: &GraphStageEntry) -> String {
    let mut bar = String::new();
    let mut sum = 0.0;
    for ((_, share), mark) in stage.shares().into_iter().zip(MARKS) {
        sum += share;
        let end = ((sum * BAR as f64).round() as usize).min(BAR);
        bar.extend(std::iter::repeat_n(mark, end.saturating_sub(bar.chars().count())));
    }
    format!("{bar:<BAR$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Case, HostId};
    use crate::statistic::Estimate;

    fn all(median: f64) -> Estimate {
        Estimate { median, low: None, high: None, n: 1 }
    }

    fn values(binding: Binding) -> StagesValues {
        let stage = |stage: &str, copies, hosts: &[u16], [compute, input, output]: [f64; 3]| StageValues {
            stage: stage.into(),
            copies,
            hosts: hosts.iter().map(|host| HostId(*host)).collect(),
            compute: all(compute),
            input: all(input),
            output: all(output),
        };
        let stream = |from: &str, to: &str, waited| StreamValues {
            from: from.into(),
            to: to.into(),
            waited: all(waited),
        };
        StagesValues {
            case: Case::default(),
            words: String::new(),
            buffer_bytes: 1,
            // In the order of the plan, which may be any.
            stages: vec![
                stage("view", 1, &[2], [0.25, 0.5, 0.0]),
                stage("read", 1, &[0], [0.5, 0.0, 0.5]),
                stage("clip", 2, &[1, 2], [0.25, 0.25, 0.5]),
            ],
            streams: vec![stream("read", "clip", 0.25), stream("clip", "view", 0.5)],
            binding,
        }
    }

    #[test]
    fn a_graph_goes_the_way_of_a_unit_and_marks_what_binds() {
        let graph = entry(&values(Binding::Stream("clip".into(), "view".into(), 0.5))).unwrap();
        assert_eq!(
            lines(&graph, 300)[..5],
            [
                format!("read on a         {}{}  works 50 %", "█".repeat(16), "▒".repeat(16)),
                "  │ 25 %".into(),
                format!("clip x 2 on b, c  {}{}{}  works 25 %", "█".repeat(8), "░".repeat(8), "▒".repeat(16)),
                "  ┃ 50 %  ◀ binds".into(),
                format!("view on c         {}{}{}  works 25 %", "█".repeat(8), "░".repeat(16), " ".repeat(8)),
            ]
        );
        let graph = entry(&values(Binding::Stage("read".into(), 0.5))).unwrap();
        assert_eq!(
            [graph.stages[0].binds, graph.stages[1].binds, graph.streams[1].binds],
            [true, false, false]
        );
    }

    #[test]
    fn shares_never_reach_beyond_the_whole() {
        let mut graph = entry(&values(Binding::Even("read".into(), "clip".into()))).unwrap();
        assert!(!graph.stages.iter().any(|stage| stage.binds));
        graph.stages[0].works = all(0.99);
        assert_eq!(bar(&graph.stages[0]), "█".repeat(BAR));
    }
}
