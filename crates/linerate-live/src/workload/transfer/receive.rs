//! The receiving end: each stream writes what comes to its place, and a range counts once its digest is the one that was sent.

use super::frame::Frame;
use super::meter::{Meter, Part};
use super::range::{Digest, Division, Span};
use super::sink::Sink;
use super::team::Stream;
use super::tree::Hand;
use crate::{Error, Result};
use linerate_sys::direct_file::Writer;
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is received, digested and written at once: it stays in a core's own cache.
const PIECE: usize = 256 << 10;

/// All that is to come.
pub struct Receiving<'s> {
    sink: &'s Sink,
    division: Division,
    verify: bool,
    ranges: Vec<Range>,
    held_bytes: AtomicU64,
}

/// What is known of a range.
#[derive(Default)]
struct Range {
    is_taken: AtomicBool,
    is_there: AtomicBool,
    digest: OnceLock<Digest>,
}

impl<'s> Receiving<'s> {
    /// Into this.
    pub fn new(sink: &'s Sink, verify: bool) -> Receiving<'s> {
        let division = sink.division();
        let ranges = (0..division.count()).map(|_| Range::default()).collect();
        Receiving { sink, division, verify, ranges, held_bytes: AtomicU64::new(0) }
    }

    /// Bytes that were there.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// Whether every range came, or was there.
    pub fn is_whole(&self) -> Result<()> {
        let missing = self.ranges.iter().filter(|range| !range.is_there.load(Ordering::Acquire)).count();
        match missing {
            0 => Ok(()),
            _ => {
                Err(Error::peer("the sending end", format!("left out {missing} ranges"), "please report it"))
            }
        }
    }

    /// The file's digest; none where nothing was verified.
    pub fn digest(&self) -> Result<Option<Digest>> {
        if !self.verify {
            return Ok(None);
        }
        let all: Option<Vec<Digest>> = self.ranges.iter().map(|range| range.digest.get().copied()).collect();
        let all = all.ok_or_else(|| Error::peer("this end", "lost a digest", "please report it"))?;
        Ok(Some(self.division.digest(&all)))
    }

    /// One stream's part.
    pub fn play(&self, stream: &mut Stream<'_>, meter: &mut Meter, moved: &AtomicU64) -> Result<()> {
        let mut by = By {
            room: vec![0; PIECE],
            hand: Hand::default(),
            writer: self.sink.past_cache().map(|_| Writer::new()).transpose()?,
            unwritten: VecDeque::new(),
        };
        let came = self.come(stream, &mut by, meter, moved);
        // Also where the stream broke: what came whole before need not come again.
        let settled = self.settle_all(&mut by);
        meter.lap(Part::File);
        came.and(settled)
    }

    fn come(&self, stream: &mut Stream<'_>, by: &mut By, meter: &mut Meter, moved: &AtomicU64) -> Result<()> {
        loop {
            match stream.next(meter)? {
                Frame::End => return Ok(()),
                Frame::Held { range } => self.hold(range)?,
                Frame::Bytes { range, bytes } => {
                    let span = self.take(range)?;
                    if bytes != span.bytes {
                        return Err(broken(format!(
                            "sent {bytes} B of range {range}, which has {}",
                            span.bytes
                        )));
                    }
                    self.receive(stream, (range, span), by, meter, moved)?;
                }
            }
        }
    }

    /// A range comes once, whoever sends it.
    fn take(&self, range: u64) -> Result<Span> {
        let span =
            self.division.span(range).ok_or_else(|| broken(format!("sent range {range}, which is none")))?;
        match self.ranges[range as usize].is_taken.swap(true, Ordering::AcqRel) {
            false => Ok(span),
            true => Err(broken(format!("sent range {range} twice"))),
        }
    }

    fn hold(&self, range: u64) -> Result<()> {
        let span = self.take(range)?;
        let held = self.sink.held().iter().find(|held| held.range == range);
        let held = held.ok_or_else(|| broken(format!("left out range {range}, which is not here")))?;
        self.held_bytes.fetch_add(span.bytes, Ordering::Relaxed);
        self.settle(range, held.digest);
        Ok(())
    }

    fn settle(&self, range: u64, digest: Digest) {
        let known = &self.ranges[range as usize];
        // It was taken by this thread alone.
        let _ = known.digest.set(digest);
        known.is_there.store(true, Ordering::Release);
    }

    fn receive(
        &self,
        stream: &mut Stream<'_>,
        (range, span): (u64, Span),
        by: &mut By,
        meter: &mut Meter,
        moved: &AtomicU64,
    ) -> Result<()> {
        let mut hasher = self.division.hasher(span.at);
        let end = span.at + span.bytes;
        let mut at = span.at;
        while at < end {
            let room = self.room(by)?;
            // Until the piece that had it before was with the disk.
            meter.lap(Part::File);
            let length = (end - at).min(room.len() as u64) as usize;
            let piece = &mut room[..length];
            stream.receive(piece, meter)?;
            if self.verify {
                hasher.update(piece);
                meter.lap(Part::Digest);
            }
            self.write(at, length, by)?;
            meter.lap(Part::File);
            at += length as u64;
            meter.bytes += length as u64;
            moved.fetch_add(length as u64, Ordering::Relaxed);
        }
        let digest = if self.verify { hasher.digest() } else { Digest::default() };
        if self.verify && stream.digest(meter)? != digest {
            let what = format!("bytes {} to {end} are not what was sent: their digest differs", span.at);
            let hint =
                "something on the way or in a host's memory changed them; the same command sends them again";
            return Err(Error::peer("the stream", what, hint));
        }
        let pieces = by.writer.as_ref().map_or(0, Writer::asked);
        by.unwritten.push_back(Unwritten { range, digest, pieces });
        self.settle_written(by)?;
        meter.lap(Part::File);
        Ok(())
    }
}

/// A range that has come, and after how many pieces of its stream it is with the file.
struct Unwritten {
    range: u64,
    digest: Digest,
    pieces: u64,
}

/// What a stream receives into and writes with.
struct By {
    room: Vec<u8>,
    hand: Hand,
    writer: Option<Writer>,
    /// Ranges whose last pieces may still be on their way to the disk, in order: nobody waits for these before the next range.
    unwritten: VecDeque<Unwritten>,
}

impl Receiving<'_> {
    /// Room for the next piece.
    fn room<'b>(&self, by: &'b mut By) -> Result<&'b mut [u8]> {
        match (&mut by.writer, self.sink.past_cache()) {
            (Some(writer), Some((direct, _))) => writer.room(direct).map_err(|e| self.sink.unwritten(e)),
            _ => Ok(&mut by.room),
        }
    }

    /// Writes the piece that is in it.
    fn write(&self, at: u64, length: usize, by: &mut By) -> Result<()> {
        match (&mut by.writer, self.sink.past_cache()) {
            (Some(writer), Some((direct, cached))) => {
                writer.write(direct, cached, at, length).map_err(|e| self.sink.unwritten(e))
            }
            _ => self.sink.write(at, &by.room[..length], &mut by.hand),
        }
    }

    /// Those ranges count that are with the file: one that is remembered is there.
    fn settle_written(&self, by: &mut By) -> Result<()> {
        let written = by.writer.as_ref().map_or(u64::MAX, Writer::written);
        while by.unwritten.front().is_some_and(|range| range.pieces <= written)
            && let Some(range) = by.unwritten.pop_front()
        {
            self.sink.keep(range.range)?;
            self.settle(range.range, range.digest);
        }
        Ok(())
    }

    /// Waits until all are.
    fn settle_all(&self, by: &mut By) -> Result<()> {
        if let (Some(writer), Some((direct, _))) = (&mut by.writer, self.sink.past_cache()) {
            writer.settle(direct).map_err(|e| self.sink.unwritten(e))?;
        }
        self.settle_written(by)
    }
}

fn broken(what: String) -> Error {
    Error::peer("the sending end", what, "are both ends of the same version?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TransferEnd;
    use crate::transport::{Offer, Rendezvous, Spec};
    use crate::workload::transfer::ask::{SinkRequest, SourceRequest};
    use crate::workload::transfer::send::Sending;
    use crate::workload::transfer::source::Source;
    use crate::workload::transfer::team::Team;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    const BYTES: u64 = 1000;

    /// Of several ranges, the last one shorter than a record.
    const SEALED_BYTES: u64 = (9 << 20) + 77;

    fn request(path: Option<&Path>) -> SinkRequest {
        SinkRequest {
            path: path.map(|path| path.as_os_str().as_bytes().to_vec()),
            name: None,
            bytes: if path.is_some() { BYTES } else { SEALED_BYTES },
            entries: None,
            mode: 0o600,
            overwrite: false,
            anew: true,
            verify: true,
            direct: false,
            source: None,
            threads: 1,
        }
    }

    /// What becomes of these bytes of one stream.
    fn received(folder: &Path, sent: &[u8]) -> Result<Option<Digest>> {
        let (sink, _) = Sink::open(&request(Some(&folder.join("file"))))?;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        sender.write_all(sent).unwrap();
        drop(sender);
        let job = Receiving::new(&sink, true);
        let moved = AtomicU64::new(0);
        let mut team = Team::new(vec![(stream, None)], 20_000)?;
        team.play(0, |stream, meter| job.play(stream, meter, &moved))?;
        job.is_whole()?;
        job.digest()
    }

    /// What becomes of a file whose streams are sealed, where the end that connects was told this fingerprint; none of it
    /// where that is not the certificate's.
    fn sealed(cipher: &str, tampered: bool) -> Result<(TransferEnd, TransferEnd)> {
        let spec = |passive| Spec { flows: 2, passive, patience_ms: 5000, ..Spec::default() };
        let (meets, mut offer) = Rendezvous::offer_sealed(&spec(true), cipher)?;
        let (calls, _) = Rendezvous::offer_sealed(&spec(false), cipher)?;
        if let (Offer::Socket { certificate: Some(known), .. }, true) = (&mut offer, tampered) {
            *known = known.chars().rev().collect();
        }
        let receives = std::thread::spawn(move || -> Result<TransferEnd> {
            let (sink, _) = Sink::open(&request(None))?;
            let mut team = Team::new(meets.meet(&Offer::Nothing)?, 20_000)?;
            team.let_begin()?;
            let job = Receiving::new(&sink, true);
            let mut end = team.play(0, |stream, meter| job.play(stream, meter, &AtomicU64::new(0)))?;
            job.is_whole()?;
            end.digest = job.digest()?.map(|digest| format!("{digest:?}"));
            Ok(end)
        });
        let sends = || -> Result<TransferEnd> {
            let source = SourceRequest { path: None, memory_bytes: SEALED_BYTES, cold: false, direct: false };
            let (source, _) = Source::open(&source)?;
            let job = Sending::new(&source, Division::for_file(SEALED_BYTES)?, &[], true)?;
            let mut team = Team::new(calls.meet(&offer)?, 20_000)?;
            let mut end = team.play(0, |stream, meter| job.play(stream, meter, &AtomicU64::new(0)))?;
            end.digest = job.digest()?.map(|digest| format!("{digest:?}"));
            Ok(end)
        };
        let (sent, received) = (sends(), receives.join().unwrap());
        if tampered {
            assert!(received.is_err(), "who is refused receives nothing");
        }
        Ok((sent?, received?))
    }

    #[test]
    fn what_is_sealed_comes_as_it_went() {
        for cipher in ["aes-128-gcm", "chacha20-poly1305"] {
            let (sent, received) = sealed(cipher, false).unwrap();
            assert_eq!(received.bytes(), SEALED_BYTES);
            assert!(sent.digest.is_some() && sent.digest == received.digest);
            for end in [sent, received] {
                assert_eq!(end.cipher.as_deref(), Some(cipher));
                assert!(end.streams.iter().any(|stream| stream.seal.cpu_ns > 0), "{end:?}");
            }
        }
    }

    #[test]
    fn another_certificate_is_not_sent_to() {
        let error = sealed("aes-128-gcm", true).unwrap_err();
        assert!(error.to_string().contains("invalid peer certificate"), "{error}");
    }

    fn range(range: u64, content: &[u8], digest: &[u8]) -> Vec<u8> {
        let frame = Frame::Bytes { range, bytes: content.len() as u64 };
        [&frame.encode()[..], content, digest].concat()
    }

    #[test]
    fn what_is_not_what_was_sent_has_no_end() {
        let folder = tempfile::tempdir().unwrap();
        let content = vec![7; BYTES as usize];
        let digest = *blake3::hash(&content).as_bytes();
        let end = Frame::End.encode();
        let whole = [range(0, &content, &digest), end.to_vec()].concat();
        assert_eq!(received(folder.path(), &whole).unwrap(), Some(digest));
        let mut damaged = whole.clone();
        damaged[100] ^= 1;
        let twice = [range(0, &content, &digest), whole.clone()].concat();
        for (sent, part) in [
            (damaged, "their digest differs"),
            (end.to_vec(), "left out 1 range"),
            (whole[..500].to_vec(), "ended a stream"),
            (range(0, &content, &digest), "ended a stream"),
            (range(1, &content, &digest), "which is none"),
            (range(0, &content[1..], &digest), "of range 0, which has 1000"),
            (twice, "twice"),
            (Frame::Held { range: 0 }.encode().to_vec(), "which is not here"),
            (vec![0xff; 24], "no frame"),
        ] {
            let error = received(folder.path(), &sent).unwrap_err();
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
}
