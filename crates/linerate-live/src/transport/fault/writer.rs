//! How an application hands a message over: in pieces, or its head by itself and then waiting for an answer.

use crate::pattern::Link;
use crate::plan::Block;
use crate::vocabulary::Does;
use std::io;

/// What of a message goes by itself where each is answered.
const HEAD: usize = 16;

/// What answers a message.
const ANSWER: [u8; 1] = [1];

/// What a session was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Writes {
    /// The most that one call hands over.
    pub most: Option<usize>,
    /// Whether each message goes in two parts, and waits for an answer.
    pub are_answered: bool,
}

/// The hands of one end of a stream.
#[derive(Debug)]
pub struct Writer {
    most: usize,
    /// What this end is for a message that is answered; none where none is.
    answers: Option<Does>,
    /// Bytes of a message, and those that are to come until it is whole.
    message: usize,
    left: usize,
}

impl Writes {
    /// Whether anything is asked for.
    pub fn are_usual(self) -> bool {
        self == Writes::default()
    }

    /// For one end. Where data goes both ways over one connection an answer could not be told from it.
    pub fn end(self, does: Does, is_duplex: bool) -> Writer {
        let answers = Some(does).filter(|_| self.are_answered && !is_duplex);
        let most = self.most.filter(|_| does == Does::Sends).unwrap_or(usize::MAX);
        Writer { most, answers, message: 0, left: 0 }
    }
}

impl Writer {
    /// A block begins.
    pub fn begins(&mut self, block: &Block) {
        self.message = usize::try_from(block.message_bytes).unwrap_or(usize::MAX).max(1);
        self.left = self.message;
    }

    /// Sends all of a message.
    #[inline]
    pub fn write(&mut self, link: &mut impl Link, bytes: &[u8]) -> io::Result<usize> {
        let is_answered = self.answers == Some(Does::Sends);
        let head = if is_answered { HEAD.min(bytes.len()) } else { bytes.len() };
        self.pieces(link, &bytes[..head])?;
        if head < bytes.len() {
            self.pieces(link, &bytes[head..])?;
        }
        if is_answered {
            let mut answer = ANSWER;
            while link.pull(&mut answer)? == 0 {}
        }
        Ok(bytes.len())
    }

    fn pieces(&self, link: &mut impl Link, bytes: &[u8]) -> io::Result<()> {
        let mut moved = 0;
        while moved < bytes.len() {
            let end = bytes.len().min(moved.saturating_add(self.most));
            moved += link.push(&bytes[moved..end])?;
        }
        Ok(())
    }

    /// Answers each message that so many more bytes made whole.
    #[inline]
    pub fn received(&mut self, link: &mut impl Link, mut came: usize) -> io::Result<()> {
        if self.answers != Some(Does::Receives) {
            return Ok(());
        }
        while came >= self.left {
            came -= self.left;
            self.left = self.message;
            while link.push(&ANSWER)? == 0 {}
        }
        self.left -= came;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Cache;

    /// What goes out call by call; what is pulled is all zeros.
    #[derive(Default)]
    struct Calls(Vec<usize>);

    impl Link for Calls {
        fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.len());
            Ok(bytes.len())
        }

        fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.0.push(0);
            Ok(bytes.len())
        }
    }

    fn block() -> Block {
        let cache = Cache::Hot;
        Block { message_bytes: 100, messages: 1, slices: 1, lead: 0, cache, ..Block::default() }
    }

    fn written(writes: Writes, is_duplex: bool) -> Vec<usize> {
        let (mut writer, mut calls) = (writes.end(Does::Sends, is_duplex), Calls::default());
        writer.begins(&block());
        assert_eq!(writer.write(&mut calls, &[7; 100]).unwrap(), 100);
        calls.0
    }

    #[test]
    fn a_message_goes_as_it_was_asked_for() {
        let answered = Writes { most: None, are_answered: true };
        assert_eq!(written(Writes::default(), false), [100]);
        assert_eq!(written(Writes { most: Some(40), ..Writes::default() }, false), [40, 40, 20]);
        assert_eq!(written(answered, false), [16, 84, 0]);
        assert_eq!(written(answered, true), [100]);
    }

    #[test]
    fn each_whole_message_is_answered_once() {
        let writes = Writes { most: None, are_answered: true };
        let (mut reader, mut calls) = (writes.end(Does::Receives, false), Calls::default());
        reader.begins(&block());
        for (came, answers) in [(99, 0), (1, 1), (250, 3), (49, 3), (1, 4)] {
            reader.received(&mut calls, came).unwrap();
            assert_eq!(calls.0.len(), answers, "after {came}");
        }
    }
}
