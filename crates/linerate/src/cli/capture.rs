//! `linerate capture`: the packets of a stream, from the arguments to the file.

use super::capture_args::Capture;
use super::fault::{as_asked, with_faults};
use super::measure::reached;
use super::page_file::{has_room, write};
use super::stop::Stop;
use super::{farewell, print, unmeasured};
use crate::report::{capture_json, capture_page, capture_text, pcapng};
use crate::run::capture::CaptureOrder;
use crate::{Error, Result};
use std::process::ExitCode;

/// Captures, and prints what came of it.
pub fn main(args: &Capture) -> Result<ExitCode> {
    has_room(&args.file)?;
    args.page.as_deref().map_or(Ok(()), has_room)?;
    let order =
        CaptureOrder { bytes: args.bytes, limit_ns: args.limit, back: args.back, most_bytes: args.keep };
    let target = with_faults(&args.target.target, &args.faults)?;
    let hosts = unmeasured::hosts(target, &args.reach, args.quiet || args.json);
    let (plan, stop) = (unmeasured::plan_of_connection(&hosts, &args.set, &[])?, Stop::listen()?);
    let wanted = || stop.wanted();
    let mut watcher = hosts.watching.start(&stop)?;
    watcher.announce("reaching the hosts");
    let captured =
        reached(&plan, &hosts, &wanted, watcher.as_mut()).and_then(|mut runner| runner.capture(&order));
    watcher.ended()?;
    // What a signal breaks on its way is no failure of its own.
    let mut capture = captured.map_err(|error| if stop.wanted() { Error::Interrupted } else { error })?;
    capture.target = as_asked(&args.target, &args.faults);
    let file = args.file.display().to_string();
    let text = match args.json {
        true => capture_json(&capture, &file).map_err(|e| Error::io("write", "JSON", e.into()))? + "\n",
        false => capture_text(&capture, &file),
    };
    // What was measured is told first: a file that cannot be written loses none of it, and is there also where nothing could be printed.
    let told = print(&text);
    write(&args.file, &pcapng(&capture, args.seen()))?;
    told?;
    if let Some(path) = &args.page {
        write(path, capture_page(&capture, &file).as_bytes())?;
    }
    farewell();
    Ok(ExitCode::SUCCESS)
}
