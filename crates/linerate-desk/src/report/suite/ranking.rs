//! How an application's ranking of the transports differs from a micro-benchmark's, in sentences.

use crate::analysis::{Ranked, RankedPair, RankingValues};
use crate::report::shape::{RankedPairEntry, RankingEntry};
use crate::statistic::Estimate;
use crate::unit::{counted, significant};

/// The JSON form.
pub(super) fn entry(values: &RankingValues) -> RankingEntry {
    let pair = |pair: &RankedPair| RankedPairEntry {
        one: pair.one.clone(),
        other: pair.other.clone(),
        ranked: word(pair.ranked()).into(),
        application: pair.application,
        micro_benchmark: pair.micro,
    };
    RankingEntry {
        against: values.case.clone(),
        said: ranking_text(values),
        pairs: values.pairs.iter().map(pair).collect(),
        shares_cpus: values.shares_cpus,
    }
}

fn word(ranked: Ranked) -> &'static str {
    match ranked {
        Ranked::Alike => "alike",
        Ranked::Otherwise => "otherwise",
        Ranked::CannotTell => "cannot-tell",
    }
}

/// What follows from both rankings: how many pairs differ, each pair with both ratios, and what is ranked where hosts share CPUs.
pub(in crate::report) fn ranking_text(values: &RankingValues) -> String {
    let count = |ranked| values.pairs.iter().filter(|pair| pair.ranked() == ranked).count();
    let all = counted(values.pairs.len(), "pair");
    let (otherwise, untold) = (count(Ranked::Otherwise), count(Ranked::CannotTell));
    let case = &values.case;
    let differs = match (otherwise, untold) {
        (0, 0) => format!("The application ranks its transports as the micro-benchmark `{case}` does"),
        (0, untold) if untold == values.pairs.len() => {
            format!(
                "Whether the application ranks its transports otherwise than the micro-benchmark `{case}` cannot be told"
            )
        }
        (0, untold) => format!(
            "No pair of transports is ranked otherwise than by the micro-benchmark `{case}`; of {all} {untold} cannot be told"
        ),
        (otherwise, untold) => format!(
            "The application ranks {otherwise} of {all} of transports otherwise than the micro-benchmark `{case}`{}",
            if untold > 0 { format!("; {untold} cannot be told") } else { String::new() }
        ),
    };
    let pairs: Vec<String> = values.pairs.iter().map(of_pair).collect();
    let cpus =
        if values.shares_cpus { " Hosts of it are one machine: it is its CPU that is ranked." } else { "" };
    format!("{differs}. {}.{cpus}", pairs.join("; "))
}

/// `TCP against TLS: 1.40 times [1.30, 1.50] as good for the application, 2.00 times [1.90, 2.10] for the micro-benchmark`.
fn of_pair(pair: &RankedPair) -> String {
    let side = |ratio: Option<Estimate>| ratio.map_or("no ratio".to_owned(), times);
    let (application, micro) = (side(pair.application), side(pair.micro));
    format!(
        "{} against {}: {application} as good for the application, {micro} for the micro-benchmark",
        pair.one, pair.other
    )
}

fn times(ratio: Estimate) -> String {
    let number = |value: f64| significant(value, 3);
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => {
            format!("{} times [{}, {}]", number(ratio.median), number(low), number(high))
        }
        _ => format!("{} times (n={})", number(ratio.median), ratio.n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(median: f64) -> Option<Estimate> {
        Some(Estimate { median, low: Some(median - 0.1), high: Some(median + 0.1), n: 8 })
    }

    fn text(pairs: &[(f64, f64)], shares_cpus: bool) -> String {
        let pair = |(application, micro): &(f64, f64)| RankedPair {
            one: "TCP".into(),
            other: "TLS".into(),
            application: ratio(*application),
            micro: ratio(*micro),
        };
        let values =
            RankingValues { case: "carried".into(), pairs: pairs.iter().map(pair).collect(), shares_cpus };
        ranking_text(&values)
    }

    #[test]
    fn a_ranking_is_told_with_both_ratios() {
        let otherwise = text(&[(0.8, 1.5), (1.5, 1.5), (1.0, 1.5)], true);
        let begins = "The application ranks 1 of 3 pairs of transports otherwise than the micro-benchmark `carried`; \
                      1 cannot be told. TCP against TLS: 0.800 times [0.700, 0.900] as good for the application";
        assert!(otherwise.starts_with(begins), "{otherwise}");
        assert!(otherwise.ends_with("it is its CPU that is ranked."), "{otherwise}");
        let alike = text(&[(1.5, 1.5)], false);
        assert!(
            alike.starts_with("The application ranks its transports as") && !alike.contains("CPU"),
            "{alike}"
        );
        assert!(text(&[(1.0, 1.5)], false).contains("cannot be told"));
    }
}
