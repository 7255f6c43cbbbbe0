//! A long stream in the JSON of iperf3: `start`, `intervals`, `end` with `sum_sent` and `sum_received`.
//!
//! It is for programs that read iperf3's JSON. linerate's stream is not iperf3's: what iperf3 would know and linerate
//! does not is null or left out, and `title` says who measured.

use crate::analysis::Timeline;
use crate::plan::HostId;
use crate::record::{Flow, Recording, RoleRecord, StepRecord, Trial};
use crate::report::{Rendered, Sheet};
use crate::vocabulary::{Does, Place, RUNGS, Rung};
use crate::{Error, Result};
use serde_json::{Value, json};

/// The long stream of the topmost layer between hosts.
pub fn iperf3(sheets: &[Sheet]) -> Result<Rendered> {
    let told = sheets.iter().map(|sheet| {
        let value = stream(sheet).ok_or_else(|| {
            let hint = "measure one: linerate run lab --only network.tcp; every number of any recording: --format json";
            Error::unavailable("this recording has no long stream between hosts, which alone is like a run of iperf3", hint)
        })?;
        Ok(serde_json::to_string_pretty(&value).unwrap_or_default() + "\n")
    });
    Ok(Rendered::Text(told.collect::<Result<String>>()?))
}

fn stream(sheet: &Sheet) -> Option<Value> {
    let timeline = topmost(&sheet.analysis.timelines)?;
    let recording = sheet.recording;
    let is_it = |trial: &&Trial| trial.case == timeline.case && trial.pass > 0;
    let trial = recording.trials.iter().find(is_it)?;
    let step = recording.steps.iter().find(|step| step.step == trial.step);
    let side = |does: Does| trial.roles.iter().filter(move |role| role.does == does);
    let sent = sum(side(Does::Sends), true);
    let received = sum(side(Does::Receives), false);
    Some(json!({
        "title": format!("linerate {}: {}", env!("CARGO_PKG_VERSION"), timeline.case),
        "start": start(recording, timeline, trial, step),
        "intervals": intervals(timeline),
        "end": {
            "streams": [],
            "sum_sent": with_retransmits(sent, step, timeline.case.pairs.senders().single()),
            "sum_received": received,
            "cpu_utilization_percent": {
                "host_total": busy(side(Does::Sends)),
                "host_user": null,
                "host_system": null,
                "remote_total": busy(side(Does::Receives)),
                "remote_user": null,
                "remote_system": null,
            },
            "sender_tcp_congestion": congestion(step, timeline.case.pairs.senders().single()),
            "receiver_tcp_congestion": congestion(step, timeline.case.pairs.receivers().single()),
        },
    }))
}

/// Of the topmost layer between hosts, one flow before several.
fn topmost(timelines: &[Timeline]) -> Option<&Timeline> {
    let height = |timeline: &Timeline| {
        RUNGS.iter().position(|rung| rung.id == timeline.case.rung && rung.place == Place::Network)
    };
    let in_chain =
        |timeline: &Timeline| RUNGS.iter().any(|rung| rung.id == timeline.case.rung && !rung.sibling);
    let network = timelines.iter().filter(|timeline| height(timeline).is_some());
    network.min_by_key(|timeline| {
        (
            !in_chain(timeline),
            timeline.case.flows,
            std::cmp::Reverse(height(timeline)),
            timeline.case.pairs.from_names(),
        )
    })
}

fn start(recording: &Recording, timeline: &Timeline, trial: &Trial, step: Option<&StepRecord>) -> Value {
    let header = recording.header.as_ref();
    let begun = header.and_then(|header| header.utc.parse::<jiff::Timestamp>().ok());
    let after = step.map_or(0, |step| step.at_ns);
    let at = begun.and_then(|begun| {
        begun.checked_add(jiff::SignedDuration::from_nanos(i64::try_from(after).ok()?)).ok()
    });
    let rung = Rung::named(&timeline.case.rung);
    let host = |id: HostId| recording.hosts.iter().find(|host| host.host == id);
    json!({
        "connected": [],
        "version": null,
        "system_info": null,
        "timestamp": {
            "time": at.map(|at| at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()),
            "timesecs": at.map(jiff::Timestamp::as_second),
        },
        "connecting_to": {
            "host": timeline.case.pairs.receivers().single().and_then(host).and_then(|host| host.address.clone()),
            "port": null,
        },
        "cookie": null,
        "test_start": {
            "protocol": rung.map(|rung| rung.transport.name.to_uppercase()),
            "num_streams": trial.case.flows,
            "blksize": trial.block.message_bytes,
            "omit": 0,
            "duration": timeline.at_s.last().map(|seconds| seconds.round()),
            "bytes": 0,
            "blocks": 0,
            "reverse": 0,
            "tos": null,
        },
    })
}

/// The rates of the slices, by the receiver's bytes and clock.
fn intervals(timeline: &Timeline) -> Vec<Value> {
    let begins = std::iter::once(0.0).chain(timeline.at_s.iter().copied());
    let slices = begins.zip(&timeline.at_s).zip(&timeline.throughput_bps);
    let one = |((begin, end), rate): ((f64, &f64), &Option<f64>)| {
        let bytes = rate.map(|rate| (rate * (end - begin) / 8.0).round() as u64);
        json!({
            "streams": [],
            "sum": {
                "start": begin,
                "end": end,
                "seconds": end - begin,
                "bytes": bytes,
                "bits_per_second": rate,
                "omitted": false,
                "sender": false,
            },
        })
    };
    slices.map(one).collect()
}

/// All bytes of an end, and its longest time.
fn sum<'r>(roles: impl Iterator<Item = &'r RoleRecord>, sender: bool) -> Value {
    let flows: Vec<&Flow> = roles.flat_map(|role| &role.flows).collect();
    let bytes: u64 = flows.iter().map(|flow| flow.bytes).fold(0, u64::saturating_add);
    let seconds = flows.iter().map(|flow| flow.duration_ns).max().unwrap_or(0) as f64 / 1e9;
    json!({
        "start": 0,
        "end": seconds,
        "seconds": seconds,
        "bytes": bytes,
        "bits_per_second": (seconds > 0.0).then(|| 8.0 * bytes as f64 / seconds),
        "sender": sender,
    })
}

fn with_retransmits(mut sum: Value, step: Option<&StepRecord>, host: Option<HostId>) -> Value {
    let sockets = step.into_iter().flat_map(|step| &step.sockets).filter(|socket| Some(socket.host) == host);
    let counts: Vec<u64> =
        sockets.map(|socket| socket.moved.get("total_retrans").copied().unwrap_or(0)).collect();
    // A connection whose counter did not move has none to tell; without a connection nothing is known.
    if let (false, Some(sum)) = (counts.is_empty(), sum.as_object_mut()) {
        sum.insert(
            "retransmits".into(),
            counts.iter().fold(0u64, |all, one| all.saturating_add(*one)).into(),
        );
    }
    sum
}

/// CPU time of an end's threads over its time, in per cent.
fn busy<'r>(roles: impl Iterator<Item = &'r RoleRecord>) -> Option<f64> {
    let flows: Vec<&Flow> = roles.flat_map(|role| &role.flows).collect();
    let longest = flows.iter().map(|flow| flow.duration_ns).max().filter(|longest| *longest > 0)?;
    let used: f64 = flows.iter().map(|flow| flow.cpu_ns as f64).sum();
    Some(100.0 * used / longest as f64)
}

fn congestion(step: Option<&StepRecord>, host: Option<HostId>) -> Option<&str> {
    let sockets = step.into_iter().flat_map(|step| &step.sockets);
    sockets.filter(|socket| Some(socket.host) == host).find_map(|socket| socket.congestion_control.as_deref())
}
