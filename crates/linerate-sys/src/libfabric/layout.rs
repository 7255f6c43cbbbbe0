//! How libfabric's structures lie in memory: rdma/fabric.h, fi_domain.h, fi_endpoint.h, fi_eq.h, fi_tagged.h of
//! libfabric 1.17.0, x86-64 and others of 64 bits.
//!
//! The offsets were told by a program that gcc made of the headers. The library makes the large structures itself, and
//! those of its operations say how long they are: what is not here is left alone.

use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

/// Any object of the library.
pub type Fid = *mut c_void;

/// `struct fi_info`: what a provider offers. Made and freed by the library.
#[repr(C)]
pub struct Info {
    next: *mut Info,
    pub caps: u64,
    pub mode: u64,
    pub address_format: u32,
    src_address_len: usize,
    dest_address_len: usize,
    src_address: *mut c_void,
    dest_address: *mut c_void,
    handle: Fid,
    pub transmit: *mut Order,
    pub receive: *mut Order,
    pub endpoint: *mut c_int,
    pub domain: *mut DomainOffer,
    pub fabric: *mut FabricOffer,
}

/// The beginning of `struct fi_tx_attr`, and but for the last field of `struct fi_rx_attr`.
#[repr(C)]
pub struct Order {
    caps: u64,
    mode: u64,
    op_flags: u64,
    pub message_order: u64,
    completion_order: u64,
    pub inject_bytes: usize,
}

/// The beginning of `struct fi_domain_attr`.
#[repr(C)]
pub struct DomainOffer {
    domain: Fid,
    pub name: *mut c_char,
    pub threading: c_int,
    pub control_progress: c_int,
    pub data_progress: c_int,
    pub resource_management: c_int,
    pub av_type: c_int,
    pub mr_mode: c_int,
}

/// `struct fi_fabric_attr`.
#[repr(C)]
pub struct FabricOffer {
    fabric: Fid,
    name: *mut c_char,
    pub provider: *mut c_char,
    provider_version: u32,
}

/// `struct fi_cq_attr`.
#[repr(C)]
#[derive(Default)]
pub struct QueueRequest {
    size: usize,
    flags: u64,
    format: c_int,
    wait_object: c_int,
    signaling_vector: c_int,
    wait_condition: c_int,
    wait_set: usize,
}

impl QueueRequest {
    /// One of so many completions, in this form.
    pub fn new(size: usize, format: c_int) -> Self {
        QueueRequest { size, format, ..QueueRequest::default() }
    }
}

/// `struct fi_av_attr`.
#[repr(C)]
#[derive(Default)]
pub struct AddressesRequest {
    kind: c_int,
    context_bits: c_int,
    count: usize,
    endpoints: usize,
    name: usize,
    map: usize,
    flags: u64,
}

impl AddressesRequest {
    /// Room for one, of this kind.
    pub fn of_one(kind: c_int) -> Self {
        AddressesRequest { kind, count: 1, ..AddressesRequest::default() }
    }
}

/// `struct fi_cq_tagged_entry`: what is done.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Done {
    /// The operation's own context.
    pub context: usize,
    flags: u64,
    pub len: usize,
    buffer: usize,
    data: u64,
    pub tag: u64,
}

/// `struct fi_cq_err_entry`: what failed.
#[repr(C)]
#[derive(Default)]
pub struct Failed {
    pub context: usize,
    flags: u64,
    len: usize,
    buffer: usize,
    data: u64,
    tag: u64,
    overlong: usize,
    pub error: c_int,
    provider_error: c_int,
    error_data: usize,
    error_data_size: usize,
}

/// The beginning of any object, `struct fid`, and the operations of its kind behind it.
#[repr(C)]
pub struct Object<O> {
    class: usize,
    context: *mut c_void,
    pub basic: *const Basic,
    pub operations: *const O,
}

/// The beginning of `struct fi_ops`.
#[repr(C)]
pub struct Basic {
    size: usize,
    pub close: unsafe extern "C" fn(Fid) -> c_int,
    pub bind: unsafe extern "C" fn(Fid, Fid, u64) -> c_int,
    pub control: unsafe extern "C" fn(Fid, c_int, *mut c_void) -> c_int,
}

/// Opens one object in another by what is asked for.
pub type Open<A> = unsafe extern "C" fn(Fid, *mut A, *mut Fid, *mut c_void) -> c_int;

/// The beginning of `struct fi_ops_fabric`.
#[repr(C)]
pub struct OfFabric {
    size: usize,
    pub domain: Open<Info>,
}

/// The beginning of `struct fi_ops_domain`.
#[repr(C)]
pub struct OfDomain {
    size: usize,
    pub addresses: Open<AddressesRequest>,
    pub queue: Open<QueueRequest>,
    pub endpoint: Open<Info>,
}

/// The beginning of `struct fi_ops_av`.
#[repr(C)]
pub struct OfAddresses {
    size: usize,
    pub insert: unsafe extern "C" fn(Fid, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int,
}

/// The beginning of `struct fi_ops_cq`.
#[repr(C)]
pub struct OfQueue {
    size: usize,
    pub read: unsafe extern "C" fn(Fid, *mut Done, usize) -> isize,
    read_from: usize,
    pub read_error: unsafe extern "C" fn(Fid, *mut Failed, u64) -> isize,
}

/// `struct fid_ep`, from its operations on.
#[repr(C)]
pub struct Endpoint {
    class: usize,
    context: *mut c_void,
    pub basic: *const Basic,
    operations: usize,
    pub connections: *const OfConnections,
    messages: usize,
    rma: usize,
    pub tagged: *const OfTagged,
}

/// The beginning of `struct fi_ops_cm`.
#[repr(C)]
pub struct OfConnections {
    size: usize,
    set_name: usize,
    pub get_name: unsafe extern "C" fn(Fid, *mut c_void, *mut usize) -> c_int,
}

/// The beginning of `struct fi_ops_tagged`.
#[repr(C)]
pub struct OfTagged {
    size: usize,
    pub receive: Receive,
    receive_vector: usize,
    receive_message: usize,
    pub send: Send,
    send_vector: usize,
    send_message: usize,
    pub inject: Inject,
}

/// `fi_trecv`: room, its length, its descriptor, from whom, which tag, which bits of it do not count, the context.
pub type Receive =
    unsafe extern "C" fn(Fid, *mut c_void, usize, *mut c_void, u64, u64, u64, *mut c_void) -> isize;
/// `fi_tsend`: bytes, their length, their descriptor, to whom, the tag, the context.
pub type Send = unsafe extern "C" fn(Fid, *const c_void, usize, *mut c_void, u64, u64, *mut c_void) -> isize;
/// `fi_tinject`: bytes, their length, to whom, the tag.
pub type Inject = unsafe extern "C" fn(Fid, *const c_void, usize, u64, u64) -> isize;

const _: () = {
    assert!(offset_of!(Info, address_format) == 24 && offset_of!(Info, transmit) == 72);
    assert!(offset_of!(Info, endpoint) == 88 && offset_of!(Info, fabric) == 104);
    assert!(offset_of!(Order, message_order) == 24 && offset_of!(Order, inject_bytes) == 40);
    assert!(offset_of!(DomainOffer, threading) == 16 && offset_of!(DomainOffer, mr_mode) == 36);
    assert!(size_of::<FabricOffer>() == 32 && offset_of!(FabricOffer, provider) == 16);
    assert!(size_of::<QueueRequest>() == 40 && offset_of!(QueueRequest, format) == 16);
    assert!(size_of::<AddressesRequest>() == 48 && offset_of!(AddressesRequest, count) == 8);
    assert!(size_of::<Done>() == 48 && offset_of!(Done, tag) == 40);
    assert!(size_of::<Failed>() == 80 && offset_of!(Failed, error) == 56);
    assert!(offset_of!(Object<OfQueue>, basic) == 16 && offset_of!(Object<OfQueue>, operations) == 24);
    assert!(offset_of!(Basic, bind) == 16 && offset_of!(Basic, control) == 24);
    assert!(offset_of!(OfDomain, queue) == 16 && offset_of!(OfDomain, endpoint) == 24);
    assert!(offset_of!(OfQueue, read) == 8 && offset_of!(OfQueue, read_error) == 24);
    assert!(offset_of!(Endpoint, connections) == 32 && offset_of!(Endpoint, tagged) == 56);
    assert!(offset_of!(OfConnections, get_name) == 16);
    assert!(offset_of!(OfTagged, send) == 32 && offset_of!(OfTagged, inject) == 56);
};
