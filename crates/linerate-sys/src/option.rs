//! Socket options that no library knows: setsockopt(2) and getsockopt(2) with plain numbers.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

/// Values that any bytes make, and whose bytes the kernel may read and write.
pub trait Plain: Copy + Default {}

impl Plain for libc::c_int {}
impl Plain for u64 {}
impl Plain for [u32; 3] {}

/// Sets an option.
pub fn set<T: Plain>(socket: &impl AsFd, level: i32, option: i32, value: T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: the value is plain numbers that live through the call, and its length is given.
    let answer = unsafe { libc::setsockopt(descriptor, level, option, (&raw const value).cast(), length) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads an option; what the kernel does not write of it stays 0.
pub fn get<T: Plain>(socket: &impl AsFd, level: i32, option: i32) -> io::Result<T> {
    let (mut value, mut length) = (T::default(), size_of::<T>() as libc::socklen_t);
    let descriptor = socket.as_fd().as_raw_fd();
    // SAFETY: value and length live through the call; the kernel writes at most so many bytes, and any bytes
    // make a value of this type.
    let answer =
        unsafe { libc::getsockopt(descriptor, level, option, (&raw mut value).cast(), &raw mut length) };
    if answer == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}
