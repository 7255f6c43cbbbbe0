//! A packet, or a part of a super-packet, on its way over the wire.

use super::frame::Layout;
use linerate_sys::packet::VNET_HEADER;
use std::ops::Range;
use std::rc::Rc;

/// Headers of a part of a frame, and where in the frame its payload lies.
pub type Cut = (Box<[u8]>, Range<usize>);

/// Some segments of a frame, and when their bits pass the point where they are.
#[derive(Debug, Clone)]
pub struct Flight {
    /// The whole frame as it came, the header of virtio-net in front.
    frame: Rc<Vec<u8>>,
    /// How it is made up.
    pub layout: Layout,
    /// Which of its segments these are.
    pub segments: Range<usize>,
    /// The host that it comes from.
    pub from: usize,
    /// The host that it goes to.
    pub to: usize,
    /// When the first of the packets has come whole, or as much of it as the switch before waited for.
    pub first_ns: f64,
    /// When the last bit has come.
    pub last_ns: f64,
    /// Whether it waits at its end for others to overtake it.
    pub is_held: bool,
}

impl Flight {
    /// All segments of a frame that came at this time.
    pub fn new(frame: Rc<Vec<u8>>, length: usize, from: usize, to: usize, at_ns: f64) -> Flight {
        let layout = Layout::parse(&frame[..length.min(frame.len())]);
        let segments = 0..layout.segments();
        Flight { frame, layout, segments, from, to, first_ns: at_ns, last_ns: at_ns, is_held: false }
    }

    /// Bytes on the wire of its first so many segments.
    pub fn wire_bytes(&self, segments: usize) -> f64 {
        let from = self.layout.wire_bytes(self.segments.start);
        let to = self.layout.wire_bytes((self.segments.start + segments).min(self.segments.end));
        (to - from) as f64
    }

    /// Bytes on the wire of all of it.
    pub fn all_bytes(&self) -> f64 {
        self.wire_bytes(self.segments.len())
    }

    /// Some of its segments, counted from its own first one.
    pub fn part(&self, range: Range<usize>) -> Flight {
        let start = self.segments.start;
        Flight { segments: start + range.start..start + range.end, ..self.clone() }
    }

    /// The frame that it is a part of, as it came.
    pub fn frame(&self) -> &[u8] {
        let length = VNET_HEADER + self.layout.headers + self.layout.payload;
        &self.frame[..length.min(self.frame.len())]
    }

    /// Headers of its own, and where in the frame its payload lies; none where it is the whole frame.
    pub fn cut(&self) -> Option<Cut> {
        let is_whole = !self.layout.is_super_packet() || self.segments == (0..self.layout.segments());
        (!is_whole).then(|| self.layout.cut(self.frame(), self.segments.clone()))
    }

    /// The buffer, once nobody else has a part of it.
    pub fn into_buffer(self) -> Option<Vec<u8>> {
        Rc::try_unwrap(self.frame).ok()
    }
}
