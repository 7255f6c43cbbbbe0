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
        let (mut number, mut lost) = (0, 0);
        let begun = clock.now_ns();
        let (mut since, mut skipped, mut longest) = (begun, 0, Duration::ZERO);
        for _ in 0..block.slices {
            let mut whole = true;
            for _ in 0..block.messages {
                let (message, room) = walk.next(2 * len).split_at_mut(len);
                write_tag(message, self.tag(number));
                self.link.send(message)?;
                let again = self.crossed(message, room, number, longest)?;
                (number, lost, whole) = (number + 1, lost + again, whole && again == 0);
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
        self.part(len, walk)?;
        let bytes = number * block.message_bytes;
        Ok(Moved { bytes, messages: Some(number), lost: Some(lost), ..Moved::default() })
    }

    /// Waits for the other end's datagram of this number; says how often this end's went again for it.
    fn crossed(
        &mut self,
        message: &mut [u8],
        room: &mut [u8],
        number: u64,
        longest: Duration,
    ) -> io::Result<u64> {
        let limit = if longest.is_zero() { FIRST } else { SILENCE.max(ROUND_TRIPS * longest) };
        let (tag, bits) = (self.tag(number), mask(room.len()));
        let (mut silences, mut again) = (0, 0);
        loop {
            match self.link.receive(room)? {
                Some(length) if length == room.len() && read_tag(room) == tag & bits => return Ok(again),
                // The other end lacks the one before: it came, or this end would not be here. It goes again.
                Some(length) if length == room.len() && read_tag(room) == tag.wrapping_sub(1) & bits => {
                    write_tag(message, tag.wrapping_sub(1));
                    self.link.send(message)?;
                    write_tag(message, tag);
                }
                Some(_) => {}
                None => {
                    silences += 1;
                    if SILENCE * silences >= self.link.patience() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    if SILENCE * silences >= limit * (1 + again as u32) {
                        self.link.send(message)?;
                        again += 1;
                    }
                }
            }
        }
    }

    /// The end that is done first answers until the other one is: it may lack the last datagram.
    fn part(&mut self, len: usize, walk: &mut Walk<'_>) -> io::Result<()> {
        self.link.tell(0)?;
        self.link.send(&[])?;
        let mut silences = 0;
        loop {
            if self.link.hear(Duration::ZERO)?.is_some() {
                return Ok(());
            }
            let room = walk.next(len);
            match self.link.receive(room)? {
                Some(length) if length > 0 => self.link.send(&room[..length])?,
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
