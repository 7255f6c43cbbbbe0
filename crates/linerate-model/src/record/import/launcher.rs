//! What a launcher puts before each line of its ranks: `[1,0]<stdout>:` of Open MPI's --tag-output, `[0] ` of MPICH's -l,
//! `0: ` of srun's -l.

use std::borrow::Cow;

/// How many bytes of a line are a launcher's.
type Mark = fn(&str) -> Option<usize>;

/// One a launcher.
const MARKS: [Mark; 3] = [tagged, bracketed, numbered];

/// The text with blanks in their place, so that what stands in it stays where it was. Only where most lines have one:
/// a tool's own lines may look so too.
pub(super) fn blanked(text: &str) -> Cow<'_, str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let all = lines().count();
    let is_of = |mark: &&Mark| all > 1 && lines().filter(|line| mark(line).is_some()).count() * 10 > all * 9;
    let Some(mark) = MARKS.iter().find(is_of) else { return Cow::Borrowed(text) };
    let blank = |line: &str| {
        let len = mark(line).unwrap_or(0);
        " ".repeat(len) + &line[len..]
    };
    Cow::Owned(text.split_inclusive('\n').map(blank).collect())
}

/// `[1,0]<stdout>:`, with a time before the colon where one is asked for.
fn tagged(line: &str) -> Option<usize> {
    let (ranks, rest) = line.strip_prefix('[')?.split_once("]<std")?;
    let end = rest.find('>')? + 1;
    let is_rank = ranks.split(',').all(|number| is_number(number.trim()));
    let colon = usize::from(rest[end..].starts_with(':'));
    is_rank.then_some(1 + ranks.len() + "]<std".len() + end + colon)
}

/// `[0] `, and not the stream of an iperf: its lines have more blanks within.
fn bracketed(line: &str) -> Option<usize> {
    let (rank, rest) = line.strip_prefix('[')?.split_once(']')?;
    let is_iperf = rest.contains(" local ") || rest.contains(" sec ") || rest.contains("Interval");
    (is_number(rank) && rest.starts_with(' ') && !is_iperf).then_some(rank.len() + 2)
}

/// `0: ` with blanks before the number.
fn numbered(line: &str) -> Option<usize> {
    let (rank, rest) = line.split_once(':')?;
    let is_netpipe = rest.contains(" times -->");
    (is_number(rank.trim_start()) && (rest.is_empty() || rest.starts_with(' ')) && !is_netpipe)
        .then_some(rank.len() + 1)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}
