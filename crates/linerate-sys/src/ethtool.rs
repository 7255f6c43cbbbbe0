//! What a network driver tells about its interface: `SIOCETHTOOL`, in the caller's network namespace.
//!
//! Commands, layouts and names are those of `linux/uapi/ethtool.h`. Reading needs no privilege. What is
//! set are offloads, rings and the delay of interrupts, which needs `CAP_NET_ADMIN` over the namespace.

use crate::{Error, Result};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// The request of `linux/sockios.h`.
const SIOCETHTOOL: libc::Ioctl = 0x8946 as libc::Ioctl;

const GET_DRIVER: u32 = 0x03;
const GET_STRINGS: u32 = 0x1b;
const GET_STRING_COUNT: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const GET_LINK: u32 = 0x4c;

/// The string set with the names of features.
const FEATURES: u32 = 4;
/// More features than any kernel has; a larger answer is not believed.
const MOST_FEATURES: usize = 1024;
/// `SPEED_UNKNOWN`; zero is used by drivers that do not know either.
const NO_SPEED: [u32; 2] = [0, u32::MAX];

/// A command whose answer is a row of 32-bit numbers.
#[derive(Debug)]
pub struct Group {
    command: u32,
    words: usize,
    /// The numbers: name and place.
    fields: &'static [(&'static str, usize)],
}

/// `struct ethtool_coalesce`: how long a packet may wait for its interrupt.
pub const COALESCING: Group = Group {
    command: 0x0e,
    words: 23,
    fields: &[
        ("rx_usecs", 1),
        ("rx_frames", 2),
        ("rx_usecs_irq", 3),
        ("tx_usecs", 5),
        ("tx_frames", 6),
        ("tx_usecs_irq", 7),
        ("adaptive_rx", 10),
        ("adaptive_tx", 11),
    ],
};

/// `struct ethtool_ringparam`: descriptors of each queue.
pub const RINGS: Group =
    Group { command: 0x10, words: 9, fields: &[("rx_max", 1), ("tx_max", 4), ("rx", 5), ("tx", 8)] };

/// `struct ethtool_pauseparam`: flow control of the link.
pub const PAUSE: Group =
    Group { command: 0x12, words: 4, fields: &[("autonegotiation", 1), ("rx", 2), ("tx", 3)] };

/// `struct ethtool_channels`: queues in use.
pub const CHANNELS: Group = Group {
    command: 0x3c,
    words: 9,
    fields: &[
        ("rx_max", 1),
        ("tx_max", 2),
        ("combined_max", 4),
        ("rx", 5),
        ("tx", 6),
        ("other", 7),
        ("combined", 8),
    ],
};

/// `struct ethtool_fecparam`: forward error correction, as bits of `ETHTOOL_FEC_*`.
pub const ERROR_CORRECTION: Group =
    Group { command: 0x50, words: 4, fields: &[("active", 1), ("configured", 2)] };

/// Something that the stack does for packets of an interface, and the commands that read and set it.
#[derive(Debug)]
pub struct Offload {
    /// As ethtool(8) calls it.
    pub name: &'static str,
    get: u32,
    set: u32,
}

/// The offloads that make super-packets of packets, or take them: `ETHTOOL_GTSO` and so on.
pub const OFFLOADS: [Offload; 3] = [
    Offload { name: "tso", get: 0x1e, set: 0x1f },
    Offload { name: "gso", get: 0x23, set: 0x24 },
    Offload { name: "gro", get: 0x2b, set: 0x2c },
];

/// `struct ethtool_drvinfo`; what the driver leaves empty is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Driver {
    /// Its name.
    pub name: String,
    /// Its version; most drivers of the kernel's tree give the kernel's.
    pub version: String,
    /// The adapter's firmware.
    pub firmware: String,
    /// Where the adapter is: a PCI address.
    pub bus_address: String,
}

/// `struct ethtool_link_settings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkSettings {
    /// The speed, where it is known. A virtual interface may claim any.
    pub speed_mbps: Option<u32>,
    /// `full` or `half`, where it is known.
    pub duplex: Option<&'static str>,
    /// Whether speed and duplex were agreed with the peer.
    pub autonegotiation: bool,
}

/// `struct ifreq`: the name, and the address of the command.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    data: *mut u32,
    rest: [u8; 24 - size_of::<*mut u32>()],
}

/// Access to the drivers of one network namespace: that of the thread that opened it.
#[derive(Debug)]
pub struct Ethtool {
    socket: UdpSocket,
}

impl Ethtool {
    /// Opens the socket.
    pub fn open() -> Result<Ethtool> {
        let socket = UdpSocket::bind("0.0.0.0:0").map_err(|e| Error::new("bind", "UDP socket", e))?;
        Ok(Ethtool { socket })
    }

    /// The driver.
    pub fn driver(&self, interface: &str) -> Result<Driver> {
        let mut words = [0u32; 49];
        self.ask(interface, GET_DRIVER, &mut words)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let text = |at: usize| text(&bytes[at..at + 32]);
        Ok(Driver { name: text(4), version: text(36), firmware: text(68), bus_address: text(100) })
    }

    /// Speed and duplex.
    pub fn link(&self, interface: &str) -> Result<LinkSettings> {
        // The handshake of the header: offered no room for link modes, the kernel answers with their
        // negative size and nothing else; asked with that size, it answers in full.
        let mut words = [0u32; 12 + 3 * 127];
        self.ask(interface, GET_LINK, &mut words)?;
        let size = words[3].to_ne_bytes()[3] as i8;
        words = [0; 12 + 3 * 127];
        words[3] = u32::from_ne_bytes([0, 0, 0, size.saturating_neg() as u8]);
        self.ask(interface, GET_LINK, &mut words)?;
        let [duplex, _port, _address, autonegotiation] = words[2].to_ne_bytes();
        Ok(LinkSettings {
            speed_mbps: Some(words[1]).filter(|speed| !NO_SPEED.contains(speed)),
            duplex: ["half", "full"].get(usize::from(duplex)).copied(),
            autonegotiation: autonegotiation == 1,
        })
    }

    /// The numbers of one group, by name.
    pub fn numbers(&self, interface: &str, group: &Group) -> Result<Vec<(&'static str, u32)>> {
        let mut words = vec![0u32; group.words];
        self.ask(interface, group.command, &mut words)?;
        Ok(group.fields.iter().map(|(name, at)| (*name, words[*at])).collect())
    }

    /// Sets some numbers of a group, and leaves the others as they are: a command that sets follows the one that reads.
    pub fn set_numbers(&self, interface: &str, group: &Group, numbers: &[(&str, u32)]) -> Result<()> {
        let mut words = vec![0u32; group.words];
        self.ask(interface, group.command, &mut words)?;
        for (name, at) in group.fields {
            let wanted = numbers.iter().find(|(number, _)| number == name);
            words[*at] = wanted.map_or(words[*at], |(_, number)| *number);
        }
        self.ask(interface, group.command + 1, &mut words)
    }

    /// Every feature of the kernel's list, and whether it is on.
    pub fn features(&self, interface: &str) -> Result<Vec<(String, bool)>> {
        // cmd, reserved, a 64-bit mask of string sets, then one number for each set of the mask.
        let mut count = [0, 0, 0, 0, 0];
        let mask = (1u64 << FEATURES).to_ne_bytes();
        count[2] = u32::from_ne_bytes([mask[0], mask[1], mask[2], mask[3]]);
        count[3] = u32::from_ne_bytes([mask[4], mask[5], mask[6], mask[7]]);
        self.ask(interface, GET_STRING_COUNT, &mut count)?;
        let features = (count[4] as usize).min(MOST_FEATURES);

        let mut names = vec![0u32; 3 + features * 8];
        (names[1], names[2]) = (FEATURES, features as u32);
        self.ask(interface, GET_STRINGS, &mut names)?;

        let mut states = vec![0u32; 2 + features.div_ceil(32) * 4];
        states[1] = features.div_ceil(32) as u32;
        self.ask(interface, GET_FEATURES, &mut states)?;
        Ok((0..features).map(|at| (name_of(&names, at), is_active(&states, at))).collect())
    }

    /// Whether an offload is on.
    pub fn offload(&self, interface: &str, offload: &Offload) -> Result<bool> {
        let mut words = [0u32; 2];
        self.ask(interface, offload.get, &mut words)?;
        Ok(words[1] != 0)
    }

    /// Switches an offload on or off.
    pub fn set_offload(&self, interface: &str, offload: &Offload, on: bool) -> Result<()> {
        let mut words = [0, u32::from(on)];
        self.ask(interface, offload.set, &mut words)
    }

    /// Sends a command; the answer comes back in the same words.
    fn ask(&self, interface: &str, command: u32, words: &mut [u32]) -> Result<()> {
        let object = || interface.to_owned();
        if interface.len() >= libc::IFNAMSIZ {
            return Err(Error::new("ioctl(SIOCETHTOOL)", object(), std::io::ErrorKind::InvalidInput));
        }
        let mut request = Request { name: [0; _], data: words.as_mut_ptr(), rest: [0; _] };
        request.name[..interface.len()].copy_from_slice(interface.as_bytes());
        words[0] = command;
        // SAFETY: `request` has the layout of ifreq, and its pointer is to as many words as the command's
        // structure has (fixed by the command, or told to the kernel inside the structure); both live
        // through the call.
        let answer = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &mut request) };
        if answer < 0 { Err(Error::last("ioctl(SIOCETHTOOL)", object())) } else { Ok(()) }
    }
}

/// The name at `index` of `struct ethtool_gstrings`: 32 bytes each, after three words.
fn name_of(words: &[u32], index: usize) -> String {
    let words = words.iter().skip(3 + index * 8).take(8);
    text(&words.flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>())
}

/// The bit at `index` of the `active` words of `struct ethtool_gfeatures`: after two words, four a block.
fn is_active(words: &[u32], index: usize) -> bool {
    let active = words.get(2 + index / 32 * 4 + 2).copied().unwrap_or(0);
    active >> (index % 32) & 1 == 1
}

/// A C string in a field of fixed length.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_features_but_no_hardware() {
        let ethtool = Ethtool::open().unwrap();
        let features = ethtool.features("lo").unwrap();
        let gso = features.iter().find(|(name, _)| name == "tx-generic-segmentation");
        assert!(gso.is_some(), "{features:?}");
        assert!(features.contains(&("loopback".into(), true)), "{features:?}");
        assert!(ethtool.numbers("lo", &RINGS).is_err());
        assert!(ethtool.set_numbers("lo", &COALESCING, &[("rx_usecs", 50)]).is_err());
        assert!(ethtool.link("lo").is_err());
    }

    #[test]
    fn a_missing_interface_is_an_error_by_name() {
        let ethtool = Ethtool::open().unwrap();
        for name in ["none-such", "a-name-longer-than-an-interface-may-have"] {
            assert!(ethtool.driver(name).unwrap_err().to_string().contains(name));
        }
    }

    #[test]
    fn bits_are_found_in_their_block() {
        let mut words = vec![0u32; 2 + 2 * 4];
        words[2 + 4 + 2] = 1 << 3;
        let on: Vec<usize> = (0..64).filter(|index| is_active(&words, *index)).collect();
        assert_eq!(on, [35]);
        assert!(!is_active(&words, 4000));
    }
}
