//! UCX, loaded at run time: tagged messages between two workers (ucp/api/ucp.h of UCX 1.13.1).
//!
//! Its structures grow at their ends, and a mask in each says which fields are set: what is set here lies where it has
//! lain since 1.10, where the calls below came from.

mod answer;
mod layout;

use crate::library::Library;
use crate::messages::{Messages, Windows, parts};
use crate::under_way::UnderWay;
use crate::{Error, Result};
use answer::{IN_PROGRESS, LAST_ERROR, Status, check};
use layout::{ContextRequest, EndpointRequest, Info, OperationRequest, WorkerRequest};
use std::ffi::{c_char, c_uint, c_void};
use std::io;
use std::ptr::{null, null_mut};

/// The most messages that are under way at once.
pub const WINDOW: usize = 64;

/// The API that is asked for: 1.10.
const API: [c_uint; 2] = [1, 10];
/// The tag of every message, and the bits of it that count: all.
const TAG: u64 = 77;
const ALL: u64 = u64::MAX;
/// A first message.
const FIRST: [u8; 5] = [1, 2, 3, 4, 5];
/// So many messages go each way before it is told what they go by: connections are made by messages.
const FIRST_MESSAGES: usize = 100;
/// One that is asked for first.
const LARGE: usize = 4 << 20;
/// What nothing is written to stays so.
const CANARY: u8 = 0xa5;

type Handle = *mut c_void;
/// Null, an error, or a request.
type Pending = usize;

type ReadConfig = unsafe extern "C" fn(*const c_char, *const c_char, *mut Handle) -> Status;
type OfHandle = unsafe extern "C" fn(Handle);
type Init = unsafe extern "C" fn(c_uint, c_uint, *const ContextRequest, Handle, *mut Handle) -> Status;
type CreateWorker = unsafe extern "C" fn(Handle, *const WorkerRequest, *mut Handle) -> Status;
type GetAddress = unsafe extern "C" fn(Handle, *mut Handle, *mut usize) -> Status;
type ReleaseAddress = unsafe extern "C" fn(Handle, Handle);
type CreateEndpoint = unsafe extern "C" fn(Handle, *const EndpointRequest, *mut Handle) -> Status;
type Progress = unsafe extern "C" fn(Handle) -> c_uint;
type StartSend = unsafe extern "C" fn(Handle, *const c_void, usize, u64, *const OperationRequest) -> Pending;
type StartReceive =
    unsafe extern "C" fn(Handle, *mut c_void, usize, u64, u64, *const OperationRequest) -> Pending;
type CheckStatus = unsafe extern "C" fn(Pending) -> Status;
type TestReceive = unsafe extern "C" fn(Pending, *mut Info) -> Status;
type Free = unsafe extern "C" fn(Pending);
type Close = unsafe extern "C" fn(Handle, *const OperationRequest) -> Pending;
type Print = unsafe extern "C" fn(Handle, *mut libc::FILE);

struct Calls {
    address: GetAddress,
    release_address: ReleaseAddress,
    endpoint: CreateEndpoint,
    progress: Progress,
    send: StartSend,
    receive: StartReceive,
    status: CheckStatus,
    test: TestReceive,
    free: Free,
    close: Close,
    destroy: OfHandle,
    cleanup: OfHandle,
    print: Print,
}

/// One of two ranks: a worker, and an endpoint to the other one's. Its configuration is the environment's (`UCX_*`).
pub struct Rank {
    calls: Calls,
    context: Handle,
    worker: Handle,
    /// Null before there is one.
    endpoint: Handle,
    /// Of a send, and of a receive.
    plain: OperationRequest,
    receive: OperationRequest,
    pending: [Pending; WINDOW],
    infos: [Info; WINDOW],
}

// SAFETY: the worker was made for calls of several threads one after the other (`UCS_THREAD_MODE_SERIALIZED`), and every
// call takes the rank by an exclusive reference.
unsafe impl Send for Rank {}

impl Rank {
    /// A worker of a context of its own: `ucp_config_read`, `ucp_init_version`, `ucp_worker_create`.
    pub fn open(library: &Library) -> Result<Rank> {
        // SAFETY: ucp.h gives each symbol this type.
        let (calls, read, release, init, create) = unsafe {
            let calls = Calls {
                address: library.function::<GetAddress>("ucp_worker_get_address")?,
                release_address: library.function::<ReleaseAddress>("ucp_worker_release_address")?,
                endpoint: library.function::<CreateEndpoint>("ucp_ep_create")?,
                progress: library.function::<Progress>("ucp_worker_progress")?,
                send: library.function::<StartSend>("ucp_tag_send_nbx")?,
                receive: library.function::<StartReceive>("ucp_tag_recv_nbx")?,
                status: library.function::<CheckStatus>("ucp_request_check_status")?,
                test: library.function::<TestReceive>("ucp_tag_recv_request_test")?,
                free: library.function::<Free>("ucp_request_free")?,
                close: library.function::<Close>("ucp_ep_close_nbx")?,
                destroy: library.function::<OfHandle>("ucp_worker_destroy")?,
                cleanup: library.function::<OfHandle>("ucp_cleanup")?,
                print: library.function::<Print>("ucp_ep_print_info")?,
            };
            let read = library.function::<ReadConfig>("ucp_config_read")?;
            let release = library.function::<OfHandle>("ucp_config_release")?;
            let init = library.function::<Init>("ucp_init_version")?;
            (calls, read, release, init, library.function::<CreateWorker>("ucp_worker_create")?)
        };
        let (mut config, mut context, mut worker) = (null_mut(), null_mut(), null_mut());
        let (asked, worker_asked) = (ContextRequest::tagged(), WorkerRequest::serialized());
        // SAFETY: null texts are allowed; the requests are as long as the header has them, and what is made is written
        // to room for a pointer.
        unsafe {
            check(read(null(), null(), &mut config)).map_err(|why| failed("ucp_config_read", why))?;
            let begun = check(init(API[0], API[1], &asked, config, &mut context));
            release(config);
            begun.map_err(|why| failed("ucp_init_version", why))?;
            let made = check(create(context, &worker_asked, &mut worker));
            made.map_err(|why| failed("ucp_worker_create", why))?;
        }
        let (plain, receive) = (OperationRequest::plain(), OperationRequest::receive());
        let (pending, infos) = ([0; WINDOW], [Info::default(); WINDOW]);
        Ok(Rank { calls, context, worker, endpoint: null_mut(), plain, receive, pending, infos })
    }

    /// Where the other rank finds it: `ucp_worker_get_address`.
    pub fn address(&mut self) -> Result<Vec<u8>> {
        let (mut at, mut len) = (null_mut(), 0);
        // SAFETY: the worker lives; it gives the address's place and length, which are its own until they are released.
        unsafe {
            check((self.calls.address)(self.worker, &mut at, &mut len))
                .map_err(|why| failed("ucp_worker_get_address", why))?;
            let address = std::slice::from_raw_parts(at.cast::<u8>(), len).to_vec();
            (self.calls.release_address)(self.worker, at);
            Ok(address)
        }
    }

    /// Makes an endpoint to the worker with this address: `ucp_ep_create`. The library takes an address as it is: what is
    /// none can crash it.
    pub fn connect(&mut self, address: &[u8]) -> Result<()> {
        let asked = EndpointRequest::to(address);
        // SAFETY: the request is as long as the header has it, the address there for the time of the call. What an
        // address that is none makes of this process is borne by it alone: nothing else is in it.
        let made = unsafe { (self.calls.endpoint)(self.worker, &asked, &mut self.endpoint) };
        check(made).map_err(|why| failed("ucp_ep_create", why))
    }

    /// First messages each way, small and large: by them the connection is made, and they show whether the structures are
    /// the library's own. Both ranks call it, one of them as the `first`.
    pub fn check(&mut self, first: bool) -> Result<()> {
        let mut room = vec![CANARY; LARGE];
        let checked = (0..FIRST_MESSAGES).try_for_each(|_| {
            if first {
                self.send(&FIRST)?;
            }
            self.came_as_sent(&mut room[..FIRST.len() * 2])?;
            if first { Ok(()) } else { self.send(&FIRST) }
        });
        checked.map_err(|why| Error::new("ucp_tag_recv_nbx", "a first message", why))?;
        let exchanged = self.exchange(&vec![CANARY; LARGE], &mut room);
        let len = exchanged.map_err(|why| Error::new("ucp_tag_recv_nbx", "a first large message", why))?;
        match len == LARGE && room.iter().all(|byte| *byte == CANARY) {
            true => Ok(()),
            false => Err(failed("ucp_tag_recv_nbx", io::Error::other(format!("{len} of {LARGE} B came")))),
        }
    }

    /// The length and the tag are told, and what lies behind them is untouched.
    fn came_as_sent(&mut self, room: &mut [u8]) -> io::Result<()> {
        room.fill(CANARY);
        self.infos = [Info { tag: ALL, len: usize::MAX }; WINDOW];
        let len = self.receive(room)?;
        let (came, behind) = room.split_at(FIRST.len());
        let is_whole = came == FIRST && behind.iter().all(|byte| *byte == CANARY);
        let others = self.infos[1..].iter().all(|info| (info.tag, info.len) == (ALL, usize::MAX));
        match (self.infos[0].tag, len) == (TAG, FIRST.len()) && is_whole && others {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "its structures are others: a first message came with tag {} and {len} B",
                self.infos[0].tag
            ))),
        }
    }

    /// What the library says of the endpoint (`ucp_ep_print_info`): its lanes, and from which size on it does what.
    pub fn about(&mut self) -> String {
        // Lanes that were under way when the last message came.
        (0..FIRST_MESSAGES).for_each(|_| self.progress());
        let (mut text, mut len): (*mut c_char, usize) = (null_mut(), 0);
        // SAFETY: the stream writes to memory of its own, whose place and length are there once it is closed; it is read
        // for that length and then freed.
        unsafe {
            let stream = libc::open_memstream(&mut text, &mut len);
            if stream.is_null() {
                return String::new();
            }
            (self.calls.print)(self.endpoint, stream);
            libc::fclose(stream);
            let said = std::slice::from_raw_parts(text.cast::<u8>(), len);
            let said = String::from_utf8_lossy(said).into_owned();
            libc::free(text.cast());
            said
        }
    }

    /// Private: the buffer must stay until [`finish`](Rank::finish).
    #[inline]
    fn start_send(&mut self, bytes: &[u8], number: usize) {
        // SAFETY: every caller finishes it while it still borrows the buffer; the request says that no field of it is set.
        self.pending[number] =
            unsafe { (self.calls.send)(self.endpoint, bytes.as_ptr().cast(), bytes.len(), TAG, &self.plain) };
    }

    /// Private, for the same reason.
    #[inline]
    fn start_receive(&mut self, room: &mut [u8], number: usize) {
        // SAFETY: as with `start_send`.
        self.pending[number] = unsafe {
            (self.calls.receive)(self.worker, room.as_mut_ptr().cast(), room.len(), TAG, ALL, &self.receive)
        };
    }

    #[inline]
    fn progress(&mut self) {
        // SAFETY: the worker lives.
        unsafe { (self.calls.progress)(self.worker) };
    }

    /// Until a send is over.
    #[inline]
    fn finish(&mut self, number: usize) -> io::Result<()> {
        let pending = self.pending[number];
        if pending == 0 {
            return Ok(());
        }
        if pending >= LAST_ERROR {
            return check(pending as Status);
        }
        loop {
            // SAFETY: it is a request that was not freed.
            let status = unsafe { (self.calls.status)(pending) };
            if status != IN_PROGRESS {
                // SAFETY: nothing asks for it after this.
                unsafe { (self.calls.free)(pending) };
                return check(status);
            }
            self.progress();
        }
    }

    /// Until a message is there; how many bytes came.
    #[inline]
    fn finish_receive(&mut self, number: usize) -> io::Result<usize> {
        let pending = self.pending[number];
        if pending == 0 {
            return Err(without_request());
        }
        if pending >= LAST_ERROR {
            return check(pending as Status).map(|()| 0);
        }
        loop {
            // SAFETY: it is a request that was not freed, and there is room for what is told.
            let status = unsafe { (self.calls.test)(pending, &mut self.infos[number]) };
            if status != IN_PROGRESS {
                // SAFETY: nothing asks for it after this.
                unsafe { (self.calls.free)(pending) };
                return check(status).map(|()| self.infos[number].len);
            }
            self.progress();
        }
    }

    /// Closes the endpoint once all is sent (`ucp_ep_close_nbx`), and ends the worker and the context.
    pub fn leave(&mut self) {
        if !self.endpoint.is_null() {
            // SAFETY: the endpoint lives, and nothing uses it after this.
            self.pending[0] = unsafe { (self.calls.close)(self.endpoint, &self.plain) };
            let _ = self.finish(0);
        }
        // SAFETY: nothing of the library is called after this: the process ends.
        unsafe {
            (self.calls.destroy)(self.worker);
            (self.calls.cleanup)(self.context);
        }
    }
}

impl Messages for Rank {
    /// `ucp_tag_send_nbx` to the other rank, and progress until its buffer is free.
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.start_send(bytes, 0);
        self.finish(0)
    }

    /// `ucp_tag_recv_nbx`, and progress until a message is there; how many bytes came.
    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.start_receive(room, 0);
        self.finish_receive(0)
    }

    #[inline]
    fn exchange_at_work(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        self.start_receive(room, 0);
        self.start_send(bytes, 1);
        let under_way = UnderWay;
        work();
        under_way.over();
        // Both end before the buffers may go.
        let sent = self.finish(1);
        let came = self.finish_receive(0);
        sent.and(came)
    }
}

impl Windows for Rank {
    /// Sends so many [`parts`] of a region at once, then waits for all.
    #[inline]
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        let messages = messages.min(WINDOW);
        parts(region, len, messages).enumerate().for_each(|(number, bytes)| self.start_send(bytes, number));
        let mut outcome = Ok(());
        for number in 0..messages {
            outcome = self.finish(number).and(outcome);
        }
        outcome
    }

    /// Receives a message into each of these rooms of `len` bytes, all of them posted before the first is waited for.
    /// How many bytes came.
    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        let messages = messages.min(WINDOW);
        if len.checked_mul(messages).is_none_or(|bytes| bytes > rooms.len()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let rooms = rooms.chunks_exact_mut(len.max(1)).take(messages);
        rooms.enumerate().for_each(|(number, room)| self.start_receive(room, number));
        let mut outcome = Ok(0);
        for number in 0..messages {
            let one = self.finish_receive(number);
            outcome = outcome.and_then(|came| Ok(came + one?));
        }
        outcome
    }
}

#[cold]
fn without_request() -> io::Error {
    io::Error::other("a message came without a request, and thus without its length")
}

fn failed(call: &'static str, why: io::Error) -> Error {
    Error::new(call, "the library", why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_is_no_ucx_has_no_rank() {
        let math = Library::open(Path::new("libm.so.6")).unwrap();
        let error = Rank::open(&math).err().unwrap();
        assert_eq!((error.call, error.object.as_str()), ("dlsym", "ucp_worker_get_address"));
    }

    #[test]
    fn an_early_message_comes_with_its_length() {
        let mut rank = Rank::open(&Library::open(Path::new("libucp.so.0")).unwrap()).unwrap();
        let own = rank.address().unwrap();
        rank.connect(&own).unwrap();
        for len in [1, 100, 5, 0] {
            rank.send(&FIRST.repeat(20)[..len]).unwrap();
            (0..1000).for_each(|_| rank.progress());
            assert_eq!(rank.receive(&mut [0; 100]).unwrap(), len);
        }
        rank.leave();
    }
}
