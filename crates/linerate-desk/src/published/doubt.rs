//! What is doubtful about whole groups of values; what is doubtful about one is in its own note.

use super::row::{Layer, Row, Size};

/// A doubt, and which values it is about.
struct Doubt {
    about: fn(&Row) -> bool,
    text: &'static str,
}

const DOUBTS: &[Doubt] = &[
    Doubt {
        about: is_netpipe_rate,
        // NetPIPE 2.x prints bytes * 8 / (1024 * 1024) a second as Mbps: its TCP.c and netpipe.c.
        text: "NetPIPE of that time counted a Mb as 2^20 bits: the rate may be 4.9 % higher",
    },
    Doubt {
        about: is_round_in_kilobytes,
        text: "KB taken as 1024 bytes; the paper does not say which it means",
    },
    Doubt {
        about: |row| row.metric == "latency" && row.layer != Layer::Hardware,
        text: "printed as latency; taken as half of a round trip",
    },
    Doubt {
        about: |row| row.metric == "rtt",
        text: "the paper prints the whole round trip, of which this is half",
    },
    Doubt { about: |row| row.test == "STREAM", text: "STREAM counts what is read and what is written" },
    Doubt {
        about: |row| row.place.contains("Fig. 3a/b") && !row.note.contains("swap"),
        text: "the text and the caption swap Figures 3a and 3b",
    },
];

fn is_netpipe_rate(row: &Row) -> bool {
    row.test.starts_with("NetPIPE")
        && row.metric.starts_with("throughput")
        && !row.note.contains("NetPIPE Mb")
}

fn is_round_in_kilobytes(row: &Row) -> bool {
    let binary = |bytes: u64| bytes >= 1024 && bytes.is_multiple_of(1024);
    let sizes = matches!(&row.bytes, Some(Size::Messages(sizes)) if binary(*sizes.start()));
    sizes && !row.note.contains("KB base")
}

/// All that is doubtful about a value.
pub(super) fn note(row: &Row) -> String {
    let own = Some(row.note.replace("full RTT, not half", "")).filter(|note| !note.is_empty());
    let general = DOUBTS.iter().filter(|doubt| (doubt.about)(row)).map(|doubt| doubt.text.to_owned());
    own.into_iter().chain(general).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    /// What is ambiguous: the paper, a word of the line, and what its note must say.
    const AMBIGUOUS: &[(&str, &str, &str, usize)] = &[
        ("S000", "NetPIPE stream", "2^20", 2),
        ("S000", "NetPIPE ping-pong", "2^20", 8),
        ("S000", "MPBench,small,1,latency", "2/tps", 1),
        ("S000", "MPBench,128KB", "above the 2.8 Gb/s peak", 1),
        ("S000", "falloff_start", "KB", 2),
        ("S001", "throughput_peak", "2^20", 24),
        ("S001", "latency_rtt_half", "us is meant", 11),
        ("S001", "128000", "text also says 128 kB", 1),
        ("S002", ",bdp,", "67.5 kB", 1),
        ("S002", "8160 B frames,8160,throughput", "5 % disagreement", 1),
        ("S003", "Fig. 3a/b", "swap", 5),
        ("S003", "ping-pong,event,latency,Myrinet", "order as printed", 2),
        ("S004", "Table 1", "row order rebuilt", 15),
        ("S004", "2808", "lost digit", 1),
        ("S004", "Table 2", "cells rebuilt", 12),
        ("S004", "Table 5", "whole round trip", 21),
        ("S004", "MPICH on myri10ge TCP,latency", "switched path", 1),
    ];

    /// The parts of a line by which a case names it.
    fn line(row: &Row) -> String {
        let size = match &row.bytes {
            Some(Size::Messages(sizes)) => sizes.start().to_string(),
            _ => String::new(),
        };
        let value = row.value.map_or(String::new(), |value| value.to_string());
        let parts = [&row.test, &row.config, &size, &row.metric, &row.network, &row.place, &value];
        parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(",")
    }

    #[test]
    fn every_ambiguous_value_has_its_note() {
        for (paper, word, says, least) in AMBIGUOUS {
            let found = rows().iter().filter(|row| row.paper == *paper && line(row).contains(word));
            let found: Vec<_> = found.collect();
            assert!(found.len() >= *least, "{paper} {word}: {} of {least}", found.len());
            for row in &found {
                let told = note(row);
                assert!(told.contains(says), "{}: {told}", line(row));
            }
        }
        let doubtful = rows().iter().filter(|row| note(row).contains("MB/s"));
        assert_eq!(doubtful.count(), 3, "three cells of Table 3 look like bytes a second");
    }
}
