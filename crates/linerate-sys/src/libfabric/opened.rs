//! What a rank has open of libfabric: a fabric, a domain, a queue, addresses, an endpoint.

use super::layout::{
    AddressesRequest, Basic, Endpoint, Fid, Info, Object, OfAddresses, OfDomain, OfFabric, OfQueue,
    QueueRequest,
};
use super::{check, failed};
use crate::Result;
use crate::library::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::net::Ipv4Addr;
use std::ptr::{null, null_mut};

/// The API that is asked for, 1.11: from there on its structures are those of `layout`.
const API: u32 = 1 << 16 | 11;
/// `FI_TAGGED`: tagged messages, both ways.
const TAGGED: u64 = 1 << 3;
/// `FI_CONTEXT` and `FI_CONTEXT2`: each operation lends the provider room, and keeps it until it is done.
const LENDS_CONTEXT: u64 = 1 << 59 | 1 << 52;
/// `FI_SOURCE`: the address is this end's own.
const SOURCE: u64 = 1 << 57;
/// `FI_EP_RDM`: whole messages that arrive, without a connection of the caller's.
const RELIABLE: c_int = 3;
/// `FI_ORDER_SAS`: messages match in the order in which they were sent.
const SENDS_IN_ORDER: u64 = 1 << 8;
/// As an MPI asks for them: `FI_THREAD_DOMAIN`, calls of one thread at a time; `FI_PROGRESS_MANUAL`, nothing moves but
/// while one asks; `FI_RM_ENABLED`, queues do not run over; `FI_AV_TABLE`.
const ONE_THREAD: c_int = 3;
const MANUAL: c_int = 2;
const MANAGED: c_int = 2;
const TABLE: c_int = 2;
/// `FI_CQ_FORMAT_TAGGED`, and how many completions there is room for.
const WITH_TAG: c_int = 4;
const COMPLETIONS: usize = 1024;
/// `FI_TRANSMIT | FI_RECV`, and `FI_ENABLE`.
const BOTH_WAYS: u64 = 1 << 11 | 1 << 10;
const ENABLE: c_int = 6;
/// The longest name of an endpoint that is asked for.
const LONGEST_NAME: usize = 4 << 10;
/// `FI_ADDR_STR`: names are texts, of several lengths.
const TEXT: u32 = 9;

type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const Info, *mut *mut Info) -> c_int;
type Duplicate = unsafe extern "C" fn(*const Info) -> *mut Info;
type OpenFabric = unsafe extern "C" fn(*mut c_void, *mut Fid, *mut c_void) -> c_int;

/// All of it, enabled.
pub struct Opened {
    info: *mut Info,
    fabric: Fid,
    domain: Fid,
    pub queue: Fid,
    addresses: Fid,
    pub endpoint: *mut Endpoint,
    /// Up to so many bytes go without a completion.
    pub inject_bytes: usize,
}

impl Opened {
    /// The first provider that the library has for tagged messages; with this address of its own, where there is one.
    pub fn open(library: &Library, at: Option<Ipv4Addr>) -> Result<Opened> {
        let info = offer(library, at)?;
        // SAFETY: fabric.h gives the symbol this type.
        let open = unsafe { library.function::<OpenFabric>("fi_fabric")? };
        let mut fabric = null_mut();
        // SAFETY: the library made the offer, and writes to room for a pointer.
        let answer = unsafe { open((*info).fabric.cast(), &mut fabric, null_mut()) };
        check(answer).map_err(|why| failed("fi_fabric", why))?;
        // SAFETY: each object was opened by the library, and has the operations of its kind; what is asked for is as long as
        // the header has it.
        unsafe {
            let of_fabric = &*(*fabric.cast::<Object<OfFabric>>()).operations;
            let domain = open_object("fi_domain", |room| (of_fabric.domain)(fabric, info, room, null_mut()))?;
            let of_domain = &*(*domain.cast::<Object<OfDomain>>()).operations;
            let mut asked = QueueRequest::new(COMPLETIONS, WITH_TAG);
            let queue =
                open_object("fi_cq_open", |room| (of_domain.queue)(domain, &mut asked, room, null_mut()))?;
            let mut asked = AddressesRequest::of_one(TABLE);
            let addresses = open_object("fi_av_open", |room| {
                (of_domain.addresses)(domain, &mut asked, room, null_mut())
            })?;
            let endpoint =
                open_object("fi_endpoint", |room| (of_domain.endpoint)(domain, info, room, null_mut()))?;
            let basic = basic(endpoint);
            let bound = check((basic.bind)(endpoint, addresses, 0))
                .and_then(|()| check((basic.bind)(endpoint, queue, BOTH_WAYS)));
            bound.map_err(|why| failed("fi_ep_bind", why))?;
            check((basic.control)(endpoint, ENABLE, null_mut())).map_err(|why| failed("fi_enable", why))?;
            let inject_bytes = (*(*info).transmit).inject_bytes;
            let endpoint = endpoint.cast();
            Ok(Opened { info, fabric, domain, queue, addresses, endpoint, inject_bytes })
        }
    }

    /// The queue's operations.
    pub fn of_queue(&self) -> &OfQueue {
        // SAFETY: it was opened by the library, and is until this ends.
        unsafe { &*(*self.queue.cast::<Object<OfQueue>>()).operations }
    }

    /// The endpoint's name: `fi_getname`.
    pub fn name(&self) -> Result<Vec<u8>> {
        let mut name = vec![0; LONGEST_NAME];
        let mut len = name.len();
        // SAFETY: there is room for so many bytes, and the library says how many it has.
        let answer = unsafe {
            let get = (*(*self.endpoint).connections).get_name;
            get(self.endpoint.cast(), name.as_mut_ptr().cast(), &mut len)
        };
        check(answer).map_err(|why| failed("fi_getname", why))?;
        name.truncate(len);
        Ok(name)
    }

    /// Takes another endpoint's name; gives what it is called from now on: `fi_av_insert`.
    pub fn insert(&self, name: &[u8]) -> Result<u64> {
        // SAFETY: the library made the offer.
        let is_text = unsafe { (*self.info).address_format } == TEXT;
        let own = self.name()?.len();
        if name.is_empty() || name.len() >= LONGEST_NAME || (name.len() != own && !is_text) {
            let what = format!("{} B: names of this provider have {own}", name.len());
            return Err(failed("fi_av_insert", std::io::Error::other(what)));
        }
        // Whatever it reads of it is there, and ends.
        let mut room = vec![0; LONGEST_NAME];
        room[..name.len()].copy_from_slice(name);
        let mut called = 0;
        // SAFETY: the name is there for the time of the call, and there is room for one number.
        let inserted = unsafe {
            let of_addresses = &*(*self.addresses.cast::<Object<OfAddresses>>()).operations;
            (of_addresses.insert)(self.addresses, room.as_ptr().cast(), 1, &mut called, 0, null_mut())
        };
        match inserted {
            1 => Ok(called),
            0 => Err(failed("fi_av_insert", std::io::Error::other("it is no address"))),
            other => check(other).map(|()| called).map_err(|why| failed("fi_av_insert", why)),
        }
    }

    /// The provider and the domain's name, as the library tells them.
    pub fn about(&self) -> [String; 2] {
        // SAFETY: the library made the offer, with texts that stay as long as it does.
        let texts = unsafe { [(*(*self.info).fabric).provider, (*(*self.info).domain).name] };
        texts.map(|text| {
            if text.is_null() {
                return String::new();
            }
            // SAFETY: the same.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        })
    }

    /// Closes all of it; nothing of it is used after that.
    pub fn close(&mut self) {
        let endpoint: Fid = self.endpoint.cast();
        for object in [endpoint, self.addresses, self.queue, self.domain, self.fabric] {
            // SAFETY: it was opened by the library, and what was opened in it is closed.
            unsafe { (basic(object).close)(object) };
        }
    }
}

/// What every object can do.
///
/// # Safety
///
/// The library opened it.
unsafe fn basic<'o>(object: Fid) -> &'o Basic {
    // SAFETY: every object begins alike.
    unsafe { &*(*object.cast::<Object<()>>()).basic }
}

fn open_object(call: &'static str, open: impl FnOnce(*mut Fid) -> c_int) -> Result<Fid> {
    let mut object = null_mut();
    check(open(&mut object)).map_err(|why| failed(call, why))?;
    Ok(object)
}

/// What the library offers first of what is asked for: `fi_getinfo`.
fn offer(library: &Library, at: Option<Ipv4Addr>) -> Result<*mut Info> {
    // SAFETY: fabric.h gives each symbol this type.
    let (duplicate, get) =
        unsafe { (library.function::<Duplicate>("fi_dupinfo")?, library.function::<GetInfo>("fi_getinfo")?) };
    let address = at.and_then(|at| CString::new(at.to_string()).ok());
    let (node, flags) = address.as_ref().map_or((null(), 0), |address| (address.as_ptr(), SOURCE));
    let mut info = null_mut();
    // SAFETY: of nothing a whole request is made (`fi_allocinfo`), whose parts are the library's own and are there; the
    // address is there for the time of the call, and there is room for a pointer.
    let answer = unsafe {
        let asked = duplicate(null());
        if asked.is_null() {
            return Err(failed("fi_dupinfo", std::io::ErrorKind::OutOfMemory.into()));
        }
        (*asked).caps = TAGGED;
        (*asked).mode = LENDS_CONTEXT;
        *(*asked).endpoint = RELIABLE;
        (*(*asked).transmit).message_order = SENDS_IN_ORDER;
        (*(*asked).receive).message_order = SENDS_IN_ORDER;
        let domain = &mut *(*asked).domain;
        (domain.threading, domain.control_progress, domain.data_progress) = (ONE_THREAD, MANUAL, MANUAL);
        (domain.resource_management, domain.av_type) = (MANAGED, TABLE);
        get(API, node, null(), flags, asked, &mut info)
    };
    check(answer).map_err(|why| failed("fi_getinfo", why))?;
    Ok(info)
}
