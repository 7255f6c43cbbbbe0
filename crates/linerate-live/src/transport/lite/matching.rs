//! Which receive takes which message: of one tag, the first posted takes the first that came.
//!
//! A message that comes before its receive is held, if there is room for it: what is held is bounded, whatever the
//! other end sends.

use std::collections::VecDeque;
use std::io;

/// A receive that waits for its message, with where the message goes.
#[derive(Debug, PartialEq, Eq)]
pub struct Posted<P> {
    /// The tag that the message must have.
    pub tag: u32,
    /// The most bytes that it may have.
    pub room: usize,
    /// Where it goes.
    pub place: P,
}

impl<P> Posted<P> {
    /// An error where a message is longer than the room for it: nothing is cut off.
    pub fn fits(&self, len: usize) -> io::Result<()> {
        let Posted { tag, room, .. } = self;
        let why = || format!("a message of {len} bytes with tag {tag}: its receive has room for {room}");
        if len <= *room { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, why())) }
    }
}

/// Receives without a message, and messages without a receive.
#[derive(Debug)]
pub struct Matching<P> {
    posted: VecDeque<Posted<P>>,
    held: VecDeque<(u32, Vec<u8>)>,
    /// Bytes that are held or are to be, and the most of them.
    held_bytes: usize,
    most_bytes: usize,
}

impl<P> Matching<P> {
    /// Nothing yet; at most so many bytes are held. Each message counts for [`Matching::weight`].
    pub fn new(most_bytes: usize) -> Matching<P> {
        Matching { posted: VecDeque::new(), held: VecDeque::new(), held_bytes: 0, most_bytes }
    }

    /// What a held message counts for: an empty one takes memory too.
    pub fn weight(len: usize) -> usize {
        len.saturating_add(64)
    }

    /// Posts a receive; gives it back with its message where that was held.
    #[inline]
    pub fn post(&mut self, receive: Posted<P>) -> io::Result<Option<(Posted<P>, Vec<u8>)>> {
        let Some(at) = self.held.iter().position(|(tag, _)| *tag == receive.tag) else {
            self.posted.push_back(receive);
            return Ok(None);
        };
        receive.fits(self.held[at].1.len())?;
        let message = self.held.remove(at);
        Ok(message.map(|(_, message)| {
            self.held_bytes -= Self::weight(message.len());
            (receive, message)
        }))
    }

    /// The receive that takes a message of this tag and length, if one is posted.
    #[inline]
    pub fn take(&mut self, tag: u32, len: usize) -> io::Result<Option<Posted<P>>> {
        let Some(at) = self.posted.iter().position(|posted| posted.tag == tag) else { return Ok(None) };
        self.posted[at].fits(len)?;
        Ok(self.posted.remove(at))
    }

    /// Room for a message that nobody asked for yet; none where too much is held.
    pub fn reserve(&mut self, len: usize) -> Option<Vec<u8>> {
        let held = self.held_bytes.saturating_add(Self::weight(len));
        (held <= self.most_bytes).then(|| {
            self.held_bytes = held;
            vec![0; len]
        })
    }

    /// Such a message is whole: gives it with its receive where one was posted meanwhile, and holds it else.
    pub fn hold(&mut self, tag: u32, message: Vec<u8>) -> io::Result<Option<(Posted<P>, Vec<u8>)>> {
        let receive = self.take(tag, message.len())?;
        let Some(receive) = receive else {
            self.held.push_back((tag, message));
            return Ok(None);
        };
        self.held_bytes -= Self::weight(message.len());
        Ok(Some((receive, message)))
    }

    /// The room of the receive that was posted first: most likely the next message is its.
    #[inline]
    pub fn next_room(&self) -> Option<usize> {
        self.posted.front().map(|posted| posted.room)
    }

    /// Bytes that may be held.
    pub fn most_bytes(&self) -> usize {
        self.most_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn receive(tag: u32, room: usize, place: usize) -> Posted<usize> {
        Posted { tag, room, place }
    }

    /// A message that comes whole: gives the place of its receive.
    fn arrive(all: &mut Matching<usize>, tag: u32, message: &[u8]) -> Option<usize> {
        if let Some(posted) = all.take(tag, message.len()).unwrap() {
            return Some(posted.place);
        }
        let mut room = all.reserve(message.len()).unwrap();
        room.copy_from_slice(message);
        assert!(all.hold(tag, room).unwrap().is_none());
        None
    }

    #[test]
    fn messages_of_a_tag_keep_their_order() {
        let mut all = Matching::new(1000);
        for (place, tag) in [1, 2, 1, 2].into_iter().enumerate() {
            assert!(all.post(receive(tag, 9, place)).unwrap().is_none());
        }
        let places = [2, 1, 1, 2].map(|tag| arrive(&mut all, tag, b"x"));
        assert_eq!(places, [Some(1), Some(0), Some(2), Some(3)]);
        assert_eq!(all.next_room(), None);
    }

    #[test]
    fn what_came_before_its_receive_is_held_in_order() {
        let mut all = Matching::new(1000);
        for (tag, message) in [(1, b"a"), (2, b"b"), (1, b"c")] {
            assert_eq!(arrive(&mut all, tag, message), None);
        }
        let mut post = |tag| all.post(receive(tag, 9, 0)).unwrap().map(|(_, message)| message);
        assert_eq!([1, 1, 2].map(&mut post), [b"a", b"c", b"b"].map(|message| Some(message.to_vec())));
        assert_eq!((post(1), all.held_bytes), (None, 0));
    }

    #[test]
    fn a_message_longer_than_its_room_is_an_error() {
        let mut all = Matching::new(1000);
        all.post(receive(1, 2, 0)).unwrap();
        let error = all.take(1, 3).unwrap_err();
        assert!(error.to_string().contains("3 bytes with tag 1: its receive has room for 2"), "{error}");
        arrive(&mut all, 5, b"abc");
        assert!(all.post(receive(5, 2, 0)).is_err());
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut all = Matching::<usize>::new(1000);
        assert!(all.reserve(937).is_none() && all.reserve(usize::MAX).is_none());
        let empty = std::iter::from_fn(|| all.reserve(0)).take(100).count();
        assert_eq!(empty, 1000 / Matching::<usize>::weight(0));
    }

    proptest! {
        /// In whatever order messages come and receives are posted: the n-th receive of a tag has its n-th message.
        #[test]
        fn the_nth_receive_of_a_tag_has_its_nth_message(steps in prop::collection::vec((any::<bool>(), 0..3u32), 0..60)) {
            let mut all = Matching::new(1 << 20);
            let (mut sent, mut asked, mut had) = ([0u8; 3], [0usize; 3], 0);
            for (is_message, tag) in steps {
                let at = tag as usize;
                if is_message {
                    let place = arrive(&mut all, tag, &[sent[at]]);
                    if let Some(place) = place {
                        prop_assert_eq!(place, usize::from(sent[at]));
                        had += 1;
                    }
                    sent[at] += 1;
                } else {
                    if let Some((posted, message)) = all.post(receive(tag, 1, asked[at])).unwrap() {
                        prop_assert_eq!(posted.place, usize::from(message[0]));
                        had += 1;
                    }
                    asked[at] += 1;
                }
            }
            let matched: usize = (0..3).map(|tag| asked[tag].min(sent[tag].into())).sum();
            prop_assert_eq!(had, matched);
        }
    }
}
