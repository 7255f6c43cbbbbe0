//! Whether this host has the values that a run will ask of its knobs: each is tried on a socket, a pipe or a program of
//! its own, before anything is measured.

use super::foreign::mpi::MPI;
use super::foreign::native::{LIBFABRIC, Native, UCX};
use super::foreign::openssh;
use super::socket::{half, udp};
use crate::plan::Setting;
use crate::record::{Granted, KnobRefused};
use crate::unit::Bytes;
use crate::vocabulary::{Knob, KnobKind};
use crate::{Error, Result};
use linerate_sys::pipe::NewPipes;
use linerate_sys::{bound, link, probe, socket};
use std::net::{Ipv4Addr, UdpSocket};

/// Why a value is not to be had: what the host does about it, and what it has or what to try.
type Refusal = (String, String);

/// Tries one value. What cannot be tried here is not refused: its session tells.
type Try = fn(&str) -> Option<Refusal>;

/// Every knob whose values are tried.
const TRIES: &[(&str, Try)] = &[
    ("tcp.congestion-control", congestion_control),
    (SEND_BUFFER, |value| buffer(SEND_BUFFER, "net.core.wmem_max", value)),
    (RECEIVE_BUFFER, |value| buffer(RECEIVE_BUFFER, "net.core.rmem_max", value)),
    (half::SEND, |value| engine(half::SEND, value, &|engine| half::probe(half::SEND, engine))),
    (half::RECEIVE, |value| engine(half::RECEIVE, value, &|engine| half::probe(half::RECEIVE, engine))),
    (udp::ENGINE, |value| engine(udp::ENGINE, value, &udp::probe)),
    ("socket.interface", interface),
    ("pipe.capacity", pipe),
    (openssh::CIPHER, cipher),
    (MPI_IMPLEMENTATION, |name| MPI.lacks_named(name)),
    (MPI_PATH, |place| MPI.lacks_at(place)),
    (UCX_TRANSPORTS, |name| native(&UCX, UCX_TRANSPORTS, name)),
    (LIBFABRIC_PROVIDER, |name| native(&LIBFABRIC, LIBFABRIC_PROVIDER, name)),
];

const MPI_IMPLEMENTATION: &str = "mpi.implementation";
const MPI_PATH: &str = "mpi.path";
const UCX_TRANSPORTS: &str = "ucx.transports";
const LIBFABRIC_PROVIDER: &str = "libfabric.provider";
const SEND_BUFFER: &str = "socket.send-buffer";
const RECEIVE_BUFFER: &str = "socket.receive-buffer";

/// Those of these values that this host would not grant.
pub fn refused(settings: &[Setting]) -> Vec<KnobRefused> {
    let try_one = |setting: &Setting| {
        // The one that is asked for may be there.
        let is_elsewhere =
            setting.knob == MPI_IMPLEMENTATION && settings.iter().any(|it| it.knob == MPI_PATH);
        let (_, try_it) = TRIES.iter().find(|(knob, _)| *knob == setting.knob && !is_elsewhere)?;
        let (why, hint) = try_it(&setting.value)?;
        Some(KnobRefused { knob: setting.knob.clone(), value: setting.value.clone(), why, hint })
    };
    settings.iter().filter_map(try_one).collect()
}

fn congestion_control(name: &str) -> Option<Refusal> {
    let error = probe::congestion_control(name).err()?;
    let list = |which: &str| {
        let names = std::fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control"));
        names.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(", ")
    };
    Some(match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => {
            let hint = format!(
                "it lets this user have {}; for others: sysctl net.ipv4.tcp_allowed_congestion_control",
                list("allowed")
            );
            ("it lets only root have it".into(), hint)
        }
        _ => {
            let hint = format!("it has {}; modprobe tcp_{name} may bring it there", list("available"));
            ("its kernel has no such congestion control".into(), hint)
        }
    })
}

fn buffer(knob: &str, limit: &str, value: &str) -> Option<Refusal> {
    let asked = value.parse::<Bytes>().ok()?;
    let on = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    let size = Some(asked.0 as usize);
    let sends = knob == SEND_BUFFER;
    socket::set_buffers(&on, size.filter(|_| sends), size.filter(|_| !sends));
    let (send, receive) = socket::buffers(&on).ok()?;
    let got = if sends { send } else { receive };
    if is_granted(knob, value, got) {
        return None;
    }
    // The kernel doubles what it grants, and has a least size that it does not double.
    Some(match got as u64 / 2 < asked.0 {
        true => {
            let most = Bytes(got as u64 / 2);
            let hint = format!("take at most {most}, or there as root: sysctl {limit}={}", asked.0);
            (format!("its kernel grants at most {most}"), hint)
        }
        false => (format!("its kernel grants at least {}", Bytes(got as u64)), "take more".into()),
    })
}

fn is_granted(knob: &str, asked: &str, got: usize) -> bool {
    let granted = Granted { knob: knob.into(), asked: Some(asked.into()), granted: Some(got.to_string()) };
    granted.is_as_asked()
}

/// An engine, and where it is missing those that are there.
fn engine(knob: &str, name: &str, probe: &dyn Fn(&str) -> Result<()>) -> Option<Refusal> {
    // Any other failure is none of the engine's.
    let Err(Error::Unavailable { what, .. }) = probe(name) else { return None };
    let why = what.strip_prefix(&format!("{knob}={name} is not to be had here: ")).unwrap_or(&what);
    Some((format!("its kernel does not allow it: {why}"), format!("it has {}", there(knob, probe))))
}

/// The known values of a knob that are to be had.
fn there(knob: &str, probe: &dyn Fn(&str) -> Result<()>) -> String {
    let known = match Knob::named(knob).map(|knob| knob.kind) {
        Some(KnobKind::OneOf(names)) => names,
        _ => &[],
    };
    known.iter().copied().filter(|name| probe(name).is_ok()).collect::<Vec<_>>().join(", ")
}

/// What a message library carries messages by: its rank starts with it, or says why not.
fn native(library: &Native, knob: &str, name: &str) -> Option<Refusal> {
    carrier(knob, name, &|name| {
        library.starts_with(Setting { rung: None, knob: knob.into(), value: name.into() })
    })
}

fn carrier(knob: &str, name: &str, probe: &dyn Fn(&str) -> Result<()>) -> Option<Refusal> {
    let error = probe(name).err()?;
    Some((format!("its library does not start with it: {error}"), format!("it has {}", there(knob, probe))))
}

fn interface(name: &str) -> Option<Refusal> {
    let error = bound::udp_at((Ipv4Addr::UNSPECIFIED, 0).into(), Some(name)).err()?;
    if error.call != bound::BIND_TO_DEVICE {
        return None;
    }
    Some(match error.source.kind() {
        std::io::ErrorKind::PermissionDenied => {
            ("it lets nobody but root bind a socket to an interface".into(), "run as root there".into())
        }
        _ => {
            let names: Vec<String> =
                link::links().unwrap_or_default().into_iter().map(|link| link.name).collect();
            (
                "has no such interface".into(),
                format!("it has {}; both ends need one of this name", names.join(", ")),
            )
        }
    })
}

fn pipe(value: &str) -> Option<Refusal> {
    let asked = value.parse::<Bytes>().ok()?.0 as usize;
    let got = NewPipes::create(Some(asked)).ok()?.own().capacity().ok()?;
    // More than was asked is a whole number of pages.
    (got < asked).then(|| {
        let hint =
            format!("an ordinary user gets what fs.pipe-max-size says: sysctl fs.pipe-max-size={asked}");
        (format!("its kernel does not grant so much, and leaves {}", Bytes(got as u64)), hint)
    })
}

fn cipher(name: &str) -> Option<Refusal> {
    let there = openssh::ciphers()?;
    let is_there = there.contains(&name);
    (!is_there).then(|| ("its ssh has no such cipher".into(), format!("it has {}", there.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::KNOBS;
    use std::collections::BTreeSet;

    fn refusal_of(text: &str) -> Option<KnobRefused> {
        refused(&[text.parse().unwrap()]).pop()
    }

    #[test]
    fn every_knob_that_is_to_be_tried_has_its_try() {
        let tried: BTreeSet<&str> = TRIES.iter().map(|(knob, _)| *knob).collect();
        let wanted: BTreeSet<&str> =
            KNOBS.iter().filter(|knob| knob.had.is_tried(false)).map(|knob| knob.name).collect();
        assert_eq!(tried, wanted);
    }

    #[test]
    fn what_every_host_has_is_not_refused() {
        for text in [
            "tcp.congestion-control=reno",
            "socket.send-buffer=64KiB",
            "socket.receive-buffer=64KiB",
            "tcp.send-engine=write",
            "tcp.receive-engine=wait-all",
            "udp.engine=plain",
            "socket.interface=lo",
            "pipe.capacity=64KiB",
            "tcp.mss=536",
        ] {
            assert_eq!(refusal_of(text), None, "{text}");
        }
    }

    #[test]
    fn what_no_host_has_is_refused_with_what_there_is() {
        for (text, why, hint) in [
            ("tcp.congestion-control=none-such", "no such congestion control", "reno"),
            ("socket.send-buffer=1GiB", "at most", "net.core.wmem_max=1073741824"),
            ("socket.receive-buffer=1GiB", "at most", "net.core.rmem_max=1073741824"),
            ("socket.receive-buffer=1", "at least", "more"),
            ("socket.interface=none-such", "no such interface", "lo"),
        ] {
            let refused = refusal_of(text).unwrap_or_else(|| panic!("{text} is granted"));
            assert!(refused.why.contains(why) && refused.hint.contains(hint), "{text}: {refused:?}");
        }
    }

    #[test]
    fn an_engine_that_the_kernel_refuses_is_told_beside_the_others() {
        let probe = |name: &str| match name {
            "plain" => Ok(()),
            "batch" => Err(Error::usage("none of the engine's", "")),
            name => Err(Error::unavailable(format!("udp.engine={name} is not to be had here: ENOSYS"), "")),
        };
        let (why, hint) = engine("udp.engine", "segments", &probe).unwrap();
        assert_eq!((&*why, &*hint), ("its kernel does not allow it: ENOSYS", "it has plain"));
        assert_eq!(
            (engine("udp.engine", "plain", &probe), engine("udp.engine", "batch", &probe)),
            (None, None)
        );
    }

    #[test]
    fn a_carrier_that_a_library_has_not_is_told_with_those_it_has() {
        let probe = |name: &str| match name {
            "tcp" | "udp" => Ok(()),
            name => Err(Error::unavailable(format!("no provider {name}"), "")),
        };
        let (why, hint) = carrier(LIBFABRIC_PROVIDER, "shm", &probe).unwrap();
        assert_eq!(
            (&*why, &*hint),
            ("its library does not start with it: no provider shm", "it has tcp, udp")
        );
        assert_eq!(carrier(LIBFABRIC_PROVIDER, "udp", &probe), None);
    }
}
