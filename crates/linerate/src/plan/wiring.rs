//! A topology as its links, and the way of each pair of hosts over them.

use super::pair::host_name;
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

impl Topology {
    /// The links and routes: a line of switches between two hosts, a star with one in the middle for more.
    /// Rate and queue are each link's own; delay, loss and the like are of a pair of hosts, and come once,
    /// at the last link between them. A pair with a rate of its own has it at that link too, or at its only one.
    pub fn wiring(&self, name_of: impl Fn(usize) -> String) -> Wiring {
        let hosts = self.hosts as usize;
        let mut wiring = Wiring { hosts, links: Vec::new(), routes: vec![Vec::new(); hosts * hosts] };
        let line = self.shape.of_line(self.round_trip_ns());
        let hops = self.switches() as usize;
        let names: Vec<String> = (0..hosts).map(name_of).collect();
        let up: Vec<Vec<usize>> = names.iter().map(|name| wiring.line(name, hops, &line, self)).collect();
        let down: Vec<Vec<usize>> = names
            .iter()
            .map(|name| (hops > 0).then(|| wiring.add(format!("{hops}-{name}"), &line, self)))
            .map(|link| link.into_iter().collect())
            .collect();
        for (from, to) in wiring.pairs() {
            let shape = self.shape_between(&host_name(from as u32), &host_name(to as u32));
            let own_line = shape.of_line(self.round_trip_ns());
            let mut last = shape.without_line();
            if hops == 0 {
                wiring.links[up[from][0]].shape = own_line;
            } else if own_line != line {
                (last.rate, last.queue_bytes) = (own_line.rate, own_line.queue_bytes);
            }
            let pair = wiring.add(format!("{}-{}", names[from], names[to]), &last, self);
            let route = up[from].iter().chain(&down[to]).copied().chain([pair]).collect();
            wiring.routes[from * hosts + to] = route;
        }
        wiring
    }

    /// The longest delay there and back between two of its hosts.
    fn round_trip_ns(&self) -> f64 {
        let delay = |from: &str, to: &str| self.shape_between(from, to).delay_ns;
        let pairs = self.pairs.iter().map(|pair| delay(&pair.from, &pair.to) + delay(&pair.to, &pair.from));
        pairs.fold(2.0 * self.shape.delay_ns, f64::max)
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

    /// Every two hosts, in both directions.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let all = (0..self.hosts).flat_map(|from| (0..self.hosts).map(move |to| (from, to)));
        all.filter(|(from, to)| from != to).collect()
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

    /// What packets meet from one host to another: the rates in their order, and the last link's shape.
    fn met(text: &str, from: usize, to: usize) -> (Vec<f64>, Shape) {
        let wiring = Topology::read(text).unwrap().wiring(|host| host.to_string());
        let links: Vec<&WireLink> = wiring.route(from, to).iter().map(|link| &wiring.links[*link]).collect();
        let rates = links.iter().filter_map(|link| Some(link.shape.rate?.0)).collect();
        (rates, links.last().unwrap().shape.clone())
    }

    #[test]
    fn a_pair_has_its_own_rate_loss_and_delay() {
        let text = "rate=1Gb/s,a-b.rate=10Mb/s,b-a.loss=1%,b-a.delay=20ms";
        let (rates, last) = met(text, 0, 1);
        assert_eq!((rates, last), (vec![1e7], Shape::default()));
        let (rates, last) = met(text, 1, 0);
        assert_eq!((rates, last.loss, last.delay_ns), (vec![1e9], 0.01, 2e7));
        let text = "hosts=3,rate=1Gb/s,a-b.rate=10Mb/s,a-b.queue=64KiB,loss=2%";
        let (rates, last) = met(text, 0, 1);
        assert_eq!((rates, last.queue_bytes, last.loss), (vec![1e9, 1e9, 1e7], Some(65536), 0.02));
        assert_eq!(met(text, 1, 0).0, [1e9, 1e9]);
        assert_eq!(met(text, 0, 2).0, [1e9, 1e9]);
    }

    #[test]
    fn queues_last_the_longest_round_trip() {
        let queue = |text: &str| {
            let wiring = Topology::read(text).unwrap().wiring(|host| host.to_string());
            wiring.links[wiring.route(0, 1)[0]].shape.queue_bytes
        };
        assert_eq!(queue("rate=1Gb/s,delay=100ms"), Some(25_000_000));
        assert_eq!(queue("hosts=3,rate=1Gb/s,c-b.delay=200ms"), Some(25_000_000));
        assert_eq!(queue("rate=1Gb/s,queue=1MiB,a-b.queue=2MiB"), Some(2 << 20));
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
