//! Moves messages over one stream socket, at once or waiting in the kernel. It decides nothing about who does so.
//!
//! Out, a header and its payload leave in one call, from where they lie. In, small messages are read many at a time and
//! copied to their receives; a large one is read by the kernel's copy alone into its receive's room, together with the
//! header that follows it.

use super::ahead::Ahead;
use super::leaving::Leaving;
use super::matching::{Matching, Posted};
use super::wire::Header;
use linerate_sys::socket;
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// From this size on a payload is read where it belongs: a copy of so much costs what one more call does.
const LARGE: usize = 8 << 10;

/// A message of at most so many bytes is taken in before it is asked for, whoever makes progress. A longer one stays
/// with the kernel, whose window then holds its sender: nothing of it is copied twice.
const EAGER: usize = 64 << 10;

/// What is held for receives that are not posted yet.
const HELD_BYTES: usize = 16 << 20;

/// The number of an asynchronous request.
pub type Ticket = u64;

/// What becomes of a message that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unexpected {
    /// It waits: whoever moves messages may not allocate.
    Waits,
    /// It is held where it is small, and waits else: nobody needs what is behind it.
    Small,
    /// It is held while there is room, and waits then: its sender may wait for this end to send on.
    Held,
    /// The same, but without room it is an error: what is waited for is behind it.
    InTheWay,
}

/// Rooms of one length that a call lends: the messages that it waits for come there in order.
#[derive(Debug, Default)]
pub struct Lent<'c> {
    bytes: &'c mut [u8],
    each: usize,
    rooms: usize,
    /// Messages that are there.
    had: usize,
    /// Bytes of the messages that are there.
    pub came: usize,
}

impl<'c> Lent<'c> {
    /// So many rooms of `each` bytes; an error where there are fewer bytes.
    #[inline]
    pub fn new(bytes: &'c mut [u8], each: usize, rooms: usize) -> io::Result<Lent<'c>> {
        match each.checked_mul(rooms) {
            Some(all) if all <= bytes.len() => Ok(Lent { bytes, each, rooms, had: 0, came: 0 }),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Whether each has its message.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.had == self.rooms
    }

    fn room(&mut self, at: usize) -> &mut [u8] {
        &mut self.bytes[at * self.each..][..self.each]
    }
}

/// Where a message goes that was asked for.
#[derive(Debug)]
enum Place {
    /// The room of this number of those that the call lent.
    Lent(usize),
    /// The room that an asynchronous request gave.
    Given(Ticket, Vec<u8>),
}

/// Where the message goes that is under way.
#[derive(Debug)]
enum Room {
    /// Nowhere yet: it waits in the kernel.
    None,
    Asked(Place),
    Held(Vec<u8>),
}

/// The message that is under way.
#[derive(Debug)]
struct Coming {
    header: Header,
    filled: usize,
    room: Room,
}

impl Coming {
    /// What is still to come of it, where it goes.
    #[inline]
    fn unfilled<'r>(&'r mut self, lent: &'r mut Lent<'_>) -> &'r mut [u8] {
        let room = match &mut self.room {
            Room::None => return &mut [],
            Room::Asked(Place::Lent(at)) => lent.room(*at),
            Room::Asked(Place::Given(_, room)) | Room::Held(room) => room,
        };
        &mut room[self.filled..self.header.len]
    }
}

/// One end.
#[derive(Debug)]
pub struct Engine {
    socket: Arc<OwnedFd>,
    matching: Matching<Place>,
    leaving: VecDeque<(Ticket, Leaving<Vec<u8>>)>,
    coming: Option<Coming>,
    ahead: Ahead,
    /// Requests that are done: what they gave, and the bytes that came there.
    done: Vec<(Ticket, Vec<u8>, usize)>,
    tickets: Ticket,
    /// Asynchronous receives that are not done.
    awaited: usize,
    failed: Option<(io::ErrorKind, String)>,
    /// The bytes that must be there for who waits on the socket to be woken.
    wakes_at: usize,
}

impl Engine {
    /// Over this socket, which nobody else reads or writes.
    pub fn new(socket: Arc<OwnedFd>) -> Engine {
        Engine {
            socket,
            matching: Matching::new(HELD_BYTES),
            leaving: VecDeque::new(),
            coming: None,
            ahead: Ahead::new(),
            done: Vec::new(),
            tickets: 0,
            awaited: 0,
            failed: None,
            wakes_at: 1,
        }
    }

    /// Lets who waits on the socket be woken by each byte that comes; or, in `lumps`, by so many of the message that is
    /// under way, or its last: to be woken by each packet costs more than the packet.
    #[inline]
    pub fn wake_in(&mut self, lumps: Option<usize>) -> io::Result<()> {
        let rest = |coming: &Coming| match coming.room {
            Room::None => 1,
            _ => coming.header.len - coming.filled,
        };
        let wanted = lumps.map_or(1, |most| self.coming.as_ref().map_or(1, rest).clamp(1, most));
        if wanted != self.wakes_at {
            socket::wake_at(&*self.socket, wanted).map_err(|error| error.source)?;
            self.wakes_at = wanted;
        }
        Ok(())
    }

    /// What is broken stays so: the next bytes of the stream can be anything. The end of the stream shows by itself.
    pub fn keep<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &outcome
            && error.kind() != io::ErrorKind::UnexpectedEof
        {
            self.failed.get_or_insert_with(|| (error.kind(), error.to_string()));
        }
        outcome
    }

    fn is_whole(&self) -> io::Result<()> {
        match &self.failed {
            Some((kind, why)) => Err(io::Error::new(*kind, why.clone())),
            None => Ok(()),
        }
    }

    /// Posts a receive for each room that is lent.
    pub fn post(&mut self, tag: u32, lent: &mut Lent<'_>) -> io::Result<()> {
        self.is_whole()?;
        for at in 0..lent.rooms {
            let receive = Posted { tag, room: lent.each, place: Place::Lent(at) };
            if let Some((receive, message)) = self.matching.post(receive)? {
                self.deliver(receive.place, &message, lent);
            }
        }
        Ok(())
    }

    /// Begins to receive into a room that is given.
    pub fn start_receive(&mut self, tag: u32, room: Vec<u8>) -> io::Result<Ticket> {
        self.is_whole()?;
        // Room for what this and the others that are under way will give: a signal's handler does not allocate.
        self.done.reserve(2 + self.awaited + self.leaving.len());
        let ticket = self.ticket();
        self.awaited += 1;
        let receive = Posted { tag, room: room.len(), place: Place::Given(ticket, room) };
        if let Some((receive, message)) = self.matching.post(receive)? {
            self.deliver(receive.place, &message, &mut Lent::default());
        }
        Ok(ticket)
    }

    /// Begins to send what is given.
    pub fn start_send(&mut self, tag: u32, payload: Vec<u8>) -> io::Result<Ticket> {
        self.is_whole()?;
        self.done.reserve(2 + self.awaited + self.leaving.len());
        let (ticket, message) = (self.ticket(), Leaving::new(tag, payload)?);
        self.leaving.push_back((ticket, message));
        self.push::<&[u8]>(None)?;
        Ok(ticket)
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        self.tickets
    }

    /// Whether a request is done.
    pub fn is_done(&self, ticket: Ticket) -> bool {
        self.done.iter().any(|(done, ..)| *done == ticket)
    }

    /// What a request gave, and the bytes that came there, once it is done.
    pub fn take_done(&mut self, ticket: Ticket) -> Option<(Vec<u8>, usize)> {
        let at = self.done.iter().position(|(done, ..)| *done == ticket)?;
        let (_, bytes, came) = self.done.swap_remove(at);
        Some((bytes, came))
    }

    /// Sends what goes at once, of the requests first and then of the call's own; says whether anything went.
    #[inline]
    pub fn push<B: AsRef<[u8]>>(&mut self, own: Option<&mut Leaving<B>>) -> io::Result<bool> {
        self.is_whole()?;
        let mut moved = false;
        while let Some((_, message)) = self.leaving.front_mut() {
            if message.go(&self.socket)? == 0 {
                return Ok(moved);
            }
            moved = true;
            if message.is_gone()
                && let Some((ticket, message)) = self.leaving.pop_front()
            {
                self.done.push((ticket, message.into_payload(), 0));
            }
        }
        match own {
            Some(own) if !own.is_gone() => Ok(own.go(&self.socket)? > 0 || moved),
            _ => Ok(moved),
        }
    }

    /// Receives at most one message whole, or a part of one, waiting in the kernel for it where it `waits`; says whether
    /// anything came.
    #[inline]
    pub fn pull(&mut self, lent: &mut Lent<'_>, other: Unexpected, waits: bool) -> io::Result<bool> {
        self.is_whole()?;
        if self.sort(lent, other)? {
            return Ok(true);
        }
        Ok(!self.is_held_up() && self.read(lent, waits)? && {
            self.sort(lent, other)?;
            true
        })
    }

    /// Whether what comes next has no room yet.
    pub fn is_held_up(&self) -> bool {
        self.coming.as_ref().is_some_and(|coming| matches!(coming.room, Room::None))
    }

    /// Whether an asynchronous request needs something to come, and something to go.
    pub fn needs(&self) -> [bool; 2] {
        [self.awaited > 0, !self.leaving.is_empty()]
    }

    /// Takes a message, or a part of one, out of what was read ahead; says whether anything was there.
    #[inline]
    fn sort(&mut self, lent: &mut Lent<'_>, other: Unexpected) -> io::Result<bool> {
        if self.coming.is_none() {
            let Some(header) = self.ahead.header() else { return Ok(false) };
            let header = Header::from_wire(&header)?;
            self.coming = Some(Coming { header, filled: 0, room: Room::None });
        }
        self.find_room(other)?;
        let Some(coming) = &mut self.coming else { return Ok(false) };
        if matches!(coming.room, Room::None) {
            return Ok(false);
        }
        let taken = self.ahead.take(coming.unfilled(lent));
        coming.filled += taken;
        if coming.filled < coming.header.len {
            return Ok(taken > 0);
        }
        self.finish(lent)?;
        Ok(true)
    }

    /// Decides where the message goes whose header came.
    #[inline]
    fn find_room(&mut self, other: Unexpected) -> io::Result<()> {
        let Some(Coming { header: Header { tag, len }, room: room @ Room::None, .. }) = &mut self.coming
        else {
            return Ok(());
        };
        if let Some(posted) = self.matching.take(*tag, *len)? {
            *room = Room::Asked(posted.place);
        } else if other != Unexpected::Waits && (*len <= EAGER || other != Unexpected::Small) {
            match self.matching.reserve(*len) {
                Some(bytes) => *room = Room::Held(bytes),
                None if other == Unexpected::InTheWay => {
                    let most = self.matching.most_bytes();
                    let why =
                        format!("a message of {len} bytes with tag {tag}, for which no receive is posted");
                    return Err(io::Error::other(format!("{why}: with it more than {most} bytes were held")));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Reads what the kernel has: into the room of the message under way, and ahead of it.
    #[inline]
    fn read(&mut self, lent: &mut Lent<'_>, waits: bool) -> io::Result<bool> {
        let next = self.matching.next_room();
        let socket = &*self.socket;
        let came = match &mut self.coming {
            Some(coming) => {
                // Of a large message behind it, no more than the header is to be copied.
                let is_large = next.unwrap_or(coming.header.len) >= LARGE;
                let rest = coming.unfilled(lent);
                let (room, spare) = (rest.len(), self.ahead.spare(is_large));
                let mut parts = [IoSliceMut::new(rest), IoSliceMut::new(spare)];
                let receive = if waits { socket::receive_parts_waiting } else { socket::receive_parts_now };
                let came = receive(socket, &mut parts)?;
                let filled = came.unwrap_or(0).min(room);
                coming.filled += filled;
                came.inspect(|came| self.ahead.filled(came - filled))
            }
            None => {
                let spare = self.ahead.spare(next.is_some_and(|room| room >= LARGE));
                let receive = if waits { socket::receive_waiting } else { socket::receive_now };
                receive(socket, spare)?.inspect(|came| self.ahead.filled(*came))
            }
        };
        match came {
            Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            came => Ok(came.is_some()),
        }
    }

    /// The message under way is whole.
    fn finish(&mut self, lent: &mut Lent<'_>) -> io::Result<()> {
        let Some(Coming { header, room, .. }) = self.coming.take() else { return Ok(()) };
        match room {
            Room::Asked(place) => self.is_there(place, header.len, lent),
            Room::Held(message) => {
                if let Some((receive, message)) = self.matching.hold(header.tag, message)? {
                    self.deliver(receive.place, &message, lent);
                }
            }
            Room::None => {}
        }
        Ok(())
    }

    /// A message that was held reaches its receive: the copy that comes of being asked for late.
    fn deliver(&mut self, mut place: Place, message: &[u8], lent: &mut Lent<'_>) {
        let room = match &mut place {
            Place::Lent(at) => lent.room(*at),
            Place::Given(_, room) => room,
        };
        room[..message.len()].copy_from_slice(message);
        self.is_there(place, message.len(), lent);
    }

    #[inline]
    fn is_there(&mut self, place: Place, len: usize, lent: &mut Lent<'_>) {
        match place {
            Place::Lent(_) => {
                lent.had += 1;
                lent.came += len;
            }
            Place::Given(ticket, room) => {
                self.awaited -= 1;
                self.done.push((ticket, room, len));
            }
        }
    }
}
