//! A topology as its links, and the way of each pair of hosts over them.

use super::shape::Shape;
use super::topology::{Switching, Topology};
use serde::{Deserialize, Serialize};

/// The links of a lab's wire, and the routes over them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wiring {
    /// How many hosts.
    pub hosts: usize,
    /// Every link, in one direction each.
    pub links: Vec<WireLink>,
    /// The links from a host to another, in their order: at `from * hosts + to`.
    pub routes: Vec<Vec<usize>>,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireLink {
    /// From where to where: `a-b`, `a-1`, `1-b`.
    pub name: String,
    /// What it does.
    pub shape: Shape,
    /// How what stands at its far end passes a packet on.
    pub switching: Switching,
}

/// The name of the host with this number: `a` to `z`, then `aa`, `ab` and so on.
pub fn host_name(number: usize) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        rest => host_name(rest - 1) + &letter.to_string(),
    }
}

impl Topology {
    /// The links and routes: a line of switches between two hosts, a star with one in the middle for more.
    /// Rate and queue are each link's own; delay, loss and the like are of a pair of hosts, and come once,
    /// at the last link between them, and so are the faults of the wire.
    pub fn wiring(&self, name_of: impl Fn(usize) -> String) -> Wiring {
        let hosts = self.hosts as usize;
        let hops = self.hops.unwrap_or(u32::from(hosts > 2)) as usize;
        let carry = Shape { rate: self.shape.rate, queue_bytes: self.shape.queue(), ..Shape::default() };
        let last = Shape { rate: None, queue_bytes: None, ..self.shape.clone() };
        let mut wiring = Wiring { hosts, links: Vec::new(), routes: vec![Vec::new(); hosts * hosts] };
        let up: Vec<Vec<usize>> =
            (0..hosts).map(|host| wiring.line(&name_of(host), hops, &carry, self)).collect();
        let down: Vec<Option<usize>> = (0..hosts)
            .map(|host| (hops > 0).then(|| wiring.add(format!("{hops}-{}", name_of(host)), &carry, self)))
            .collect();
        for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))) {
            if from != to {
                let ends = [name_of(from), name_of(to)];
                let shape = self.faulty(last.clone(), &ends[0], &ends[1], to == 0);
                let pair = wiring.add(ends.join("-"), &shape, self);
                let route = up[from].iter().copied().chain(down[to]).chain([pair]).collect();
                wiring.routes[from * hosts + to] = route;
            }
        }
        wiring
    }
}

impl Wiring {
    /// The links from a host to the last switch, or to the other host where there is none.
    fn line(&mut self, host: &str, hops: usize, shape: &Shape, topology: &Topology) -> Vec<usize> {
        let name = |at: usize| if at == 0 { host.to_owned() } else { at.to_string() };
        (0..hops.max(1)).map(|at| self.add(format!("{}-{}", name(at), at + 1), shape, topology)).collect()
    }

    fn add(&mut self, name: String, shape: &Shape, topology: &Topology) -> usize {
        self.links.push(WireLink { name, shape: shape.clone(), switching: topology.switching });
        self.links.len() - 1
    }

    /// The links from one host to another.
    pub fn route(&self, from: usize, to: usize) -> &[usize] {
        self.routes.get(from * self.hosts + to).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serialisations(text: &str, from: usize, to: usize) -> usize {
        let topology = Topology::read(text).unwrap();
        let wiring = topology.wiring(|host| host.to_string());
        wiring.route(from, to).iter().filter(|link| wiring.links[**link].shape.rate.is_some()).count()
    }

    #[test]
    fn a_packet_is_serialised_once_more_than_there_are_switches() {
        for hops in [0, 1, 3] {
            assert_eq!(serialisations(&format!("rate=1Gb/s,hops={hops}"), 0, 1), hops + 1);
        }
        assert_eq!(serialisations("rate=1Gb/s", 1, 0), 1);
        assert_eq!(serialisations("hosts=5,rate=1Gb/s", 4, 2), 2);
    }

    #[test]
    fn a_fault_is_of_its_direction_alone_and_comes_once() {
        let delays = |text: &str, from: usize, to: usize| {
            let wiring = Topology::read(text).unwrap().wiring(host_name);
            let of_route = wiring.route(from, to).iter().map(|link| wiring.links[*link].shape.delay_ns);
            of_route.filter(|delay| *delay > 0.0).collect::<Vec<f64>>()
        };
        for hosts in [2, 3] {
            let back = format!("hosts={hosts},hops=2,fault=asymmetric-delay=20ms");
            assert_eq!((delays(&back, 0, 1), delays(&back, 1, 0)), (vec![], vec![20e6]));
            let one = format!("hosts={hosts},delay=1ms,fault=a-b:delay=4ms");
            assert_eq!((delays(&one, 0, 1), delays(&one, 1, 0)), (vec![5e6], vec![1e6]));
            let both = format!("hosts={hosts},fault=delay=4ms");
            assert_eq!((delays(&both, 0, 1), delays(&both, 1, 0)), (vec![4e6], vec![4e6]));
        }
        let wiring = Topology::read("rate=1Gb/s,fault=policer=100Mb/s,fault=mtu-black-hole")
            .unwrap()
            .wiring(host_name);
        let last = &wiring.links[*wiring.route(0, 1).last().unwrap()].shape;
        assert_eq!(
            (last.policer.map(|rate| rate.0), last.black_hole_bytes, last.rate),
            (Some(1e8), Some(1400), None)
        );
    }

    #[test]
    fn names_go_on_behind_the_last_letter() {
        assert_eq!([0, 25, 26, 63].map(host_name), ["a", "z", "aa", "bl"]);
    }

    #[test]
    fn delay_comes_once_between_each_pair() {
        let wiring = Topology::read("hosts=3,rate=1Gb/s,delay=5ms").unwrap().wiring(|host| host.to_string());
        for (from, to) in [(0, 1), (2, 0), (1, 2)] {
            let delays: f64 =
                wiring.route(from, to).iter().map(|link| wiring.links[*link].shape.delay_ns).sum();
            assert_eq!(delays, 5e6);
        }
        assert!(wiring.route(1, 1).is_empty());
        // Two flows to one host share its link.
        assert_eq!(wiring.route(0, 2)[1], wiring.route(1, 2)[1]);
    }
}
