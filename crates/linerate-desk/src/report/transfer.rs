//! A transfer of a file in words, and as JSON.

use crate::diagnosis::{transfer_bound, transfer_seal};
use crate::record::{FileIo, Transfer};
use crate::unit::{BitRate, Nanoseconds, counted, percent, significant};
use serde_json::{Value, json};

/// What is printed.
pub fn transfer_text(transfer: &Transfer) -> String {
    let mut text = format!("moved     {}\n", moved(transfer));
    text += &format!("rate      {}\n", rate(transfer));
    text.extend(past_cache(transfer).map(|said| format!("files     {said}\n")));
    if let Some(digest) = &transfer.receiver.digest {
        text += &format!("digest    {digest} (BLAKE3, told alike by both ends)\n");
    }
    text.extend(transfer_seal(transfer).map(|said| format!("sealed    {said}\n")));
    if let Some(bound) = transfer_bound(transfer) {
        text += &format!("bound     {}\n", bound.sentence);
        text.extend(bound.hint.map(|hint| format!("try       {hint}\n")));
    }
    text
}

/// The same for a program: the transfer as it is recorded, and what follows from it.
pub fn transfer_json(transfer: &Transfer) -> Value {
    let bound = transfer_bound(transfer);
    let said = bound.map(|bound| {
        json!({ "name": bound.name, "share": bound.share, "sentence": bound.sentence, "hint": bound.hint })
    });
    json!({
        "schema": "linerate.transfer-report/1",
        "transfer": transfer,
        "throughput_bps": transfer.throughput_bps(),
        "bound": said,
        "sealed": transfer_seal(transfer),
    })
}

fn moved(transfer: &Transfer) -> String {
    let streams = counted(transfer.receiver.streams.len() as u64, "stream");
    let held = match transfer.receiver.held_bytes {
        0 => String::new(),
        held => format!("; {} of it were there already, and are the source's", size(held)),
    };
    let cached = transfer.cached_share.map_or(String::new(), |share| {
        let how = if transfer.made_cold { ", after its pages were asked to go" } else { "" };
        format!("; {} of the source was in memory{how}", percent(share))
    });
    let Transfer { source, destination, bytes, files, .. } = transfer;
    let files = files.map_or(String::new(), |files| format!(" in {}", counted(files, "file")));
    format!("{}{files} from {source} to {destination}, {streams}{held}{cached}", size(*bytes))
}

/// Whether the files went past the page cache, where that was asked for, and else why not.
fn past_cache(transfer: &Transfer) -> Option<String> {
    let of = |done: &str, io: &Option<FileIo>| {
        let io = io.as_ref()?;
        let why = io.why_not.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        let how = if io.past_cache {
            "past the page cache (O_DIRECT by io_uring)"
        } else {
            "through the page cache"
        };
        Some(format!("{done} {how}{why}"))
    };
    let said = [of("read", &transfer.sender.file_io), of("written", &transfer.receiver.file_io)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn rate(transfer: &Transfer) -> String {
    let receiver = &transfer.receiver;
    let time = |ns: u64| Nanoseconds(ns as f64).to_string();
    let Some(rate) = transfer.throughput_bps() else { return "nothing had to cross".into() };
    let reached = match (receiver.sync_ns, transfer.allocated) {
        (Some(_), Some(_)) => "on the disk",
        (None, Some(_)) => "written, to the page cache at least (not waited for the disk)",
        (_, None) => "received, and thrown away",
    };
    format!(
        "{} by the receiver: first stream done after {}, last after {}, all {reached} after {}",
        BitRate(rate),
        time(receiver.first_done_ns),
        time(receiver.last_done_ns),
        time(receiver.done_ns),
    )
}

/// `1.25 MiB`: three digits, for a person.
pub fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units.iter().find(|(_, unit)| bytes >= *unit);
    unit.map_or_else(
        || format!("{bytes} B"),
        |(name, unit)| format!("{} {name}", significant(bytes as f64 / *unit as f64, 3)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{TransferEnd, TransferStream};

    #[test]
    fn what_reached_only_memory_says_so() {
        let stream =
            TransferStream { bytes: 10_000_000, elapsed_ns: 10_000_000, ..TransferStream::default() };
        let end = TransferEnd { streams: vec![stream], done_ns: 10_000_000, ..TransferEnd::default() };
        let mut transfer = Transfer {
            source: "/a".into(),
            destination: "/b".into(),
            bytes: 10_000_000,
            allocated: Some(true),
            receiver: end,
            ..Transfer::default()
        };
        let text = transfer_text(&transfer);
        assert!(text.contains("8.00 Gb/s") && text.contains("not waited for the disk"), "{text}");
        transfer.receiver.sync_ns = Some(1);
        assert!(transfer_text(&transfer).contains("on the disk"));
        transfer.allocated = None;
        assert!(transfer_text(&transfer).contains("thrown away"));
        assert_eq!(transfer_json(&transfer)["throughput_bps"], 8e9);
    }

    #[test]
    fn what_went_past_the_cache_is_told() {
        let mut transfer = Transfer::default();
        assert_eq!(past_cache(&transfer), None, "nobody asked");
        transfer.sender.file_io = Some(FileIo { past_cache: true, why_not: None });
        let why_not = Some("open: its files are in memory alone".into());
        transfer.receiver.file_io = Some(FileIo { past_cache: false, why_not });
        let said = past_cache(&transfer).unwrap();
        assert!(said.starts_with("read past the page cache (O_DIRECT"), "{said}");
        assert!(
            said.ends_with("written through the page cache (open: its files are in memory alone)"),
            "{said}"
        );
    }

    #[test]
    fn a_transfer_that_found_everything_has_no_rate() {
        let receiver = TransferEnd { held_bytes: 4 << 20, ..TransferEnd::default() };
        let text = transfer_text(&Transfer { bytes: 4 << 20, receiver, ..Transfer::default() });
        assert!(
            text.contains("nothing had to cross") && text.contains("4.00 MiB of it were there"),
            "{text}"
        );
    }
}
