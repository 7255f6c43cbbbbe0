//! Where a client reads and writes its stripes: at a server, or in a file that is mounted on its host.

use super::layout::Part;
use super::request::{EMPTY, MAKE, READ, Request, WRITE};
use super::store::Store;
use crate::pattern::{Link, pull_all, push_all};
use crate::plan::HostId;
use crate::workload::application::broken;
use crate::{Error, Result};
use std::io;
use std::time::Duration;

/// What says that stripes are there.
pub const DONE: u8 = b'D';

/// What says that a file is still being made, and how often that is said: of a connection's least patience a part.
pub const GROWS: u8 = b'G';
pub const OFTEN: Duration = Duration::from_millis(50);

/// One server, or one thread's part of a mounted file.
pub struct Source<'s, L> {
    /// The connection to it.
    pub link: &'s mut L,
    /// What is used in its place.
    pub own: Option<Store>,
    /// Its host.
    pub host: HostId,
    /// The region that was asked for ahead, and is on its way.
    pub ahead: Option<u32>,
}

impl<L: Link> Source<'_, L> {
    /// Has a file made for what is to be read or written: before the time is taken.
    pub fn make(&mut self, part: Part, is_read: bool) -> Result<()> {
        if let Some(own) = &mut self.own {
            return own.make(part, is_read, || Ok(()));
        }
        let what = if is_read { MAKE } else { EMPTY };
        let asked = push_all(self.link, &Request { what, part, region: 0 }.written());
        let answered = asked.and_then(|_| made(self.link));
        self.broken_by(answered)
    }

    /// Tells the server that this client waits for others: it waits no longer for a request than for anything else.
    pub fn stay(&mut self) -> Result<()> {
        if self.own.is_some() {
            return Ok(());
        }
        let said = push_all(self.link, &Request::stay().written()).map(drop);
        self.broken_by(said)
    }

    /// Reads a region, while the server is asked for the next one: it goes on to give without waiting for a round trip. What
    /// was asked for last is for [`Source::drain`].
    pub fn read_ahead(&mut self, part: Part, region: u32, next: u32, room: &mut [u8]) -> Result<()> {
        if self.own.is_some() {
            return self.moved(part, region, room, (false, false));
        }
        // A frame is one region.
        let [region, next] = [region, next].map(|region| if part.tile.is_some() { 0 } else { region });
        let ask =
            |link: &mut L, region| push_all(link, &Request { what: READ, part, region }.written()).map(drop);
        let asked = if self.ahead == Some(region) { Ok(()) } else { ask(self.link, region) };
        let asked = asked.and_then(|()| ask(self.link, next));
        self.ahead = Some(next);
        let came = asked.and_then(|()| pull_all(self.link, room));
        let begins = came.and_then(|_| part.begins(region, room));
        self.broken_by(begins)
    }

    /// Takes what was asked for ahead, if anything was: which region it is.
    pub fn drain(&mut self, room: &mut [u8]) -> Result<Option<u32>> {
        let Some(region) = self.ahead.take() else { return Ok(None) };
        let came = pull_all(self.link, room).map(drop);
        self.broken_by(came).map(|()| Some(region))
    }

    /// Reads or writes a region, or a tile, at once or row by row.
    pub fn moved(
        &mut self,
        part: Part,
        region: u32,
        room: &mut [u8],
        (writes, by_row): (bool, bool),
    ) -> Result<()> {
        let Some(tile) = part.tile.filter(|_| by_row) else {
            return self.piece(part, region, room, writes);
        };
        let mut done = 0;
        for row in tile.first_row..tile.first_row + tile.rows {
            let part = Part { tile: Some(tile.row(row)), ..part };
            let end = done + part.bytes() as usize;
            if let Some(room) = room.get_mut(done..end).filter(|room| !room.is_empty()) {
                self.piece(part, region, room, writes)?;
            }
            done = end;
        }
        Ok(())
    }

    /// What is asked for at once.
    fn piece(&mut self, part: Part, region: u32, room: &mut [u8], writes: bool) -> Result<()> {
        // A frame is one region.
        let region = if part.tile.is_some() { 0 } else { region };
        if writes {
            part.mark(region, room);
        }
        let what = if writes { WRITE } else { READ };
        let moved = match (&mut self.own, writes) {
            (Some(own), true) => return own.write(part, region, room),
            (Some(own), false) => {
                own.read(part, region, room)?;
                Ok(())
            }
            (None, _) => asked(self.link, Request { what, part, region }, room),
        };
        let begins = moved.and_then(|()| part.begins(region, room));
        self.broken_by(begins)
    }

    /// Says that it is over.
    pub fn over(&mut self) -> Result<()> {
        let said = push_all(self.link, &Request::over().written());
        said.map(drop).map_err(|error| broken("the server", self.host, &error))
    }

    fn broken_by(&self, of: io::Result<()>) -> Result<()> {
        let error = match of {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        match &self.own {
            Some(_) => Err(Error::peer("the file system", error.to_string(), "see its disk and its servers")),
            None => Err(broken("the server", self.host, &error)),
        }
    }
}

/// Asks for one server's stripes, or gives them.
fn asked(link: &mut impl Link, request: Request, room: &mut [u8]) -> io::Result<()> {
    push_all(link, &request.written())?;
    if request.what == READ {
        return pull_all(link, room).map(drop);
    }
    push_all(link, room)?;
    done(link)
}

/// Waits until a file is made, however long, while it is told to grow.
fn made(link: &mut impl Link) -> io::Result<()> {
    loop {
        match word(link)? {
            GROWS => {}
            DONE => return Ok(()),
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "it did not make its file")),
        }
    }
}

fn word(link: &mut impl Link) -> io::Result<u8> {
    let mut word = [0];
    pull_all(link, &mut word)?;
    Ok(word[0])
}

fn done(link: &mut impl Link) -> io::Result<()> {
    if word(link)? == DONE {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "it did not take what was written"))
}
