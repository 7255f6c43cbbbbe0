//! A buffer on a connection: what it is and how long, then its bytes.

use super::filter::HEAD;
use super::queue::Buffer;
use crate::pattern::{Link, pull_all, push_all};
use crate::vocabulary::MOST_BUFFER;
use std::io;

/// What a frame is.
const DATA: u8 = b'D';
const END: u8 = b'E';

/// What goes back along a stream: a unit is wanted, a buffer was taken up.
pub const WANTED: u8 = b'W';
pub const TAKEN: u8 = b'T';

/// A filter may pass on what the largest buffer holds, with its place.
const MOST: usize = MOST_BUFFER as usize + 64;

/// Sends a buffer, whose head has room before its bytes.
pub fn send(link: &mut impl Link, buffer: &mut Buffer) -> io::Result<()> {
    let len = buffer.len() - HEAD;
    write_head(&mut buffer[..HEAD], DATA, len);
    push_all(link, buffer).map(drop)
}

/// Says that a unit is over.
pub fn send_end(link: &mut impl Link) -> io::Result<()> {
    let mut head = [0; HEAD];
    write_head(&mut head, END, 0);
    push_all(link, &head).map(drop)
}

fn write_head(head: &mut [u8], what: u8, len: usize) {
    head[0] = what;
    head[4..HEAD].copy_from_slice(&(len as u32).to_be_bytes());
}

/// The end of a connection at which buffers come: with a buffer it takes the head of the next one where that is there already,
/// so that each costs a call and not two.
#[derive(Default)]
pub struct Comes {
    head: [u8; HEAD],
    /// How much of it is there.
    filled: usize,
}

impl Comes {
    /// Receives a buffer into this one; false where the unit is over.
    pub fn receive(&mut self, link: &mut impl Link, buffer: &mut Buffer) -> io::Result<bool> {
        pull_all(link, &mut self.head[self.filled..])?;
        self.filled = 0;
        let len = self.head.last_chunk().map_or(0, |four| u32::from_be_bytes(*four)) as usize;
        match self.head[0] {
            END if len == 0 => Ok(false),
            DATA if len <= MOST => {
                let end = HEAD + len;
                buffer.resize(end + HEAD, 0);
                let mut at = HEAD;
                while at < end {
                    // Of a link that seals nothing is there before a record is whole; its end is an error of its own.
                    at += link.pull(&mut buffer[at..])?;
                }
                self.filled = at - end;
                self.head[..self.filled].copy_from_slice(&buffer[end..at]);
                buffer.truncate(end);
                Ok(true)
            }
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "sent what is no buffer of a pipeline")),
        }
    }
}

/// Sends one word back.
pub fn say(link: &mut impl Link, word: u8) -> io::Result<()> {
    push_all(link, &[word]).map(drop)
}

/// Waits for this word.
pub fn hear(link: &mut impl Link, word: u8) -> io::Result<()> {
    let mut said = [0];
    pull_all(link, &mut said)?;
    let other = || io::Error::new(io::ErrorKind::InvalidData, "said another word than is its turn");
    if said == [word] { Ok(()) } else { Err(other()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// What is pushed is pulled, in parts.
    #[derive(Default)]
    struct Loop(VecDeque<u8>, bool);

    impl Link for Loop {
        fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend(bytes);
            Ok(bytes.len())
        }

        fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            // Every other time nothing whole is there.
            self.1 = !self.1;
            if self.1 {
                return Ok(0);
            }
            let some = bytes.len().min(5).min(self.0.len());
            bytes.iter_mut().zip(self.0.drain(..some)).for_each(|(room, byte)| *room = byte);
            if some == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(some) }
        }
    }

    #[test]
    fn a_buffer_comes_as_it_went() {
        let mut link = Loop::default();
        let mut buffer: Buffer = [vec![0; HEAD], (0..100).collect()].concat();
        send(&mut link, &mut buffer).unwrap();
        send_end(&mut link).unwrap();
        send(&mut link, &mut buffer).unwrap();
        let (mut comes, mut came) = (Comes::default(), Buffer::new());
        for is_data in [true, false, true] {
            assert_eq!(comes.receive(&mut link, &mut came).unwrap(), is_data);
            assert_eq!(came[HEAD..], buffer[HEAD..]);
        }
        assert!(comes.receive(&mut link, &mut came).is_err(), "there is no more");
    }

    #[test]
    fn a_frame_of_any_length_is_no_buffer() {
        for head in [[DATA, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], [END, 0, 0, 0, 0, 0, 0, 1], [b'X'; 8]] {
            let error =
                Comes::default().receive(&mut Loop(head.into(), false), &mut Buffer::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
        assert!(hear(&mut Loop([TAKEN].into(), false), WANTED).is_err());
    }
}
