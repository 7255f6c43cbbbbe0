//! PVM 3, loaded at run time: the calls that message passing between two tasks needs (pvm3.h of PVM 3.4.6).
//!
//! A message is packed into the library's one send buffer and sent from there. What comes is unpacked from its one
//! receive buffer, which is freed when the next message comes.

use crate::library::Library;
use crate::{Error, Result};
use std::ffi::{CString, c_char, c_int};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::str::FromStr;

/// The tag of every message.
const TAG: c_int = 77;
/// `PvmRoute`, an option, and two of its values.
const ROUTE: c_int = 1;
const ALLOW_DIRECT: c_int = 2;
const ROUTE_DIRECT: c_int = 3;
/// `PvmTaskHost`: a task is started on a host that is named.
const TASK_HOST: c_int = 1;
/// What XDR rounds a message up to, in bytes.
const XDR_UNIT: usize = 4;
/// A first message.
const FIRST: [u8; 5] = [1, 2, 3, 4, 5];

/// How a message is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `PvmDataDefault`: by XDR, for hosts of any kind.
    Default,
    /// `PvmDataRaw`: copied as it is.
    Raw,
    /// `PvmDataInPlace`: left where it lies until it is sent.
    InPlace,
}

impl FromStr for Encoding {
    type Err = ();

    fn from_str(name: &str) -> std::result::Result<Self, ()> {
        match name {
            "default" => Ok(Encoding::Default),
            "raw" => Ok(Encoding::Raw),
            "in-place" => Ok(Encoding::InPlace),
            _ => Err(()),
        }
    }
}

type OfNothing = unsafe extern "C" fn() -> c_int;
type OfOne = unsafe extern "C" fn(c_int) -> c_int;
type OfTwo = unsafe extern "C" fn(c_int, c_int) -> c_int;
type Pack = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
type About = unsafe extern "C" fn(c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
type AddHosts = unsafe extern "C" fn(*mut *mut c_char, c_int, *mut c_int) -> c_int;
type Spawn =
    unsafe extern "C" fn(*mut c_char, *mut *mut c_char, c_int, *mut c_char, c_int, *mut c_int) -> c_int;
type Descriptors = unsafe extern "C" fn(*mut *mut c_int) -> c_int;

struct Calls {
    begin: OfOne,
    pack: Pack,
    send: OfTwo,
    wait: OfTwo,
    look: OfTwo,
    about: About,
    unpack: Pack,
    leave: OfNothing,
    set_option: OfTwo,
    parent: OfNothing,
    add_hosts: AddHosts,
    spawn: Spawn,
    descriptors: Descriptors,
}

/// One of two tasks, between its enrolment and [`leave`](Task::leave).
pub struct Task {
    calls: Calls,
    encoding: c_int,
    peer: c_int,
}

impl Task {
    /// Enrols this process with the daemon that its environment names (`pvm_mytid`).
    pub fn enrol(library: &Library, encoding: Encoding, direct: bool) -> Result<Task> {
        // SAFETY: pvm3.h gives each symbol this type.
        let (calls, own) = unsafe {
            let calls = Calls {
                begin: library.function::<OfOne>("pvm_initsend")?,
                pack: library.function::<Pack>("pvm_pkbyte")?,
                send: library.function::<OfTwo>("pvm_send")?,
                wait: library.function::<OfTwo>("pvm_recv")?,
                look: library.function::<OfTwo>("pvm_nrecv")?,
                about: library.function::<About>("pvm_bufinfo")?,
                unpack: library.function::<Pack>("pvm_upkbyte")?,
                leave: library.function::<OfNothing>("pvm_exit")?,
                set_option: library.function::<OfTwo>("pvm_setopt")?,
                parent: library.function::<OfNothing>("pvm_parent")?,
                add_hosts: library.function::<AddHosts>("pvm_addhosts")?,
                spawn: library.function::<Spawn>("pvm_spawn")?,
                descriptors: library.function::<Descriptors>("pvm_getfds")?,
            };
            (calls, library.function::<OfNothing>("pvm_mytid")?)
        };
        // SAFETY: it takes nothing.
        check(unsafe { own() }).map_err(|why| Error::new("pvm_mytid", "its daemon", why))?;
        let route = if direct { ROUTE_DIRECT } else { ALLOW_DIRECT };
        // SAFETY: it takes numbers.
        check(unsafe { (calls.set_option)(ROUTE, route) })
            .map_err(|why| Error::new("pvm_setopt", "PvmRoute", why))?;
        let encoding = match encoding {
            Encoding::Default => 0,
            Encoding::Raw => 1,
            Encoding::InPlace => 2,
        };
        Ok(Task { calls, encoding, peer: 0 })
    }

    /// Has the daemon start one on another host (`pvm_addhosts`), by this program there.
    pub fn add_host(&mut self, host: &str, daemon: &Path) -> Result<()> {
        let line = text([host.as_bytes(), b" dx=", daemon.as_os_str().as_bytes()].concat())?;
        let (mut lines, mut info) = ([line.as_ptr().cast_mut()], 0);
        // SAFETY: one text and room for one number, both there for the time of the call, which writes to the second.
        let answer = unsafe { (self.calls.add_hosts)(lines.as_mut_ptr(), 1, &mut info) };
        check(answer).and(check(info)).map(drop).map_err(|why| Error::new("pvm_addhosts", host, why))
    }

    /// Starts the other task (`pvm_spawn`), on a host of the virtual machine; none is this one.
    pub fn spawn(&mut self, program: &Path, words: &[&str], host: Option<&str>) -> Result<()> {
        let object = program.display().to_string();
        let name = text(program.as_os_str().as_bytes().to_vec())?;
        let words =
            words.iter().map(|word| text(word.as_bytes().to_vec())).collect::<Result<Vec<CString>>>()?;
        let mut all: Vec<*mut c_char> = words.iter().map(|word| word.as_ptr().cast_mut()).collect();
        all.push(null_mut());
        let (flag, host) = match host {
            Some(host) => (TASK_HOST, Some(text(host.as_bytes().to_vec())?)),
            None => (0, None),
        };
        let at = host.as_ref().map_or(null_mut(), |host| host.as_ptr().cast_mut());
        let mut task = 0;
        // SAFETY: all texts are there for the time of the call, the words end with a null pointer, and there is room
        // for one number.
        let started =
            unsafe { (self.calls.spawn)(name.as_ptr().cast_mut(), all.as_mut_ptr(), flag, at, 1, &mut task) };
        let failed = |why| Error::new("pvm_spawn", &object, why);
        check(started).map_err(failed)?;
        self.peer = check(task).map_err(failed)?;
        Ok(())
    }

    /// The other task is the one that started this one.
    pub fn find_parent(&mut self) -> Result<()> {
        // SAFETY: it takes nothing.
        let parent = unsafe { (self.calls.parent)() };
        self.peer = check(parent).map_err(|why| Error::new("pvm_parent", "the other task", why))?;
        Ok(())
    }

    /// A first message each way, which also makes the connection of a direct route. Both tasks call it, one of them
    /// as the `first`.
    pub fn check(&mut self, first: bool) -> Result<()> {
        let failed = |why| Error::new("pvm_recv", "a first message", why);
        if first {
            self.send(&FIRST).map_err(failed)?;
        }
        let mut room = [0; 8];
        let came = self.receive::<false>(&mut room[..FIRST.len()]).map_err(failed)?;
        if came != FIRST.len() || room[..came] != FIRST {
            return Err(failed(io::Error::other(format!("{came} bytes came, other ones than were sent"))));
        }
        if first { Ok(()) } else { self.send(&FIRST).map_err(failed) }
    }

    /// Whether there is a connection beside the daemon's: the library falls back to the daemons by itself.
    pub fn is_direct(&self) -> bool {
        let mut list = null_mut();
        // SAFETY: it writes where its list of descriptors lies, which is not read.
        unsafe { (self.calls.descriptors)(&mut list) > 1 }
    }

    /// `pvm_initsend`, `pvm_pkbyte`, `pvm_send` to the other task.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let count = c_int::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the bytes are there for the time of the calls, which do not write to them: the library copies them
        // or has sent them before the last one returns.
        unsafe {
            check((self.calls.begin)(self.encoding))?;
            check((self.calls.pack)(bytes.as_ptr().cast_mut().cast(), count, 1))?;
            check((self.calls.send)(self.peer, TAG)).map(drop)
        }
    }

    /// The next message of the other task, how many bytes came: `pvm_recv`, or `pvm_nrecv` again and again; then
    /// `pvm_bufinfo` and `pvm_upkbyte`.
    #[inline]
    pub fn receive<const POLLS: bool>(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut bytes = 0;
        // SAFETY: they take numbers.
        let message = unsafe {
            match POLLS {
                true => loop {
                    let message = check((self.calls.look)(self.peer, TAG))?;
                    if message > 0 {
                        break message;
                    }
                },
                false => check((self.calls.wait)(self.peer, TAG))?,
            }
        };
        // SAFETY: there is room for the one number that is asked for; the others are allowed to be null.
        check(unsafe { (self.calls.about)(message, &mut bytes, null_mut(), null_mut()) })?;
        let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        // XDR says how many words came; that they hold less than the room would need is found by unpacking.
        if bytes >= room.len() + XDR_UNIT {
            return Err(io::Error::other(format!(
                "a message of {bytes} B came for a room of {}",
                room.len()
            )));
        }
        let came = bytes.min(room.len());
        // SAFETY: there is room for so many bytes.
        check(unsafe { (self.calls.unpack)(room.as_mut_ptr().cast(), came as c_int, 1) })?;
        Ok(came)
    }

    /// Leaves the virtual machine (`pvm_exit`).
    pub fn leave(&mut self) {
        // SAFETY: it takes nothing; nothing of the library is called after it.
        unsafe { (self.calls.leave)() };
    }
}

fn text(bytes: Vec<u8>) -> Result<CString> {
    CString::new(bytes).map_err(|_| Error::new("pvm", "a text", io::ErrorKind::InvalidInput))
}

/// What a negative answer says (pvm3.h).
#[inline]
fn check(answer: c_int) -> io::Result<c_int> {
    if answer >= 0 { Ok(answer) } else { Err(refusal(answer)) }
}

#[cold]
fn refusal(answer: c_int) -> io::Error {
    let known = [
        (-2, "PvmBadParam: a wrong argument"),
        (-5, "PvmNoData: the message is shorter"),
        (-6, "PvmNoHost: no such host"),
        (-7, "PvmNoFile: no such program there"),
        (-10, "PvmNoMem: no memory"),
        (-14, "PvmSysErr: its daemon does not answer"),
        (-22, "PvmHostFail: a host failed"),
        (-23, "PvmNoParent: nobody started this task"),
        (-25, "PvmDSysErr: its daemon failed"),
        (-26, "PvmBadVersion: the daemons are of two versions"),
        (-27, "PvmOutOfRes: the daemon has no room for it"),
        (-28, "PvmDupHost: the host is there already"),
        (-29, "PvmCantStart: no daemon could be started there"),
        (-31, "PvmNoTask: the other task has gone"),
        (-36, "PvmIPLoopback: the daemon has a loopback address"),
    ];
    let words = known.iter().find(|(code, _)| *code == answer).map(|(_, words)| (*words).to_owned());
    io::Error::other(words.unwrap_or_else(|| format!("PVM error {answer}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_in_words() {
        assert_eq!(check(7).unwrap(), 7);
        assert!(check(-29).unwrap_err().to_string().starts_with("PvmCantStart"));
        assert_eq!(check(-99).unwrap_err().to_string(), "PVM error -99");
    }

    #[test]
    fn what_is_no_pvm_has_no_task() {
        let math = Library::open(Path::new("libm.so.6")).unwrap();
        let error = Task::enrol(&math, Encoding::Raw, false).err().unwrap();
        assert_eq!((error.call, error.object.as_str()), ("dlsym", "pvm_initsend"));
    }
}
