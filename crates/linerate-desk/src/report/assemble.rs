//! The report of an analysis and a diagnosis.

use super::curve::curve;
use super::shape::*;
use crate::analysis::model::{CpuCost, Side};
use crate::analysis::{self, Analysis, Distribution, Layer, Timeline, compare_arms, distributions, tuned};
use crate::diagnosis::{Bound, Diagnosis, Finding, Waterfall, Wire, fact, wire};
use crate::record::{HostFacts, Recording, RunSpread, SpreadOf, StepRecord};
use crate::statistic::CONFIDENCE;
use crate::vocabulary::{Family, Place, Rung, Wait};
use serde_json::Value;
use std::collections::BTreeSet;

/// Puts everything in its place.
pub(super) fn report(recording: &Recording, analysis: &Analysis, diagnosis: &Diagnosis) -> Report {
    let warnings = |layer| {
        let here = diagnosis.findings.iter().filter(|finding| finding.layer == layer);
        here.map(warning).collect::<Vec<_>>()
    };
    let ladder = analysis.layers.iter().enumerate().map(|(index, layer)| {
        let bounds = diagnosis.bounds.get(index).map_or(&[][..], Vec::as_slice);
        LadderEntry {
            bound: diagnosis.binding(index).map(bound),
            next_bound: diagnosis.next(index).map(bound),
            bounds: bounds.iter().map(bound).collect(),
            unexplained_ns_per_byte: diagnosis.rests_ns_per_byte.get(index).copied().flatten(),
            warnings: warnings(Some(index)),
            between_run: between_run(recording, layer),
            title: title(recording, layer),
            ..entry(analysis, layer)
        }
    });
    let profile = recording.plan().map(|plan| &plan.profile);
    let report = Report {
        schema: super::SCHEMA.into(),
        run: run(recording, analysis),
        sentence: String::new(),
        arms: compare_arms(recording),
        tuning: tuned(recording),
        verdicts: diagnosis.causes.clone(),
        matrix: super::matrix::entry(recording),
        suites: suites(analysis, diagnosis),
        imported: super::imported::entry(recording),
        ladder: ladder.collect(),
        waterfalls: diagnosis.waterfalls.iter().map(|one| waterfall(analysis, one)).collect(),
        curves: analysis.curves.iter().filter(|it| it.case.is_base()).map(|it| curve(it, profile)).collect(),
        efficiencies: analysis.layers.iter().filter_map(|layer| efficiency(analysis, layer)).collect(),
        distributions: distributions(recording, analysis)
            .iter()
            .filter_map(|one| distribution(analysis, one))
            .collect(),
        timelines: analysis.timelines.iter().map(timeline).collect(),
        drifts: analysis.drifts.clone(),
        warnings: warnings(None),
    };
    let sentence = match report.shows() {
        Shows::Imported(imported) => super::imported::sentence(imported),
        Shows::Comparison(arms) => super::arms::sentence(arms),
        Shows::Diagnosis(arms, causes) => super::cause::sentence(&report, arms, causes),
        Shows::Tuning(tuned) => super::tuning::sentence(tuned),
        Shows::Matrix(matrix) => super::matrix::sentence(matrix),
        Shows::Suites(suites) => super::suite::sentence(suites),
        Shows::Ladder => diagnosis.sentence.clone(),
    };
    Report { sentence, ..report }
}

/// What each suite gave, with the warnings about its cases.
fn suites(analysis: &Analysis, diagnosis: &Diagnosis) -> Vec<SuiteReport> {
    let case = |finding: &Finding| finding.layer.and_then(|at| analysis.suite_layers.get(at));
    let of_suite = |name: &str| {
        let is_of = |id: &str| id.split_once('.').is_some_and(|(suite, _)| suite == name);
        let found = diagnosis.of_suites.iter().filter_map(|finding| {
            let case = case(finding).map_or(String::new(), |layer| layer.suite.clone());
            let here = case.is_empty() || is_of(&case);
            here.then(|| CaseWarning { case, warning: warning(finding) })
        });
        found.collect()
    };
    let entry = |suite| super::suite::entry(suite, &analysis.suite_curves, of_suite(&suite.name));
    analysis.suites.iter().map(entry).collect()
}

fn run(recording: &Recording, analysis: &Analysis) -> Run {
    let (header, source) = (recording.header.as_ref(), recording.source.as_ref());
    let command = header.map(|header| &header.command).or(source.map(|source| &source.command));
    let plan = recording.plan();
    let mut layers = analysis.layers.iter().chain(&analysis.suite_layers);
    let network = layers.find(|layer| layer.place == Place::Network && layer.from.is_some());
    let wire: Wire = network.map(|layer| wire(recording, layer)).unwrap_or_default();
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let congestion: BTreeSet<&String> = recording
        .steps
        .iter()
        .flat_map(|step| &step.sockets)
        .filter_map(|socket| socket.congestion_control.as_ref())
        .collect();
    let slept =
        recording.steps.iter().filter(|step| step.case.wait == Wait::Sleeping && step.roles.len() > 1);
    Run {
        version: text(header.map(|header| &header.version).or(source.map(|source| &source.linerate))),
        seed: plan.map_or(0, |plan| plan.seed),
        plan_hash: text(header.map(|header| &header.plan_hash)),
        profile: text(plan.map(|plan| &plan.profile.name)),
        utc: text(
            header
                .map(|header| &header.utc)
                .or(source.map(|source| source.utc.as_ref().unwrap_or(&source.imported_utc))),
        ),
        confidence: CONFIDENCE,
        target: plan
            .map(|plan| plan.target.to_string())
            .or(source.map(|source| source.tool.clone()))
            .unwrap_or_default(),
        command: command.cloned().unwrap_or_default(),
        settings: plan.map_or_else(Vec::new, |plan| plan.settings.iter().map(ToString::to_string).collect()),
        planned_passes: plan.map_or(0, |plan| plan.profile.passes),
        hosts: recording.hosts.iter().map(|facts| host(recording, facts)).collect(),
        interfaces: wire
            .interfaces
            .into_iter()
            .map(|(name, driver)| InterfaceEntry { name, driver })
            .collect(),
        mtu: wire.mtu,
        path_mtu: path_mtu(recording, wire.mtu),
        line_bps: wire.line_bps,
        congestion_control: congestion.into_iter().cloned().collect(),
        kept_awake: slept.map(|step| step.kept_awake).reduce(|all, one| all && one),
        listening: super::listening::listening(recording, analysis),
        ended: super::ended::ended(recording),
    }
}

/// The least MTU that a connection between hosts found on its path, where it is below the interfaces'.
fn path_mtu(recording: &Recording, of_interfaces: Option<u64>) -> Option<u64> {
    let crosses = |step: &&StepRecord| !step.case.pairs.is_within_host();
    let sockets = recording.steps.iter().filter(crosses).flat_map(|step| &step.sockets);
    let least = sockets.filter_map(|socket| socket.last.get("pmtu").copied()).filter(|mtu| *mtu > 0).min()?;
    of_interfaces.filter(|mtu| least < *mtu).map(|_| least)
}

/// The rung's; what goes over IPv6 though its name does not say so, says so.
fn title(recording: &Recording, layer: &Layer) -> String {
    let Some(rung) = Rung::named(&layer.rung) else { return layer.rung.clone() };
    let is_v6 =
        rung.place == Place::Network && rung.family == Family::V4 && super::listening::is_v6(recording);
    let chosen = layer.chosen.as_ref().map_or(String::new(), |engine| format!(": {engine}"));
    format!("{}{chosen}{}", rung.title, if is_v6 { " over IPv6" } else { "" })
}

fn host(recording: &Recording, host: &HostFacts) -> HostEntry {
    let text = |name| fact(host, name).and_then(Value::as_str).map(String::from);
    HostEntry {
        host: host.host,
        reached: host.reached.clone(),
        machine: host.machine.clone(),
        cpu_model: text("cpu.model"),
        cpus: host.cpus.len(),
        kernel: text("kernel.release"),
        address: super::listening::address(recording, host),
    }
}

fn entry(analysis: &Analysis, layer: &Layer) -> LadderEntry {
    let engine = layer.wait.map(|wait| match wait {
        Wait::Polling => "polling",
        Wait::Sleeping => "blocking",
    });
    LadderEntry {
        id: layer.rung.clone(),
        title: String::new(),
        below: layer.below.map(String::from),
        below_host: layer.below_host,
        host: layer.host(),
        direction: layer.direction(),
        message_bytes: layer.ladder_bytes,
        latency_bytes: analysis.latency_bytes,
        flows: layer.flows,
        engine: engine.map(String::from),
        chosen_engine: layer.chosen.clone(),
        placement: layer.placement.clone(),
        throughput_bps: layer.throughput_bps,
        lost_share: layer.lost_share,
        half_round_trip_ns: HalfRoundTrip { polling: layer.polling_ns, sleeping: layer.sleeping_ns },
        kept_of_below: layer.kept_of_below,
        stage_bps: layer.stage_bps(),
        cost: layer.cost,
        cpu_ns_per_byte: layer.cpu,
        cpu_model: cpu_model(analysis, layer),
        retransmits: layer.retransmits,
        between_run: BetweenRun::default(),
        bound: None,
        next_bound: None,
        bounds: Vec::new(),
        unexplained_ns_per_byte: None,
        unavailable: layer.unavailable.clone(),
        not_measured: layer.not_measured.clone(),
        warnings: Vec::new(),
    }
}

fn between_run(recording: &Recording, layer: &Layer) -> BetweenRun {
    let spread = |of: SpreadOf| {
        let spread = recording.calibration.as_ref()?.spread(&layer.name(), of)?;
        let RunSpread { share, centre, runs, source, .. } = *spread;
        Some(SpreadEntry { share, centre, runs, source })
    };
    let [throughput, polling, sleeping] = SpreadOf::ALL.map(spread);
    BetweenRun { throughput, polling, sleeping }
}

fn cpu_model(analysis: &Analysis, layer: &Layer) -> CpuModelEntry {
    let side = |side| CpuCost::of_layer(layer, &analysis.curves, side);
    CpuModelEntry { sender: side(Side::Sender), receiver: side(Side::Receiver) }
}

fn waterfall(analysis: &Analysis, waterfall: &Waterfall) -> WaterfallEntry {
    let gaps = waterfall.gaps.iter().filter_map(|gap| {
        let layer = analysis.layers.get(gap.layer)?;
        Some(GapEntry {
            id: layer.rung.clone(),
            host: layer.host(),
            direction: layer.direction(),
            ns: gap.ns,
            share: gap.share,
        })
    });
    WaterfallEntry {
        wait: waterfall.wait,
        message_bytes: waterfall.message_bytes,
        total_ns: waterfall.total_ns,
        ideal_ns: waterfall.ideal_ns,
        gaps: gaps.collect(),
    }
}

fn bound(bound: &Bound) -> BoundEntry {
    BoundEntry {
        name: bound.name.into(),
        bps: bound.bps,
        low: bound.interval.map(|(low, _)| low),
        high: bound.interval.map(|(_, high)| high),
        explains: bound.explains,
        evidence: bound.evidence.clone(),
    }
}

fn warning(finding: &Finding) -> WarningEntry {
    WarningEntry {
        code: finding.code.into(),
        text: finding.text(),
        detail: finding.detail.clone(),
        hint: finding.hint.clone(),
        evidence: finding.evidence.clone(),
    }
}

/// None of a layer without one below, or of a single size.
fn efficiency(analysis: &Analysis, layer: &Layer) -> Option<EfficiencyEntry> {
    let kept = analysis::efficiency(analysis, layer);
    (kept.len() > 1).then(|| EfficiencyEntry {
        id: layer.rung.clone(),
        host: layer.host(),
        direction: layer.direction(),
        flows: layer.flows,
        below: layer.below.unwrap_or_default().into(),
        points: kept,
    })
}

fn distribution(analysis: &Analysis, one: &Distribution) -> Option<DistributionEntry> {
    let layer = analysis.layers.get(one.layer)?;
    Some(DistributionEntry {
        id: layer.rung.clone(),
        host: layer.host(),
        direction: layer.direction(),
        wait: one.wait,
        message_bytes: one.message_bytes,
        exchanges: one.exchanges,
        percentiles: one.percentiles.clone(),
    })
}

fn timeline(timeline: &Timeline) -> TimelineEntry {
    TimelineEntry {
        id: timeline.case.rung.clone(),
        pattern: timeline.case.pattern,
        flows: timeline.case.flows,
        from: timeline.case.pairs.senders(),
        to: timeline.case.pairs.receivers(),
        host: timeline.host,
        message_bytes: timeline.message_bytes,
        lead: timeline.lead,
        steady_from_s: timeline.steady_from_s,
        steady_bps: timeline.steady_bps,
        whole_bps: timeline.whole_bps,
        at_s: timeline.at_s.clone(),
        throughput_bps: timeline.throughput_bps.clone(),
        sampled: timeline.sampled.clone(),
    }
}
