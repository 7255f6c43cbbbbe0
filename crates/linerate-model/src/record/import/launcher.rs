//! What a launcher puts before each line of its ranks: `[1,0]<stdout>:` of Open MPI's --tag-output, `[0] ` of MPICH's -l,
//! `0: ` of srun's -l; and what keeps the output of services: `NAME | ` of docker compose, `[pod/NAME/CONTAINER] ` of kubectl,
//! a time as docker and kubectl write it, a line's head in the journal.

use std::borrow::Cow;

/// How many bytes of a line are a launcher's.
type Mark = fn(&str) -> Option<usize>;

/// One a launcher.
const MARKS: [Mark; 7] = [tagged, bracketed, numbered, composed, podded, stamped, logged];

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
    // Open MPI 5 has its name before the ranks: `[prterun-host-4711@1,0]`.
    let numbers = ranks.rsplit('@').next().unwrap_or_default();
    let is_rank = numbers.split(',').all(|number| is_number(number.trim()));
    let colon = usize::from(rest[end..].starts_with(':'));
    is_rank.then_some(1 + ranks.len() + "]<std".len() + end + colon)
}

/// `[0] `, and not the stream of an iperf: its lines have more blanks within.
fn bracketed(line: &str) -> Option<usize> {
    let (rank, rest) = line.strip_prefix('[')?.split_once(']')?;
    let has = |word: &str| rest.contains(word);
    let is_iperf = !rest.trim_start().starts_with('[') && (has(" local ") || has(" sec ") || has("Interval"));
    (is_number(rank) && rest.starts_with(' ') && !is_iperf).then_some(rank.len() + 2)
}

/// `0: ` with blanks before the number.
fn numbered(line: &str) -> Option<usize> {
    let (rank, rest) = line.split_once(':')?;
    let is_netpipe = rest.contains(" times -->");
    (is_number(rank.trim_start()) && (rest.is_empty() || rest.starts_with(' ')) && !is_netpipe)
        .then_some(rank.len() + 1)
}

/// `client-1  | `, with blanks that align the names.
fn composed(line: &str) -> Option<usize> {
    let (name, rest) = line.split_once('|')?;
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let named = name.trim_end();
    (named.len() < name.len()
        && !named.is_empty()
        && named.bytes().all(of_name)
        && (rest.is_empty() || rest.starts_with(' ')))
    .then_some(name.len() + 1)
}

/// `[pod/NAME/CONTAINER] ` of kubectl logs --prefix.
fn podded(line: &str) -> Option<usize> {
    let (name, rest) = line.strip_prefix("[pod/")?.split_once(']')?;
    (!name.contains(' ') && (rest.is_empty() || rest.starts_with(' ')))
        .then_some("[pod/".len() + name.len() + 1)
}

/// `2026-11-27T09:00:00.123456789Z ` of docker logs -t and kubectl logs --timestamps (RFC 3339).
fn stamped(line: &str) -> Option<usize> {
    let time = line.split(' ').next()?;
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let (day, clock) = time.split_once('T')?;
    let is_time = time.is_ascii()
        && (day.len(), digits(day), day.matches('-').count()) == (10, 8, 2)
        && clock.len() >= 8
        && digits(&clock[..8]) == 6
        && clock[..8].matches(':').count() == 2;
    is_time.then_some(time.len())
}

/// `Nov 27 09:00:00 host iperf3[4711]: ` of the journal and of syslog.
fn logged(line: &str) -> Option<usize> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (head, _) = line.split_once(": ").or(line.strip_suffix(':').map(|head| (head, "")))?;
    let mut words = head.split_whitespace();
    let (month, day, clock) = (words.next()?, words.next()?, words.next()?);
    let is_month = month.len() == 3 && MONTHS.contains(month);
    let is_clock = clock.len() == 8 && clock.matches(':').count() == 2;
    // Host and program follow, and nothing else.
    (is_month && is_number(day) && is_clock && words.count() == 2).then_some(head.len() + 1)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}
