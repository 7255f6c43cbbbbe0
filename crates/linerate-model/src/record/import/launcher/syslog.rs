//! The head of a line in the journal and in syslog's files, RFC 3164 and RFC 5424.

use super::time::{time, time_and_year, uptime};
use super::{Mark, is_number, plain};

/// `Nov 27 09:00:00 host iperf3[4711]: ` of the journal and of syslog, with a time of any form that is known.
pub(super) fn logged(line: &str) -> Option<Mark<'_>> {
    logged_at(|rest| time(rest).or_else(|| uptime(rest)), line)
}

/// Likewise with a year at the time's end.
pub(super) fn logged_by_ctime(line: &str) -> Option<Mark<'_>> {
    logged_at(time_and_year, line)
}

fn logged_at(time: impl Fn(&str) -> Option<usize>, line: &str) -> Option<Mark<'_>> {
    let (priority, rest) = priority(line);
    let end = time(rest)?;
    // RFC 5424 has host, program, process, message and data, and no colon.
    if line[..priority].ends_with(' ') {
        let (data, _) = rest[end..].match_indices(' ').nth(4)?;
        let from = end + data + 1;
        return structured(&rest[from..]).map(|data| plain(priority + from + data));
    }
    let told = &rest[end..];
    let (head, _) = told.split_once(": ").or(told.strip_suffix(':').map(|head| (head, "")))?;
    // Host and program follow, and nothing else but a zone before them.
    let words: Vec<&str> = head.split_whitespace().take(4).collect();
    let is_head = words.len() == 2 || words.len() == 3 && is_zone(words[0]);
    is_head.then_some(plain(priority + end + head.len() + 1))
}

/// `AEST`, `+03`, `+0545`: there are too many for a list.
fn is_zone(word: &str) -> bool {
    let is_called = (2..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let hours = word.strip_prefix(['+', '-']).unwrap_or_default();
    is_called || [2, 4].contains(&hours.len()) && is_number(hours)
}

/// The bytes of a `-`, or of `[timeQuality tzKnown="1"][…]`, in whose values a backslash stands before each `]`.
fn structured(text: &str) -> Option<usize> {
    let mut end = usize::from(text.starts_with('-'));
    while end == 0 || text[..end].ends_with(']') {
        let Some(group) = text[end..].strip_prefix('[') else { break };
        let mut is_escaped = false;
        let closes = |byte: u8| {
            let closes = byte == b']' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            closes
        };
        end += 2 + group.bytes().position(closes)?;
    }
    (end > 0 && (text.len() == end || text[end..].starts_with(' '))).then_some(end)
}

/// Splits `<14>` and `<14>1 ` off, the priority and version of syslog.
fn priority(line: &str) -> (usize, &str) {
    let number =
        line.strip_prefix('<').and_then(|rest| rest.split_once('>')).filter(|(number, _)| is_number(number));
    number.map_or((0, line), |(number, rest)| {
        let version = if rest.starts_with("1 ") { 2 } else { 0 };
        (number.len() + 2 + version, &rest[version..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_data_ends_at_what_closes_it() {
        for (text, end) in [
            ("- a [b]", Some(1)),
            ("-", Some(1)),
            ("[a b=\"1\"] [  5] c", Some(9)),
            ("[a b=\"\\]\"][c] d", Some(13)),
            ("[a b=\"1\" c", None),
            ("a", None),
            ("", None),
            ("[a]b", None),
        ] {
            assert_eq!(structured(text), end, "{text}");
        }
    }

    #[test]
    fn a_head_of_three_words_has_a_zone() {
        let bytes = |line| logged(line).map(|mark| mark.bytes);
        assert_eq!(bytes("21:10:43 IST node7 ping[1]: a"), Some(27));
        for line in ["21:10:43 bytes from 127.0.0.1: icmp_seq=1", "21:10:43 +1 a b: c", "21:10:43 A b c: d"] {
            assert_eq!(bytes(line), None, "{line}");
        }
    }
}
