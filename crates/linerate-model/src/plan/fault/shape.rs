//! What a fault of the wire does to the shape of a direction.

use super::super::{Shape, Topology};
use super::Fault;
use crate::unit::{BitRate, Bytes, Nanoseconds};
use crate::vocabulary::FaultSite;

/// Packets in a row that a burst loses, on average.
const BURST: f64 = 8.0;

/// What one fault changes; none where its value is not of its kind.
type Change = fn(&mut Shape, &Fault) -> Option<()>;

/// Every fault of the wire.
const CHANGES: &[(&str, Change)] = &[
    ("loss", |shape, fault| {
        shape.loss = together(shape.loss, fault.share()?);
        Some(())
    }),
    ("burst-loss", |shape, fault| {
        shape.loss = together(shape.loss, fault.share()?);
        shape.burst = BURST;
        Some(())
    }),
    ("reorder", |shape, fault| {
        shape.reorder = together(shape.reorder, fault.share()?);
        Some(())
    }),
    ("duplicate", |shape, fault| {
        shape.duplicate = together(shape.duplicate, fault.share()?);
        Some(())
    }),
    ("jitter", |shape, fault| {
        shape.jitter_ns += time(fault)?;
        // Nothing arrives before it was sent.
        shape.delay_ns = shape.delay_ns.max(shape.jitter_ns);
        Some(())
    }),
    ("delay", longer),
    ("asymmetric-delay", longer),
    ("mtu-black-hole", |shape, fault| {
        shape.black_hole_bytes = u32::try_from(fault.parsed::<Bytes>()?.0).ok();
        Some(())
    }),
    ("policer", |shape, fault| {
        shape.policer = Some(fault.parsed::<BitRate>()?);
        Some(())
    }),
];

fn longer(shape: &mut Shape, fault: &Fault) -> Option<()> {
    shape.delay_ns += time(fault)?;
    Some(())
}

fn time(fault: &Fault) -> Option<f64> {
    Some(fault.parsed::<Nanoseconds>()?.0)
}

/// The share of packets that one of two causes meets which know nothing of each other.
fn together(one: f64, other: f64) -> f64 {
    one + other - one * other
}

impl Topology {
    /// Whether a fault of its own acts on the wire.
    pub fn has_faulty_wire(&self) -> bool {
        let on_wire = |fault: &Fault| {
            fault.entry().is_some_and(|entry| matches!(entry.site, FaultSite::Wire | FaultSite::WayBack))
        };
        self.faults.iter().any(on_wire)
    }

    /// What goes from one host to another, with the faults of that direction. Delays come first, so that
    /// jitter finds what there is.
    pub(in super::super) fn faulty(&self, shape: Shape, from: &str, to: &str, to_first: bool) -> Shape {
        let mut faults: Vec<&Fault> =
            self.faults.iter().filter(|fault| fault.is_on_way(from, to, to_first)).collect();
        faults.sort_by_key(|fault| fault.name == "jitter");
        let mut shape = shape;
        for fault in faults {
            if let Some((_, change)) = CHANGES.iter().find(|(name, _)| *name == fault.name) {
                change(&mut shape, fault);
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::FAULTS;

    #[test]
    fn only_faults_of_the_wire_change_a_shape() {
        for entry in FAULTS {
            let topology = Topology { faults: vec![entry.name.parse().unwrap()], ..Topology::default() };
            let on_wire = matches!(entry.site, FaultSite::Wire | FaultSite::WayBack);
            let changed = topology.faulty(Shape::default(), "b", "a", true) != Shape::default();
            assert_eq!((changed, topology.has_faulty_wire()), (on_wire, on_wire), "{}", entry.name);
        }
        assert!(CHANGES.iter().all(|(name, _)| FAULTS.iter().any(|entry| entry.name == *name)));
    }

    #[test]
    fn a_fault_comes_on_top_of_what_the_lab_does() {
        let topology = Topology::read(
            "delay=10ms,loss=1%,fault=jitter=40ms,fault=delay=5ms,fault=loss=2%",
            &|_| unreachable!(),
        )
        .unwrap();
        let shape = topology.faulty(topology.shape.clone(), "a", "b", false);
        assert_eq!((shape.delay_ns, shape.jitter_ns), (40e6, 40e6));
        assert!((shape.loss - 0.0298).abs() < 1e-12, "{}", shape.loss);
    }
}
