//! What a launcher puts before each line of its ranks: `[1,0]<stdout>:` of Open MPI's --tag-output, `[0] ` of MPICH's -l,
//! `0: ` of srun's -l, `NAME: ` of pdsh and clush; and what keeps the output of services: `NAME | ` of docker compose,
//! `[pod/NAME/CONTAINER] ` of kubectl, a time as docker, kubectl and ts write it, a line's head in the journal.

use super::{Read, failed, refuse};
use crate::vocabulary::TOOLS;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What of a line's beginning is a launcher's.
#[derive(Clone, Copy, PartialEq)]
struct Mark<'l> {
    bytes: usize,
    /// Whose line it is, where several write for themselves and not for one program.
    name: Option<&'l str>,
}

/// Reads one; none where a line has none.
type Reader = for<'l> fn(&'l str) -> Option<Mark<'l>>;

/// One a launcher, and whether nothing else looks so: such a mark need not stand in most lines.
const MARKS: [(Reader, bool); 9] = [
    (tagged, true),
    (bracketed, false),
    (numbered, false),
    (composed, false),
    (podded, true),
    (logged, false),
    (stamped, false),
    (dated, false),
    (called, false),
];

/// At most so many marks before a line, as of a service and of its time.
const MOST_MARKS: usize = 3;

/// A text is kept once a name: no more bytes than that.
const MOST_BYTES: usize = 64 << 20;

/// A text with blanks in place of what is a launcher's, so that what stands in it stays where it was. Only where most lines
/// have one: a tool's own lines may look so too. One a name, where lines of several are mixed.
pub(super) fn voices(text: &str) -> Read<Vec<(Option<String>, Cow<'_, str>)>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut skipped = vec![0; lines.len()];
    let mut names: Vec<Option<&str>> = vec![None; lines.len()];
    let is_any = (0..MOST_MARKS).filter(|_| skip(&lines, &mut skipped, &mut names)).count() > 0;
    if !is_any {
        return Ok(vec![(None, Cow::Borrowed(text))]);
    }
    let mut each: BTreeMap<&str, usize> = BTreeMap::new();
    names.iter().flatten().for_each(|name| *each.entry(name).or_default() += 1);
    let is_one = each.len() < 2;
    let blanked = |of: Option<&str>| {
        let line = |((line, skipped), name): ((&&str, &usize), &Option<&str>)| {
            let is_other = !is_one && *name != of;
            let body = line.trim_end_matches(['\n', '\r']).len();
            let blank = if is_other { body } else { *skipped };
            " ".repeat(blank) + &line[blank..]
        };
        lines.iter().zip(&skipped).zip(&names).map(line).collect::<String>()
    };
    if is_one {
        return Ok(vec![(None, blanked(None).into())]);
    }
    if (each.len() + 1).saturating_mul(text.len()) > MOST_BYTES {
        let what =
            format!("lines of {} hosts or services are mixed in it, too many for its length", each.len());
        return refuse(what, "take those of one at a time: grep NAME FILE | linerate import -");
    }
    let mut voices: Vec<(Option<String>, Cow<'_, str>)> =
        each.keys().map(|name| (Some((*name).to_owned()), blanked(Some(name)).into())).collect();
    // What nobody is named for stands for itself.
    let unnamed = blanked(None);
    if !unnamed.trim().is_empty() {
        voices.push((None, unnamed.into()));
    }
    Ok(voices)
}

/// Skips one mark of each line; whether there is one.
fn skip<'l>(lines: &[&'l str], skipped: &mut [usize], names: &mut [Option<&'l str>]) -> bool {
    let rest = |at: usize, skipped: usize| {
        let rest = lines[at][skipped..].trim_end_matches(['\n', '\r']);
        let blank = if skipped > 0 { rest.len() - rest.trim_start().len() } else { 0 };
        (skipped + blank, &rest[blank..])
    };
    let filled: Vec<usize> =
        (0..lines.len()).filter(|at| !rest(*at, skipped[*at]).1.trim().is_empty()).collect();
    let is_of = |(mark, is_sure): &&(Reader, bool)| {
        let marked = filled.iter().filter(|at| mark(rest(**at, skipped[**at]).1).is_some()).count();
        let most = marked * 10 > filled.len() * 9;
        filled.len() > 1 && marked > 0 && (most || *is_sure)
    };
    let Some((mark, _)) = MARKS.iter().find(is_of) else { return false };
    for at in filled {
        let (from, rest) = rest(at, skipped[at]);
        if let Some(mark) = mark(rest) {
            skipped[at] = from + mark.bytes;
            names[at] = names[at].or(mark.name);
        }
    }
    true
}

/// A mark that is no name.
fn plain(bytes: usize) -> Mark<'static> {
    Mark { bytes, name: None }
}

/// `[1,0]<stdout>:`, with a time before the colon where one is asked for.
fn tagged(line: &str) -> Option<Mark<'_>> {
    let (ranks, rest) = line.strip_prefix('[')?.split_once("]<std")?;
    let end = rest.find('>')? + 1;
    // Open MPI 5 has its name before the ranks: `[prterun-host-4711@1,0]`.
    let numbers = ranks.rsplit('@').next().unwrap_or_default();
    let is_rank = numbers.split(',').all(|number| is_number(number.trim()));
    let colon = usize::from(rest[end..].starts_with(':'));
    is_rank.then_some(plain(1 + ranks.len() + "]<std".len() + end + colon))
}

/// `[0] `, and not the stream of an iperf: its lines have more blanks within.
fn bracketed(line: &str) -> Option<Mark<'_>> {
    let (rank, rest) = line.strip_prefix('[')?.split_once(']')?;
    let has = |word: &str| rest.contains(word);
    let is_iperf = !rest.trim_start().starts_with('[') && (has(" local ") || has(" sec ") || has("Interval"));
    (is_number(rank) && rest.starts_with(' ') && !is_iperf).then_some(plain(rank.len() + 2))
}

/// `0: ` with blanks before the number.
fn numbered(line: &str) -> Option<Mark<'_>> {
    let (rank, rest) = line.split_once(':')?;
    let is_netpipe = rest.contains(" times -->");
    (is_number(rank.trim_start()) && (rest.is_empty() || rest.starts_with(' ')) && !is_netpipe)
        .then_some(plain(rank.len() + 1))
}

/// `client-1  | `, with blanks that align the names.
fn composed(line: &str) -> Option<Mark<'_>> {
    let (before, rest) = line.split_once('|')?;
    let name = before.trim_end();
    (name.len() < before.len() && is_name(name) && (rest.is_empty() || rest.starts_with(' ')))
        .then_some(Mark { bytes: before.len() + 1, name: Some(name) })
}

/// `[pod/NAME/CONTAINER] ` of kubectl logs --prefix.
fn podded(line: &str) -> Option<Mark<'_>> {
    let (name, rest) = line.strip_prefix("[pod/")?.split_once(']')?;
    (!name.contains(' ') && (rest.is_empty() || rest.starts_with(' ')))
        .then_some(Mark { bytes: "[pod/".len() + name.len() + 1, name: Some(name) })
}

/// `node7: ` of pdsh and clush. What tools write of themselves looks the same.
fn called(line: &str) -> Option<Mark<'_>> {
    let (name, rest) = line.split_once(':')?;
    let is_tool =
        TOOLS.iter().any(|tool| name.starts_with(tool.name) || name.len() > 3 && tool.name.starts_with(name));
    // No host's name has an underscore, and the titles of qperf do.
    (is_name(name)
        && !name.contains('_')
        && !is_number(name)
        && !is_tool
        && !failed::begins_with(name)
        && (rest.is_empty() || rest.starts_with(' ')))
    .then_some(Mark { bytes: name.len() + 1, name: Some(name) })
}

/// `2026-11-27T09:00:00.123456789Z ` of docker logs -t and kubectl logs --timestamps (RFC 3339).
fn stamped(line: &str) -> Option<Mark<'_>> {
    let time = line.split(' ').next()?;
    let (day, clock) = time.split_once('T')?;
    (is_day(day) && is_clock(clock)).then_some(plain(time.len()))
}

/// `[2026-11-27 09:00:00] ` of ts(1) and of those who write so, also without the brackets.
fn dated(line: &str) -> Option<Mark<'_>> {
    let open = usize::from(line.starts_with('['));
    let (day, rest) = line[open..].split_once([' ', 'T'])?;
    let end = rest.find([']', ' ']).unwrap_or(rest.len());
    let close = usize::from(rest[end..].starts_with(']'));
    (is_day(day) && is_clock(&rest[..end]) && open == close)
        .then_some(plain(open + day.len() + 1 + end + close))
}

/// `Nov 27 09:00:00 host iperf3[4711]: ` of the journal and of syslog, also with a time of RFC 3339.
fn logged(line: &str) -> Option<Mark<'_>> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (head, _) = line.split_once(": ").or(line.strip_suffix(':').map(|head| (head, "")))?;
    let mut words = head.split_whitespace().peekable();
    let first = words.next()?;
    let is_time = match first.split_once('T') {
        Some((day, clock)) if is_day(day) => is_clock(clock),
        _ => {
            let (day, clock) = (words.next()?, words.next()?);
            first.len() == 3
                && MONTHS.contains(first)
                && is_number(day)
                && clock.len() == 8
                && is_clock(clock)
        }
    };
    // Host and program follow, and nothing else.
    (is_time && words.count() == 2).then_some(plain(head.len() + 1))
}

fn is_day(text: &str) -> bool {
    (text.len(), digits(text), text.matches('-').count()) == (10, 8, 2)
}

fn is_clock(text: &str) -> bool {
    text.is_ascii() && text.len() >= 8 && digits(&text[..8]) == 6 && text[..8].matches(':').count() == 2
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

fn is_name(text: &str) -> bool {
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !text.is_empty() && text.bytes().all(of_name)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}
