//! Both ends send a datagram at once and receive the other's. Where one is lost both notice: the end that lacks it
//! sends its own again, which bids the other end to do the same.

use super::*;

impl<L: Lossy> Unreliable<L> {
    /// A sample with a loss is dropped: the time until the loss was noticed is nobody's.
    pub(super) fn exchange<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let len = block.message_bytes as usize;
        let (mut number, mut lost, mut ahead) = (0, 0, false);
        let begun = clock.now_ns();
        let (mut since, mut skipped, mut longest) = (begun, 0, Duration::ZERO);
        for _ in 0..block.slices {
            let mut whole = true;
            for _ in 0..block.messages {
                let (message, room) = walk.next(2 * len).split_at_mut(len);
                write_tag(message, self.tag(number));
                self.link.send(message)?;
                self.link.flush()?;
                let again = self.wait_for_datagram(message, room, number, longest, &mut ahead)?;
                number += 1;
                lost += again.unwrap_or(0);
                whole &= again.is_none();
            }
            let now = clock.now_ns();
            if whole {
                stamps.push(now - skipped);
                longest = longest.max(Duration::from_nanos(now - since));
            } else {
                skipped += now - since;
            }
            since = now;
        }
        self.answer_until_other_is_done(len, walk)?;
        let bytes = number * block.message_bytes;
        Ok(Moved { bytes, messages: Some(number), lost: Some(lost), ..Moved::default() })
    }

    /// Waits for the other end's datagram of this number. None where all went well, else how often this end asked
    /// for it again. The other end may be one number ahead, never more: `ahead` says that its next one came.
    fn wait_for_datagram(
        &mut self,
        message: &mut [u8],
        room: &mut [u8],
        number: u64,
        longest: Duration,
        ahead: &mut bool,
    ) -> io::Result<Option<u64>> {
        if std::mem::take(ahead) {
            return Ok(None);
        }
        let limit = if longest.is_zero() { FIRST } else { SILENCE.max(ROUND_TRIPS * longest) };
        let (tag, bits) = (self.tag(number), mask(room.len()));
        let (before, after) = (tag.wrapping_sub(1), tag.wrapping_add(1));
        let (mut silences, mut again) = (0, None);
        loop {
            let length = self.link.receive(room)?;
            let came = length.filter(|length| *length == room.len()).map(|_| read_tag(room));
            if came == Some(tag & bits) {
                return Ok(again);
            }
            if came == Some(before & bits) {
                // The other end lacks the one before: it goes again.
                write_tag(message, before);
                self.link.send(message)?;
                self.link.flush()?;
                write_tag(message, tag);
                again = again.or(Some(0));
            } else if came == Some(after & bits) && !*ahead {
                // It has what went from here, and this end lacks what came before.
                *ahead = true;
                self.link.send(message)?;
                self.link.flush()?;
                again = Some(again.unwrap_or(0) + 1);
            } else if length.is_none() {
                self.link.check()?;
                silences += 1;
                let asked = again.unwrap_or(0);
                if SILENCE * silences >= self.link.patience() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                if SILENCE * silences >= limit * (1 + asked as u32) {
                    self.link.send(message)?;
                    self.link.flush()?;
                    again = Some(asked + 1);
                }
            }
        }
    }

    /// The end that is done first answers until the other one is: it may lack the last datagram.
    fn answer_until_other_is_done(&mut self, len: usize, walk: &mut Walk<'_>) -> io::Result<()> {
        self.link.tell(0)?;
        self.link.send(&[])?;
        let mut silences = 0;
        loop {
            if self.link.hear(Duration::ZERO)?.is_some() {
                return Ok(());
            }
            let room = walk.next(len);
            match self.link.receive(room)? {
                Some(length) if length > 0 => {
                    self.link.send(&room[..length])?;
                    self.link.flush()?;
                }
                Some(_) => {}
                None => {
                    silences += 1;
                    if SILENCE * silences >= self.link.patience() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
            }
        }
    }
}
