//! The engines among which the fastest one of a stream is looked for on a host: by the ladder and by the races.

/// One way to drive a stream's two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engine {
    /// Its name for a reader.
    pub name: &'static str,
    /// What is set for it.
    pub settings: &'static [&'static str],
}

const fn engine(name: &'static str, settings: &'static [&'static str]) -> Engine {
    Engine { name, settings }
}

/// Those that hand every byte to the receiver, for one flow: the first one is the plain calls.
///
/// An engine that ends unread is faster still, and no application can use it: it is raced, and is no row of the ladder.
pub const STREAM_ENGINES: &[Engine] = &[
    engine("plain calls", &["tcp.send-engine=write", "tcp.receive-engine=read"]),
    engine("reads of 1 MiB", &["stream.read-size=1MiB"]),
    engine("reads of 2 MiB", &["stream.read-size=2MiB"]),
    engine("write to coalescing", &["tcp.receive-engine=coalescing"]),
    engine("write to low-water", &["tcp.send-engine=write", "tcp.receive-engine=low-water"]),
    engine("sendfile", &["tcp.send-engine=sendfile"]),
    engine("sendfile, reads of 1 MiB", &["tcp.send-engine=sendfile", "stream.read-size=1MiB"]),
    engine("sendfile, reads of 2 MiB", &["tcp.send-engine=sendfile", "stream.read-size=2MiB"]),
    engine("sendfile to coalescing", &["tcp.send-engine=sendfile", "tcp.receive-engine=coalescing"]),
    engine("splice", &["tcp.send-engine=splice"]),
];

#[cfg(test)]
mod tests {
    use super::super::{Knob, RUNGS};
    use super::*;

    #[test]
    fn engines_are_settings_of_what_they_are_for() {
        for rung in RUNGS.iter().filter(|rung| rung.chooses_engine()) {
            assert!(rung.sibling && rung.flows == [1] && rung.below.is_some(), "{}", rung.id);
            for one in rung.engines {
                for (name, _) in one.settings.iter().map(|set| set.split_once('=').unwrap()) {
                    let knob = Knob::named(name).unwrap_or_else(|| panic!("{name}"));
                    let serves = knob.acts_on(rung.transport.name);
                    assert!(serves && knob.harmless.is_none(), "{}: {name}", one.name);
                }
            }
        }
    }

    #[test]
    fn no_engine_of_the_ladder_drops_bytes_unread() {
        let drops = |set: &&str| set.contains("discard") || set.contains("receive-engine=splice");
        assert!(STREAM_ENGINES.iter().all(|one| !one.settings.iter().any(drops)));
    }
}
