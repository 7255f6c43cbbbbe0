//! A node's reply, read within bounds: so many bytes, so much time, and nothing that is half of an answer.

use crate::unit::Bytes;
use std::io;
use std::time::{Duration, Instant};

/// What our own reply begins with: a word, the round, and how many bytes it has.
pub const HEADER: usize = 16;
const WORD: [u8; 4] = *b"lrst";

/// The longest reply that is read: gmond's of a thousand hosts is 10 MB.
pub const MOST_REPLY: u64 = 16 << 20;

/// The longest head of a reply by HTTP.
const MOST_HEAD: usize = 16 << 10;

/// How the XML of Ganglia's gmond ends.
const XML_END: &[u8] = b"</GANGLIA_XML>";

/// Of what form it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Ours, as long as was asked for.
    Sized {
        /// Which round it must be of.
        round: u32,
    },
    /// gmond's, until it closes.
    Xml,
    /// That of HTTP/1.0, until it closes or has as many bytes as its head says.
    Http,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Bad {
    /// It was not whole before its deadline.
    Late,
    /// What came is no answer.
    Said(String),
    /// The connection failed.
    Broken(io::Error),
}

impl From<io::Error> for Bad {
    fn from(error: io::Error) -> Bad {
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Bad::Late,
            _ => Bad::Broken(error),
        }
    }
}

/// The head of our own reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The round.
    pub round: u32,
    /// The whole reply.
    pub bytes: u64,
}

impl Head {
    /// Writes it where a reply begins.
    pub fn write(self, reply: &mut [u8]) {
        reply[..4].copy_from_slice(&WORD);
        reply[4..8].copy_from_slice(&self.round.to_be_bytes());
        reply[8..HEADER].copy_from_slice(&self.bytes.to_be_bytes());
    }

    fn read(reply: &[u8]) -> Option<Head> {
        let (word, rest) = reply.split_first_chunk::<4>()?;
        let (round, rest) = rest.split_first_chunk::<4>()?;
        let bytes = rest.first_chunk::<8>()?;
        let head = Head { round: u32::from_be_bytes(*round), bytes: u64::from_be_bytes(*bytes) };
        (*word == WORD).then_some(head)
    }
}

/// Receives, waiting so long at most; 0 at the end.
pub type Pull<'p> = &'p mut dyn FnMut(&mut [u8], Duration) -> io::Result<usize>;

/// Reads a reply until then; gives its bytes. Of ours `room` has the length that was asked for.
pub fn read(form: Form, room: &mut [u8], until: Instant, pull: Pull<'_>) -> Result<u64, Bad> {
    match form {
        Form::Sized { round } => sized(round, room, until, pull),
        Form::Xml => {
            let (all, tail) = to_end(room, until, pull, &mut |_| None)?;
            match tail.trim_ascii_end().ends_with(XML_END) {
                true => Ok(all),
                false => Err(Bad::Said(format!("its XML was cut short after {}", Bytes(all)))),
            }
        }
        Form::Http => http(room, until, pull),
    }
}

/// What is left of the time; nothing is left of a time that is over.
fn left(until: Instant) -> Result<Duration, Bad> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(Bad::Late) } else { Ok(left) }
}

fn sized(round: u32, room: &mut [u8], until: Instant, pull: Pull<'_>) -> Result<u64, Bad> {
    let mut filled = 0;
    while filled < room.len() {
        match pull(&mut room[filled..], left(until)?)? {
            0 => {
                let all = Bytes(room.len() as u64);
                return Err(Bad::Said(format!("its reply was cut short after {filled} B of {all}")));
            }
            came => filled += came,
        }
    }
    match Head::read(room) {
        Some(head) if head == (Head { round, bytes: room.len() as u64 }) => Ok(filled as u64),
        Some(head) => Err(Bad::Said(format!(
            "it answered round {} with {}, and round {round} with {} was asked for",
            head.round,
            Bytes(head.bytes),
            Bytes(room.len() as u64)
        ))),
        None => Err(Bad::Said("its reply does not begin as one of this program does".into())),
    }
}

/// Reads until the other end closes, or as many bytes are there as `wanted` says once it knows; keeps the last bytes.
fn to_end(
    room: &mut [u8],
    until: Instant,
    pull: Pull<'_>,
    wanted: &mut dyn FnMut(&[u8]) -> Option<u64>,
) -> Result<(u64, Vec<u8>), Bad> {
    let (mut all, mut tail) = (0_u64, Vec::with_capacity(2 * XML_END.len()));
    loop {
        let came = pull(room, left(until)?)?;
        if came == 0 {
            return Ok((all, tail));
        }
        all += came as u64;
        if all > MOST_REPLY {
            let most = Bytes(MOST_REPLY);
            return Err(Bad::Said(format!("its reply has no end: {most} came and it goes on")));
        }
        let ends = &room[came.saturating_sub(2 * XML_END.len())..came];
        tail.extend_from_slice(ends);
        tail.drain(..tail.len().saturating_sub(2 * XML_END.len()));
        if wanted(&room[..came]).is_some_and(|wanted| all >= wanted) {
            return Ok((all, tail));
        }
    }
}

fn http(room: &mut [u8], until: Instant, pull: Pull<'_>) -> Result<u64, Bad> {
    let (mut head, mut whole) = (Vec::new(), None);
    let mut wanted = |bytes: &[u8]| {
        if whole.is_none() && head.len() < MOST_HEAD {
            head.extend_from_slice(&bytes[..bytes.len().min(MOST_HEAD - head.len())]);
            whole = length(&head);
        }
        whole
    };
    let (all, _) = to_end(room, until, pull, &mut wanted)?;
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(&line[..line.len().min(80)]).trim_end().to_owned();
    if line.split(' ').nth(1) != Some("200") {
        return Err(Bad::Said(format!("it answered `{line}`")));
    }
    match whole {
        Some(whole) if all < whole => {
            Err(Bad::Said(format!("its reply was cut short after {} of {}", Bytes(all), Bytes(whole))))
        }
        None if !head.windows(4).any(|four| four == b"\r\n\r\n") => {
            Err(Bad::Said(format!("its head was cut short after {}", Bytes(all))))
        }
        _ => Ok(all),
    }
}

/// The bytes of head and body together, where the head is whole and tells those of the body.
fn length(head: &[u8]) -> Option<u64> {
    let end = head.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&head[..end]).to_ascii_lowercase();
    let told =
        text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<u64>().ok())?;
    Some(told.saturating_add(end as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of an answer that comes in these parts, and then ends.
    fn read_reply(form: Form, parts: &[&[u8]]) -> Result<u64, String> {
        let mut parts = parts.iter();
        let mut room = vec![0; 64];
        let mut pull = |bytes: &mut [u8], _: Duration| {
            let part = parts.next().copied().unwrap_or_default();
            bytes[..part.len()].copy_from_slice(part);
            Ok(part.len())
        };
        let until = Instant::now() + Duration::from_secs(60);
        match read(form, &mut room, until, &mut pull) {
            Ok(bytes) => Ok(bytes),
            Err(Bad::Said(what)) => Err(what),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn ours(head: Head) -> Vec<u8> {
        let mut reply = vec![0; 64];
        head.write(&mut reply);
        reply
    }

    #[test]
    fn our_own_reply_is_whole_and_of_its_round() {
        let form = Form::Sized { round: 7 };
        let good = ours(Head { round: 7, bytes: 64 });
        assert_eq!(read_reply(form, &[&good[..20], &good[20..]]), Ok(64));
        assert_eq!(
            read_reply(form, &[&good[..20]]).unwrap_err(),
            "its reply was cut short after 20 B of 64 B"
        );
        let late = read_reply(form, &[&ours(Head { round: 6, bytes: 64 })]).unwrap_err();
        assert!(late.contains("answered round 6"), "{late}");
        let long = read_reply(form, &[&ours(Head { round: 7, bytes: 1_000_000_000 })]).unwrap_err();
        assert!(long.contains("and round 7 with 64 B was asked for"), "{long}");
        assert!(read_reply(form, &[&[0; 64]]).unwrap_err().contains("does not begin"));
    }

    #[test]
    fn http_that_is_cut_short_is_no_answer() {
        assert_eq!(read_reply(Form::Http, &[b"HTTP/1.0 200 OK\r\n", b"Content-Length: 2\r\n\r\nab"]), Ok(40));
        let cut = read_reply(Form::Http, &[b"HTTP/1.0 200 OK\r\nConte"]).unwrap_err();
        assert!(cut.contains("head was cut short"), "{cut}");
        let cut = read_reply(Form::Http, &[b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nab"]).unwrap_err();
        assert!(cut.contains("cut short after 40 B of 47 B"), "{cut}");
    }

    #[test]
    fn xml_that_is_cut_short_is_no_answer() {
        assert_eq!(read_reply(Form::Xml, &[b"<GANGLIA_XML>", b"</GANG", b"LIA_XML>\n"]), Ok(28));
        let cut = read_reply(Form::Xml, &[b"<GANGLIA_XML>", b"</GANG"]).unwrap_err();
        assert_eq!(cut, "its XML was cut short after 19 B");
        assert_eq!(read_reply(Form::Xml, &[]).unwrap_err(), "its XML was cut short after 0 B");
    }

    #[test]
    fn xml_without_an_end_is_given_up() {
        let mut room = vec![b'x'; 1 << 16];
        let mut pulls = 0_u64;
        let until = Instant::now() + Duration::from_secs(60);
        let endless = read(Form::Xml, &mut room, until, &mut |bytes, _| {
            pulls += 1;
            Ok(bytes.len())
        });
        assert!(matches!(&endless, Err(Bad::Said(what)) if what.contains("has no end")), "{endless:?}");
        assert_eq!(pulls, (MOST_REPLY >> 16) + 1, "no byte more is read");
    }

    #[test]
    fn a_reply_that_trickles_is_late() {
        let (mut room, until) = (vec![0; 1 << 10], Instant::now() + Duration::from_millis(20));
        let trickle = read(Form::Xml, &mut room, until, &mut |_, limit| {
            std::thread::sleep(limit.min(Duration::from_millis(1)));
            Ok(1)
        });
        assert!(matches!(trickle, Err(Bad::Late)), "{trickle:?}");
    }

    #[test]
    fn http_is_read_to_the_length_of_its_head() {
        let head = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(read_reply(Form::Http, &[head, b"12345"]), Ok(43));
        assert_eq!(read_reply(Form::Http, &[b"HTTP/1.0 200 OK\r\n\r\n", b"12345"]), Ok(24));
        let cut = read_reply(Form::Http, &[head, b"123"]).unwrap_err();
        assert!(cut.contains("cut short after 41 B of 43 B"), "{cut}");
        let other = read_reply(Form::Http, &[b"HTTP/1.0 404 Not Found\r\n\r\n"]).unwrap_err();
        assert_eq!(other, "it answered `HTTP/1.0 404 Not Found`");
        let huge = read_reply(Form::Http, &[b"HTTP/1.0 200 OK\r\ncontent-length: 1000000000\r\n\r\n", b"1"])
            .unwrap_err();
        assert!(huge.contains("cut short"), "{huge}");
    }
}
