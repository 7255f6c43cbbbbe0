//! What a launcher puts before each line of its ranks: `[1,0]<stdout>:` of Open MPI's --tag-output, `[0] ` of MPICH's -l,
//! `0: ` of srun's -l, `NAME: ` of pdsh and clush; and what keeps the output of services: `NAME | ` of docker compose,
//! `[pod/NAME/CONTAINER] ` of kubectl, a time as docker, kubectl and ts write it, a line's head in the journal, NAME and a tab of
//! parallel; the numbers of lines that cat -n and grep -n count; and the colours of a terminal.

mod colour;
mod syslog;
mod time;

use super::{Read, failed, refuse};
use crate::vocabulary::TOOLS;
pub(super) use colour::without_colours;
use std::borrow::Cow;
use std::collections::BTreeMap;
use syslog::{logged, logged_by_ctime};
use time::{time, time_and_year};

/// What of a line's beginning is a launcher's.
#[derive(Clone, Copy, PartialEq)]
struct Mark<'l> {
    bytes: usize,
    /// Whose line it is, where several write for themselves and not for one program.
    name: Option<&'l str>,
}

/// Reads one; none where a line has none.
type Reader = for<'l> fn(&'l str) -> Option<Mark<'l>>;

/// In which lines a mark must stand to be one.
#[derive(Clone, Copy)]
enum Stands {
    /// Nothing else looks so.
    Anywhere,
    InMost,
    /// In all that the other reader marks: what a tool writes in some looks the same.
    InAllOf(Reader),
    /// In all, with numbers that count up: what begins with any other number is a tool's.
    CountingUp,
}

/// One a launcher.
const MARKS: [(Reader, Stands); 12] = [
    (counted, Stands::CountingUp),
    (tagged, Stands::Anywhere),
    (bracketed, Stands::InMost),
    (numbered, Stands::InMost),
    (composed, Stands::InMost),
    (podded, Stands::Anywhere),
    (logged, Stands::InMost),
    (logged_by_ctime, Stands::InMost),
    (timed_by_ctime, Stands::InAllOf(timed)),
    (timed, Stands::InMost),
    (tabbed, Stands::InMost),
    (called, Stands::InMost),
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
    // Lines that have none are many where a tool's own are looked at: more than may be missing are not looked for.
    let marked = |mark: Reader, most_missing: usize| {
        let is_missing = |at: &&usize| mark(rest(**at, skipped[**at]).1).is_none();
        let missing = filled.iter().filter(is_missing).take(most_missing + 1).count();
        (missing <= most_missing).then(|| filled.len() - missing)
    };
    // More than nine of ten.
    let most = filled.len().saturating_sub(1) / 10;
    let is_of = |(mark, stands): &&(Reader, Stands)| {
        filled.len() > 1
            && match stands {
                Stands::Anywhere => marked(*mark, filled.len() - 1).is_some(),
                Stands::InMost => marked(*mark, most).is_some(),
                Stands::InAllOf(other) => {
                    let marks = marked(*mark, most);
                    marks.is_some() && marks == marked(*other, most)
                }
                Stands::CountingUp => {
                    let is_in_all = marked(*mark, 0).is_some();
                    is_in_all && counts_up(filled.iter().map(|at| rest(*at, skipped[*at]).1))
                }
            }
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

/// `12:` of grep -n, `    12` and a tab of cat -n and nl.
fn counted(line: &str) -> Option<Mark<'_>> {
    let digits = line.trim_start().bytes().take_while(u8::is_ascii_digit).count();
    let end = line.len() - line.trim_start().len() + digits;
    let is_other = line.contains(" times -->") || time(line).is_some();
    let is_grep = end == digits && line[end..].starts_with(':') && !is_other;
    (is_number(&line[end - digits..end]) && (is_grep || line[end..].starts_with('\t')))
        .then_some(plain(end + 1))
}

/// Whether the number of each line is more than that of the one before, and by one before a tab, where nobody picks lines.
fn counts_up<'l>(lines: impl Iterator<Item = &'l str>) -> bool {
    let numbers: Vec<(u64, bool)> = lines
        .map_while(|line| {
            let line = line.trim_start();
            let end = line.find(|letter: char| !letter.is_ascii_digit())?;
            Some((line[..end].parse().ok()?, line[end..].starts_with('\t')))
        })
        .collect();
    numbers.windows(2).all(|two| match two[1] {
        (number, true) => number == two[0].0 + 1,
        (number, false) => number > two[0].0,
    })
}

/// `client-1  | `, with blanks that align the names.
fn composed(line: &str) -> Option<Mark<'_>> {
    let (before, rest) = line.split_once('|')?;
    // Blanks stand there for a colour, too.
    let name = before.trim();
    (before.ends_with(' ') && is_name(name) && (rest.is_empty() || rest.starts_with(' ')))
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

/// A time of docker logs -t, kubectl logs --timestamps, ts(1) and others, and what a container engine or a CI service says of
/// the stream behind it, or how grave the line is.
fn timed(line: &str) -> Option<Mark<'_>> {
    timed_until(time(line)?, line)
}

/// Likewise with a year at its end.
fn timed_by_ctime(line: &str) -> Option<Mark<'_>> {
    timed_until(time_and_year(line)?, line)
}

fn timed_until(end: usize, line: &str) -> Option<Mark<'_>> {
    // A warning and an error may be the tool's own complaint.
    const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "NOTICE", "stdout", "stderr"];
    let word = |at: usize| line[at..].strip_prefix([' ', '\t'])?.split([' ', '\t']).next();
    let level = |at: usize| word(at).filter(|word| LEVELS.contains(&word.trim_matches(['[', ']', ':'])));
    // `01O` of GitLab, `F` and `P` of the container runtime interface.
    let is_of_stream = |word: &&str| {
        let of_gitlab = word.trim_end_matches('+');
        let of_gitlab = of_gitlab.len() == 3 && of_gitlab.strip_suffix(['O', 'E']).is_some_and(is_number);
        of_gitlab || ["F", "P"].contains(word)
    };
    let end = level(end).map_or(end, |word| end + 1 + word.len());
    Some(plain(word(end).filter(is_of_stream).map_or(end, |word| end + 1 + word.len())))
}

/// `node7` and a tab, of parallel --tag.
fn tabbed(line: &str) -> Option<Mark<'_>> {
    let (name, _) = line.split_once('\t')?;
    let is_host = name.bytes().any(|byte| byte.is_ascii_alphabetic()) || name.split('.').count() == 4;
    (is_name(name) && is_host).then_some(Mark { bytes: name.len() + 1, name: Some(name) })
}

fn is_name(text: &str) -> bool {
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
    !text.is_empty() && text.bytes().all(of_name)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of the lines of a tool behind a mark, a voice each.
    fn left(mark: &str) -> Vec<(Option<String>, String)> {
        let lines = [
            "PING 127.0.0.1 (127.0.0.1) 56(84) bytes",
            "",
            "64 bytes from 127.0.0.1: icmp_seq=1",
            "{ \"a\": 1 }",
        ];
        let text: String = lines.iter().map(|line| format!("{mark}{line}\n")).collect();
        let plain = without_colours(&text);
        assert_eq!(plain.len(), text.len());
        let voices = voices(&plain).unwrap();
        let trimmed = |text: &str| text.lines().map(|line| line.trim().to_owned() + "\n").collect::<String>();
        let expected = lines.map(|line| format!("{line}\n")).concat();
        voices.iter().for_each(|(_, text)| assert_eq!(trimmed(text), expected, "{mark:?}"));
        voices.into_iter().map(|(name, text)| (name, text.into_owned())).collect()
    }

    #[test]
    fn marks_of_journals_services_and_terminals_are_no_part() {
        for mark in [
            "Nov 27 21:10:43 ",
            "00:00:01 ",
            "1732741843.123456 ",
            "[21:10:43] ",
            "[2026-11-27 21:10:43] ",
            "27.11.2026 21:10:43 ",
            "1732741843.123456 node7 iperf3[4711]: ",
            "[  123.456789] node7 iperf3[4711]: ",
            "Fri 2026-11-27 21:10:43 UTC node7 iperf3[4711]: ",
            "Fri Nov 27 21:10:43 2026 ",
            "Fri Nov 27 21:10:43 UTC 2026 ",
            "Fri Nov 27 21:10:43 2026 node7 iperf3[4711]: ",
            "Fri 2026-11-27 21:10:43 AEDT node7 iperf3[4711]: ",
            "Fri 2026-11-27 21:10:43 +03 node7 iperf3[4711]: ",
            "Fri 2026-11-27 21:10:43 +0545 node7 iperf3[4711]: ",
            "Nov 27 21:10:43.123456 node7 iperf3[4711]: ",
            "2026-11-27T21:10:43+0000 node7 iperf3[4711]: ",
            "<14>Nov 27 21:10:43 node7 iperf3: ",
            "<14>1 2026-11-27T21:10:43.003Z node7 iperf3 4711 - - ",
            "<14>1 2026-11-27T21:10:43.003Z node7 iperf3 4711 - [timeQuality tzKnown=\"1\" isSynced=\"1\"] ",
            "<14>1 2026-11-27T21:10:43.003Z node7 iperf3 4711 ID47 [a@1 b=\"[c\\]\\\\\"][d e=\"f g\"] ",
            "2026-11-27T09:00:00.123456789+00:00 stdout F ",
            "2026-11-27T09:00:00.123456Z 01O ",
            "2026-11-27 21:10:43,123 INFO ",
            "node7\t",
            "svc_c.1.x0y1z2@node7    | ",
            "\u{1b}[36mclient-1  |\u{1b}[0m ",
            "\u{1b}[1;36mclient-1  |\u{1b}[0m 2026-11-27T09:00:00Z ",
            "root@node7: ",
            "node7.example.org: ",
        ] {
            assert_eq!(left(mark).len(), 1, "{mark:?}");
        }
    }

    #[test]
    fn a_size_behind_a_time_is_no_year() {
        let sizes: Vec<String> = (0..20).map(|power| format!("{:<12}3.14", 1 << power)).collect();
        let mut pings = vec!["2048 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.045 ms"; 100];
        pings.insert(0, "PING 127.0.0.1 (127.0.0.1) 2040(2068) bytes of data.");
        for lines in [sizes.iter().map(String::as_str).collect(), pings] {
            for (mark, blank) in [("Fri Nov 27 21:10:43 ", 20), ("Fri Nov 27 21:10:43 2026 ", 25)] {
                let text: String = lines.iter().map(|line| format!("{mark}{line}\n")).collect();
                let expected: String = lines.iter().map(|line| " ".repeat(blank) + line + "\n").collect();
                assert_eq!(voices(&text).unwrap()[0].1, expected);
            }
        }
    }

    #[test]
    fn numbers_of_lines_are_no_part_where_they_count() {
        let lines = ["PING 127.0.0.1 (127.0.0.1) 56(84) bytes", "", "64 bytes from 127.0.0.1: icmp_seq=1"];
        let marks: [fn(usize) -> String; 3] =
            [|at| format!("{:6}\t", at + 1), |at| format!("{}:", at + 8), |at| format!("{}:", 3 * at)];
        for mark in marks {
            let text: String =
                lines.iter().enumerate().map(|(at, line)| format!("{}{line}\n", mark(at))).collect();
            let left = voices(&text).unwrap().remove(0).1;
            assert!(left.lines().map(str::trim_start).eq(lines), "{left}");
        }
        let hours = "09:00:00 64 bytes\n10:00:00 64 bytes\n";
        assert!(
            voices(hours).unwrap()[0].1.lines().all(|line| line == "         64 bytes"),
            "times, and no numbers"
        );
        for sizes in ["1\t3.1\n2\t3.2\n4\t3.3\n", "1:3.1\n1:3.2\n", "1:3.1\n3:3.2\n2:3.3\n"] {
            assert_eq!(voices(sizes).unwrap()[0].1, sizes);
        }
    }

    #[test]
    fn what_a_tool_complains_of_is_no_level() {
        let text = "21:10:43 INFO a\n21:10:43 WARNING: b\n21:10:43 WARN c\n21:10:43 [ERROR] d\n";
        let left = voices(text).unwrap().remove(0).1;
        let left: Vec<&str> = left.lines().map(str::trim_start).collect();
        assert_eq!(left, ["a", "WARNING: b", "WARN c", "[ERROR] d"]);
    }

    #[test]
    fn letters_of_two_bytes_are_cut_nowhere() {
        for line in ["21:10:43 1é ping", "21:10:43 é1", "é\tü", "<1>é", "[é] ü", "21:10:43 INFO 1é"] {
            let text = format!("{line}\n{line}\n");
            assert!(!voices(&text).unwrap().is_empty(), "{line}");
        }
    }
}
