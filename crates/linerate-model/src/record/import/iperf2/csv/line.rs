//! A line of iperf's CSV: its fields, by place or by the names of its columns, and which of two ways it is of.

use super::super::super::Read;
use super::super::super::interval::Interval;
use super::super::super::row::number;
use super::super::bounce::Times;
use crate::vocabulary::Does;
use jiff::civil::DateTime;
use std::collections::BTreeSet;

/// Fields of a stream, and of datagrams, where no line names columns.
const FIELDS: [usize; 2] = [9, 14];
/// Where they are; the first five also under names.
pub(super) const TIME: usize = 0;
const FROM_HOST: usize = 1;
const FROM_PORT: usize = 2;
const HOST: usize = 3;
pub(super) const PORT: usize = 4;
const ID: usize = 5;
const TIMES: usize = 6;
const BPS: usize = 8;
const JITTER: usize = 9;

/// How a line of names begins: of iperf 2.2 with `-e`.
const NAMES: &str = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,";

/// The most lines of names that are kept: there are eight kinds.
const MOST_HEADS: usize = 16;

/// The longest line of names, far longer than any is: each is looked through at each line.
const LONGEST_HEAD: usize = 64 << 10;

/// Which of two ways a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// That of the first line.
    Forth,
    Back,
}

/// The names of columns that were there: of what is written and of what is read they differ.
#[derive(Default)]
pub(super) struct Heads(Vec<Vec<String>>);

/// A line.
#[derive(Clone)]
pub(super) struct Line {
    pub number: u64,
    pub fields: Vec<String>,
    pub id: String,
    /// When it was printed, in seconds since some day; none where iperf says 1970.
    pub time: Option<f64>,
    at: (String, String),
    bps: String,
    /// Jitter in milliseconds, lost, all.
    pub datagrams: Option<[String; 3]>,
    pub is_datagrams: bool,
    /// Whether it is of datagrams in the short form, as a sender writes it before 2.1.
    pub is_short: bool,
    /// Whose bytes they are, where a column tells.
    pub end: Option<Does>,
    pub retransmits: Option<f64>,
    /// How many exchanges of `--bounceback` there were, and their times.
    pub bounced: Option<[String; 5]>,
}

impl Heads {
    /// Keeps a line of names, the last of them before all others; whether it is one.
    pub fn read(&mut self, text: &str) -> bool {
        let is_one = text.len() <= LONGEST_HEAD && text.trim_start().starts_with(NAMES);
        if is_one {
            self.0.retain(|known| known.join(",") != text.trim());
            self.0.push(text.trim().split(',').map(String::from).collect());
            self.0.drain(..self.0.len().saturating_sub(MOST_HEADS));
        }
        is_one
    }

    /// Those of a file's beginning, of which the first comes before the others.
    pub fn of_file(head: &str) -> Heads {
        let mut heads = Heads::default();
        head.lines().for_each(|line| {
            heads.read(line);
        });
        heads.0.reverse();
        heads
    }

    /// Whether it was there before.
    pub fn has(&self, text: &str) -> bool {
        text.trim_start().starts_with(NAMES) && self.0.iter().any(|known| known.join(",") == text.trim())
    }

    /// The line that a text is, where it is one.
    pub fn line(&self, line: u64, text: &str) -> Option<Line> {
        let fields: Vec<&str> = text.trim().split(',').collect();
        let is_number = |at: usize| fields[at].parse::<f64>().is_ok();
        let is_time =
            |text: &str| text.len() >= 14 && text.bytes().take(14).all(|byte| byte.is_ascii_digit());
        let is_one = fields.len() > BPS
            && is_time(fields[TIME].rsplit(':').next().unwrap_or_default())
            && [FROM_PORT, PORT, ID].into_iter().all(is_number);
        if !is_one {
            return None;
        }
        let short = || {
            (FIELDS.contains(&fields.len()) && fields[TIMES].contains('-')).then(|| by_place(line, &fields))
        };
        let heads = self.0.iter().rev().find(|heads| heads.len() == fields.len());
        short().or_else(|| heads.map(|heads| by_name(line, &fields, heads)))
    }
}

fn bare(line: u64, fields: &[&str]) -> Line {
    Line {
        number: line,
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        id: fields[ID].to_owned(),
        time: seconds(fields[TIME]),
        at: Default::default(),
        bps: fields[BPS].to_owned(),
        datagrams: None,
        is_datagrams: false,
        is_short: false,
        end: None,
        retransmits: None,
        bounced: None,
    }
}

fn by_place(line: u64, fields: &[&str]) -> Line {
    let (from, to) = fields[TIMES].split_once('-').unwrap_or_default();
    let is_datagrams = fields.len() > JITTER;
    // A sender counts none, as -1 or with bytes that were sent nevertheless.
    let all = fields.get(JITTER + 2).and_then(|all| all.parse::<f64>().ok()).unwrap_or(-1.0);
    let counts = is_datagrams && (all > 0.0 || all == 0.0 && fields[BPS] == "0");
    Line {
        at: (from.into(), to.into()),
        datagrams: counts.then(|| [0, 1, 2].map(|at| fields[JITTER + at].to_owned())),
        is_datagrams,
        is_short: !is_datagrams,
        // Of datagrams a client's own lines count what it sent; of TCP a line looks the same at both ends.
        end: is_datagrams.then_some(if counts { Does::Receives } else { Does::Sends }),
        ..bare(line, fields)
    }
}

fn by_name(line: u64, fields: &[&str], heads: &[String]) -> Line {
    let field = |name: &str| Some(fields[heads.iter().position(|head| head == name)?]);
    let text = |name: &str| field(name).unwrap_or_default().to_owned();
    let is_datagrams = field("datagrams").is_some();
    let end = match (field("writecnt"), field("readcnt")) {
        (Some(_), _) => Some(Does::Sends),
        (_, Some(_)) => Some(Does::Receives),
        _ => None,
    };
    let datagrams = ["jitter", "errors", "datagrams"].map(text);
    let bounced = ["bbcnt", "bbavg", "bbmin", "bbmax", "bbstdev"].map(text);
    Line {
        at: (text("istart"), text("iend")),
        bps: text("speed"),
        datagrams: (is_datagrams && end == Some(Does::Receives)).then_some(datagrams),
        is_datagrams,
        end,
        retransmits: field("tcpretry").and_then(|count| count.parse::<u32>().ok()).map(f64::from),
        bounced: field("bbcnt").is_some().then_some(bounced),
        ..bare(line, fields)
    }
}

/// `20240718105130`, with a fraction where it is asked for, behind `+0000:` in some versions.
fn seconds(text: &str) -> Option<f64> {
    let text = text.rsplit(':').next()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let at = |from: usize, to: usize| whole.get(from..to)?.parse::<i8>().ok();
    let year = whole.get(0..4)?.parse::<i16>().ok().filter(|year| *year > 1970)?;
    let time = DateTime::new(year, at(4, 6)?, at(6, 8)?, at(8, 10)?, at(10, 12)?, at(12, 14)?, 0).ok()?;
    let fraction = format!("0.{fraction}").parse::<f64>().ok()?;
    let day = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    Some(time.duration_since(day).as_secs() as f64 + fraction)
}

impl Line {
    fn field(&self, at: usize) -> &str {
        &self.fields[at]
    }

    /// Where it is from, and where to.
    pub fn ports(&self) -> [&str; 2] {
        [self.field(FROM_PORT), self.field(PORT)]
    }

    pub fn swapped_ports(&self) -> [&str; 2] {
        [self.field(PORT), self.field(FROM_PORT)]
    }

    pub fn is_sum(&self) -> bool {
        self.id == "-1"
    }

    /// Whether its other end has no name: a client's own way back with `--full-duplex` in 2.1.
    pub fn is_unnamed(&self) -> bool {
        self.field(PORT) == "0" && ["::", "0.0.0.0"].contains(&self.field(HOST))
    }

    /// Whether both are of the same connection, of the same way or the other.
    pub fn is_pair_of(&self, other: &Line) -> bool {
        let shares = || self.ports().iter().any(|port| other.ports().contains(port));
        self.ports() == other.ports()
            || self.ports() == other.swapped_ports()
            || (self.is_unnamed() || other.is_unnamed()) && shares()
    }

    /// Whether it is of the other way than the first line: its ends are the other way round, or its port to listen at is
    /// another one. Before 2.1 the first end is the one that prints, since then the one that sends.
    pub fn is_back(&self, first: &Line) -> bool {
        let (hosts, known) =
            ([FROM_HOST, HOST].map(|at| self.field(at)), [FROM_HOST, HOST].map(|at| first.field(at)));
        let ([from, to], [known_from, known_to]) = (self.ports(), first.ports());
        if self.is_unnamed() {
            return !first.is_unnamed();
        }
        let is_turned = hosts[0] == known[1] && hosts[1] == known[0] && hosts[0] != hosts[1];
        let is_own_host = hosts[0] == hosts[1] && from != known_from && to != known_to;
        is_turned || from == known_to && to != known_to || is_own_host
    }

    /// Whether its time has a fraction, as with `-e` and what asks for it.
    pub fn has_fraction(&self) -> bool {
        self.field(TIME).contains('.')
    }

    pub fn from(&self) -> Option<f64> {
        self.at.0.parse().ok()
    }

    /// When it began and ended, by the time of day.
    fn lasted(&self) -> Option<[f64; 2]> {
        let (from, to): (f64, f64) = (self.at.0.parse().ok()?, self.at.1.parse().ok()?);
        // A line of a part tells where its stream began, too.
        self.time.map(|time| [time - to.max(from), time])
    }

    /// Whether its stream began after that time, by more than times are rounded to.
    pub fn begins_after(&self, time: f64) -> bool {
        let rounded = if self.has_fraction() { 0.1 } else { 1.0 };
        self.lasted().is_some_and(|[begin, _]| begin > time + rounded)
    }

    pub fn interval(&self) -> Read<Interval> {
        let place = format!("line {}", self.number);
        let rest = match &self.datagrams {
            Some([jitter, lost, all]) => format!("{jitter} ms {lost}/{all} ("),
            None => String::new(),
        };
        Ok(Interval {
            line: self.number,
            id: if self.is_sum() { "SUM".into() } else { self.id.clone() },
            role: String::new(),
            from: number(&self.at.0, &place)?,
            to: number(&self.at.1, &place)?,
            bps: number(&self.bps, &place)?,
            rest,
        })
    }

    /// The times of `--bounceback`.
    pub fn times(&self) -> Option<Read<Times>> {
        let place = format!("line {}", self.number);
        let [count, mean, least, greatest, deviation] = self.bounced.as_ref()?;
        let read = || {
            let ms = |word: &str| number(word, &place);
            Ok(Times {
                count: number(count, &place)?,
                ms: [ms(mean)?, ms(least)?, ms(greatest)?, ms(deviation)?],
            })
        };
        Some(read())
    }
}

/// Whether lines of both ways are of the same time: none where they do not say.
pub(super) fn at_once(lines: &[&Line]) -> Option<bool> {
    let ports: BTreeSet<[&str; 2]> = lines.iter().map(|line| line.ports()).collect();
    if lines.iter().any(|line| line.is_unnamed() || ports.contains(&line.swapped_ports())) {
        return Some(true);
    }
    let last = |back: bool| lines.iter().rev().find(|line| line.is_back(lines[0]) == back);
    let ([from, to], [begin, end]) = (last(false)?.lasted()?, last(true)?.lasted()?);
    // Times are rounded to a second: what overlaps by less is not known.
    match to.min(end) - from.max(begin) {
        shared if shared > 1.0 => Some(true),
        shared if shared <= 0.0 => Some(false),
        _ => None,
    }
}
