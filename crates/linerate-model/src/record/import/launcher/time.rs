//! A time before a line, as ts(1), the journal, syslog, container engines and CI services write it.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// What may stand behind a clock; not every word in capitals is one, as PING is not.
const ZONES: [&str; 17] = [
    "UTC", "GMT", "CET", "CEST", "EET", "EEST", "BST", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST",
    "PDT", "AM", "PM",
];

/// What a word says of a time.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Weekday,
    Month,
    /// A number that means it only behind a month.
    Day,
    /// Likewise behind all else.
    Year,
    Date,
    Zone,
    /// What is a time of day, with a date or without.
    Clock,
}

/// The bytes of a time at the beginning of a line, in brackets or not; a year behind the clock only within them.
pub(super) fn time(line: &str) -> Option<usize> {
    let Some(inner) = line.strip_prefix('[') else { return scan(line, false) };
    let (inner, _) = inner.split_once(']')?;
    // Seconds in brackets are ping's and fping's own.
    let is_whole = scan(inner, true) == Some(inner.len()) && inner.contains(':');
    is_whole.then_some(inner.len() + 2)
}

/// Likewise with a year behind the clock, as ctime(3) writes it; none without one. A size of 2000 to 2099 looks the same.
pub(super) fn time_and_year(line: &str) -> Option<usize> {
    scan(line, true).filter(|end| scan(line, false).is_some_and(|without| without < *end))
}

/// Seconds since the machine's start in brackets, as journalctl -o short-monotonic has them.
pub(super) fn uptime(line: &str) -> Option<usize> {
    let (inner, _) = line.strip_prefix('[')?.split_once(']')?;
    let (whole, part) = inner.trim_start().split_once('.')?;
    (is_digits(whole) && part.len() == 6 && is_digits(part)).then_some(inner.len() + 2)
}

/// Where the words that are of a time end, with a year behind the clock or not; none without a time of day.
fn scan(text: &str, is_with_year: bool) -> Option<usize> {
    let (mut end, mut seen) = (0, Vec::new());
    let mut at = 0;
    for word in text.split([' ', '\t']) {
        let from = at;
        at += word.len() + 1;
        if word.is_empty() && !seen.is_empty() {
            continue;
        }
        let has = |part| seen.contains(&part);
        // Each once: a line may be as long as a file, and all of it such words.
        let Some(part) = part(word).filter(|part| !has(*part)) else { break };
        let fits = match part {
            Part::Day => seen.last() == Some(&Part::Month),
            // Before the clock nothing else is meant.
            Part::Year if !has(Part::Clock) => has(Part::Month),
            Part::Year => is_with_year && has(Part::Weekday) && has(Part::Month) && from == end + 1,
            Part::Zone => seen.last() == Some(&Part::Clock),
            Part::Weekday | Part::Month | Part::Date => !has(Part::Clock),
            Part::Clock => true,
        };
        if !fits {
            break;
        }
        seen.push(part);
        end = from + word.len();
    }
    seen.contains(&Part::Clock).then_some(end)
}

fn part(word: &str) -> Option<Part> {
    let is_year = word.len() == 4 && word.starts_with("20");
    let is_zone =
        ZONES.contains(&word) || word.len() == 5 && word.starts_with(['+', '-']) && is_digits(&word[1..]);
    let tests = [
        (WEEKDAYS.contains(&word.trim_end_matches(',')), Part::Weekday),
        (MONTHS.contains(&word), Part::Month),
        (is_digits(word) && word.len() < 3, Part::Day),
        (is_digits(word) && is_year, Part::Year),
        (is_date(word), Part::Date),
        (is_zone, Part::Zone),
        (is_clock(word) || is_stamp(word) || is_epoch(word), Part::Clock),
    ];
    tests.into_iter().find(|(is_it, _)| *is_it).map(|(_, part)| part)
}

/// `2026-11-27`, `2026/11/27`, `27.11.2026`, `11/27/2026`.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split(['-', '/', '.']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    parts.iter().all(|part| is_digits(part)) && (lengths == [4, 2, 2] || lengths == [2, 2, 4])
}

/// A date and a clock with a `T` between, as RFC 3339 has them.
fn is_stamp(word: &str) -> bool {
    word.split_once('T').is_some_and(|(day, clock)| is_date(day) && is_clock(clock))
}

/// `21:10:43`, with a part of a second and a zone.
fn is_clock(word: &str) -> bool {
    let Some((clock, rest)) = word.split_at_checked(8) else { return false };
    let mut parts = clock.split(':');
    let are_two = |part: Option<&str>| part.is_some_and(|part| part.len() == 2 && is_digits(part));
    let is_clock = (0..3).all(|_| are_two(parts.next())) && parts.next().is_none();
    is_clock && rest.bytes().all(|byte| byte.is_ascii_digit() || b".,:+-Z".contains(&byte))
}

/// Seconds since 1970 with a part of a second, as `ts '%.s'` and journalctl -o short-unix write them.
fn is_epoch(word: &str) -> bool {
    let (whole, part) = word.split_once('.').unwrap_or_default();
    whole.len() == 10 && is_digits(whole) && (3..=9).contains(&part.len()) && is_digits(part)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_form_are_told_from_what_follows() {
        for text in [
            "Nov 27 21:10:43",
            "Nov  7 21:10:43",
            "00:00:01",
            "21:10:43.123",
            "[21:10:43]",
            "1732741843.123456",
            "Fri 2026-11-27 21:10:43 UTC",
            "Nov 27 21:10:43.123456",
            "Nov 27 2026 21:10:43",
            "[Fri Nov 27 21:10:43 2026]",
            "27.11.2026 21:10:43",
            "11/27/2026 09:10:43 PM",
            "2026-11-27\t21:10:43",
            "[2026-11-27T21:10:43,123]",
            "2026-11-27T21:10:43.123456789+00:00",
            "2026-11-27 21:10:43 +0000",
        ] {
            for rest in ["", " PING 127.0.0.1", " 64 bytes from", "  2048 3.1", " [  5] local", " 12.5"] {
                assert_eq!(time(&format!("{text}{rest}")), Some(text.len()), "{text}{rest}");
            }
        }
    }

    #[test]
    fn a_year_behind_the_clock_is_a_time_s_where_it_is_asked_for() {
        for (text, end) in [
            ("Fri Nov 27 21:10:43 2026", Some(24)),
            ("Fri Nov 27 21:10:43 UTC 2026 64 bytes", Some(28)),
            ("Fri Nov 27 21:10:43  2048 3.14", None),
            ("Fri Nov 27 21:10:43 2026 2048 3.14", Some(24)),
            ("Nov 27 21:10:43 2048", None),
            ("Fri Nov 27 21:10:43 64 bytes", None),
        ] {
            assert_eq!(time_and_year(text), end, "{text}");
            assert!(time(text).unwrap() < 24, "{text}");
        }
    }

    #[test]
    fn a_long_line_of_words_of_a_time_is_none() {
        for word in ["Mon ", "Nov 27 ", "Nov ", "2026-11-27 ", "Fri Nov 27 "] {
            assert_eq!(time(&(word.repeat(1 << 20) + "21:10:43 a")), None, "{word}");
        }
        assert_eq!(time(&"21:10:43 ".repeat(1 << 20)), Some(8));
        assert_eq!(time(&format!("Mon{}21:10:43", " ".repeat(1 << 20))), Some((1 << 20) + 11));
    }

    #[test]
    fn what_tools_write_is_no_time() {
        for text in [
            "64 bytes from 127.0.0.1",
            "[1732741843.123456] 64 bytes from 127.0.0.1",
            "[  5]   0.00-1.00   sec",
            "20261127211043,10.0.0.1",
            "Nov 27",
            "May be",
            "12.5 17",
            "",
            "10:5:3 a",
            "fe80::1:2:3",
            "é1:10:43 ü",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
        assert_eq!(uptime("[  123.456789] node7 iperf3[1]: x"), Some(14));
        assert_eq!(uptime("[  5] x.y"), None);
    }
}
