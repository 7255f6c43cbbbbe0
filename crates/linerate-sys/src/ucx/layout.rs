//! How UCX's structures lie in memory: ucp/api/ucp.h and ucp_def.h of UCX 1.13.1, x86-64 and others of 64 bits.
//!
//! The offsets were told by a program that gcc made of the header; each structure is as long as there.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::{null, null_mut};

/// `UCP_PARAM_FIELD_FEATURES`, and `UCP_FEATURE_TAG`.
const FEATURES: u64 = 1;
const TAGGED: u64 = 1;
/// `UCP_WORKER_PARAM_FIELD_THREAD_MODE`, and `UCS_THREAD_MODE_SERIALIZED`.
const THREAD_MODE: u64 = 1;
const SERIALIZED: u32 = 1;
/// `UCP_EP_PARAM_FIELD_REMOTE_ADDRESS`.
const ADDRESS: u64 = 1;
/// `UCP_OP_ATTR_FLAG_NO_IMM_CMPL`.
const REQUEST_ALWAYS: u32 = 1 << 16;

/// `ucp_params_t`.
#[repr(C)]
pub struct ContextRequest {
    mask: u64,
    features: u64,
    rest: [u64; 8],
}

impl ContextRequest {
    /// For tagged messages.
    pub fn tagged() -> Self {
        ContextRequest { mask: FEATURES, features: TAGGED, rest: [0; 8] }
    }
}

/// `ucp_worker_params_t`; a set of CPUs makes it long.
#[repr(C)]
pub struct WorkerRequest {
    mask: u64,
    thread_mode: u32,
    padding: u32,
    rest: [u64; 23],
}

impl WorkerRequest {
    /// For threads that call one after the other.
    pub fn serialized() -> Self {
        WorkerRequest { mask: THREAD_MODE, thread_mode: SERIALIZED, padding: 0, rest: [0; 23] }
    }
}

/// `ucp_ep_params_t`.
#[repr(C)]
pub struct EndpointRequest {
    mask: u64,
    address: *const u8,
    rest: [u64; 11],
}

impl EndpointRequest {
    /// To the worker with this address, which must stay until the endpoint is made.
    pub fn to(address: &[u8]) -> Self {
        EndpointRequest { mask: ADDRESS, address: address.as_ptr(), rest: [0; 11] }
    }
}

/// `ucp_tag_recv_info_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Info {
    pub tag: u64,
    pub len: usize,
}

/// `ucp_request_param_t`.
#[repr(C)]
pub struct OperationRequest {
    mask: u32,
    flags: u32,
    request: *mut c_void,
    callback: *const c_void,
    datatype: u64,
    user_data: *mut c_void,
    reply: *mut c_void,
    memory_type: u64,
    info: *mut Info,
    memory: *mut c_void,
}

impl OperationRequest {
    /// Of bytes.
    pub fn plain() -> Self {
        OperationRequest {
            mask: 0,
            flags: 0,
            request: null_mut(),
            callback: null(),
            datatype: 0,
            user_data: null_mut(),
            reply: null_mut(),
            memory_type: 0,
            info: null_mut(),
            memory: null_mut(),
        }
    }

    /// Of bytes, with a request also where the message is there already: only the request tells its length. (Before 1.16
    /// `UCP_OP_ATTR_FIELD_RECV_INFO` was taken, and nothing written.)
    pub fn receive() -> Self {
        OperationRequest { mask: REQUEST_ALWAYS, ..OperationRequest::plain() }
    }
}

const _: () = {
    assert!(size_of::<ContextRequest>() == 80 && offset_of!(ContextRequest, features) == 8);
    assert!(size_of::<WorkerRequest>() == 200 && offset_of!(WorkerRequest, thread_mode) == 8);
    assert!(size_of::<EndpointRequest>() == 104 && offset_of!(EndpointRequest, address) == 8);
    assert!(size_of::<OperationRequest>() == 72 && offset_of!(OperationRequest, info) == 56);
    assert!(size_of::<Info>() == 16 && offset_of!(Info, len) == 8);
};
