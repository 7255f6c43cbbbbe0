//! A topology as its links, and the way of each pair of hosts over them.

use super::description::MOST_HOPS;
use super::links::Coalescing;
use super::network::Network;
use super::pair::{MOST_HOSTS, host_name};
use super::shape::Shape;
use super::switching::Switching;
use super::topology::Topology;
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
    /// How the hosts' adapters hold what comes to them.
    #[serde(default)]
    pub coalescing: Coalescing,
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
    /// The links and routes: those of the file, or a line of switches between two hosts, or a star with one
    /// in the middle for more. Rate and queue are each link's own; delay, loss and the like are of a pair of
    /// hosts, and come once, at the last link between them. A pair with a rate of its own has it there too, or
    /// at its only link.
    pub fn wiring(&self, name_of: impl Fn(usize) -> String) -> Wiring {
        let names: Vec<String> = (0..self.hosts.min(MOST_HOSTS) as usize).map(name_of).collect();
        let mut wiring = match &self.network {
            Some(network) => Wiring::of_file(network, &names),
            None => self.of_keys(&names),
        };
        wiring.coalescing = self.coalescing;
        for (from, to) in wiring.pairs() {
            let ends = [from, to].map(|host| host_name(host as u32));
            let shape = self.shape_between(&ends[0], &ends[1]);
            let mut last = self.faulty(shape.without_line(), &ends[0], &ends[1], to == 0);
            if self.has_own_line(shape) {
                let line = shape.of_line(self.round_trip_ns());
                (last.rate, last.queue_bytes) = (line.rate, line.queue_bytes);
            }
            let pair = wiring.add(format!("{}-{}", names[from], names[to]), last, Switching::default());
            wiring.routes[from * names.len() + to].push(pair);
        }
        wiring
    }

    /// Whether the last link between two hosts has a rate: where it is their only one, or its rate is not that
    /// of the links before it.
    fn has_own_line(&self, shape: &Shape) -> bool {
        let line = |shape: &Shape| (shape.rate, shape.queue_bytes);
        !self.has_links_before() || self.network.is_some() || line(shape) != line(&self.shape)
    }

    fn of_keys(&self, names: &[String]) -> Wiring {
        let hops = self.switches().min(MOST_HOPS) as usize;
        let mut wiring = Wiring::new(names.len());
        let line = self.shape.of_line(self.round_trip_ns());
        let mut add = |name: String, line: &Shape| wiring.add(name, line.clone(), self.switching);
        let node = |host: usize, at: usize| if at == 0 { names[host].clone() } else { at.to_string() };
        // A host's own link to the switch may have a rate of its own.
        let own = |host: usize, sends: bool| {
            let shape = Shape { rate: self.port_rate(&host_name(host as u32), sends), ..self.shape.clone() };
            shape.of_line(self.round_trip_ns())
        };
        let line_at = |host: usize, at: usize| if at == 0 { own(host, true) } else { line.clone() };
        let up: Vec<Vec<usize>> = (0..names.len())
            .map(|host| {
                let link = |at: usize| (format!("{}-{}", node(host, at), at + 1), line_at(host, at));
                (0..hops).map(link).map(|(name, line)| add(name, &line)).collect()
            })
            .collect();
        let down: Vec<usize> = match hops {
            0 => Vec::new(),
            _ => (0..)
                .zip(names)
                .map(|(host, name)| add(format!("{hops}-{name}"), &own(host, false)))
                .collect(),
        };
        for (from, to) in wiring.pairs() {
            wiring.routes[from * names.len() + to] = up[from].iter().chain(down.get(to)).copied().collect();
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
    fn new(hosts: usize) -> Wiring {
        let routes = vec![Vec::new(); hosts * hosts];
        Wiring { hosts, links: Vec::new(), routes, coalescing: Coalescing::default() }
    }

    fn of_file(network: &Network, names: &[String]) -> Wiring {
        let mut wiring = Wiring { routes: network.routes(names.len()), ..Wiring::new(names.len()) };
        for link in &network.links {
            let name = format!("{}-{}", link.from, link.to);
            wiring.add(name, link.shape.clone(), network.switching(&link.to));
        }
        for (place, round_trip_ns) in wiring.round_trips_ns().into_iter().enumerate() {
            let shape = &mut wiring.links[place].shape;
            shape.queue_bytes = shape.queue_over(round_trip_ns);
        }
        wiring
    }

    /// The longest delay there and back of those who use each link.
    fn round_trips_ns(&self) -> Vec<f64> {
        let delay = |from, to| -> f64 {
            self.route(from, to).iter().map(|link| self.links[*link].shape.delay_ns).sum()
        };
        let mut longest = vec![0.0f64; self.links.len()];
        for (from, to) in self.pairs() {
            let round_trip_ns = delay(from, to) + delay(to, from);
            self.route(from, to).iter().for_each(|link| longest[*link] = longest[*link].max(round_trip_ns));
        }
        longest
    }

    fn add(&mut self, name: String, shape: Shape, switching: Switching) -> usize {
        self.links.push(WireLink { name, shape, switching });
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
    use crate::plan::TargetError;

    fn read(text: &str) -> Result<Topology, TargetError> {
        Topology::read(text, &|name| Err(TargetError { what: name.into(), hint: String::new() }))
    }

    fn serialisations(text: &str, from: usize, to: usize) -> usize {
        let topology = read(text).unwrap();
        let wiring = topology.wiring(|host| host.to_string());
        wiring.route(from, to).iter().filter(|link| wiring.links[**link].shape.rate.is_some()).count()
    }

    #[test]
    fn serialisations_are_one_more_than_switches() {
        for hops in [0, 1, 3] {
            assert_eq!(serialisations(&format!("rate=1Gb/s,hops={hops}"), 0, 1), hops + 1);
        }
        assert_eq!(serialisations("rate=1Gb/s", 1, 0), 1);
        assert_eq!(serialisations("hosts=5,rate=1Gb/s", 4, 2), 2);
    }

    /// What packets meet from one host to another: the rates in their order, and the last link's shape.
    fn met(text: &str, from: usize, to: usize) -> (Vec<f64>, Shape) {
        let wiring = read(text).unwrap().wiring(|host| host.to_string());
        let links: Vec<&WireLink> = wiring.route(from, to).iter().map(|link| &wiring.links[*link]).collect();
        let rates = links.iter().filter_map(|link| Some(link.shape.rate?.0)).collect();
        (rates, links.last().unwrap().shape.clone())
    }

    #[test]
    fn a_pair_has_its_own_rate_loss_and_delay() {
        let text = "rate=1Gb/s,a-b.rate=10Mb/s,b-a.loss=1%,b-a.delay=20ms";
        let (rates, last) = met(text, 0, 1);
        assert_eq!((rates, last.without_line()), (vec![1e7], Shape::default()));
        let (rates, last) = met(text, 1, 0);
        assert_eq!((rates, last.loss, last.delay_ns), (vec![1e9], 0.01, 2e7));
        let text = "hosts=3,rate=1Gb/s,a-b.rate=10Mb/s,a-b.queue=64KiB,loss=2%";
        let (rates, last) = met(text, 0, 1);
        assert_eq!((rates, last.queue_bytes, last.loss), (vec![1e9, 1e9, 1e7], Some(65536), 0.02));
        assert_eq!(met(text, 1, 0).0, [1e9, 1e9]);
        assert_eq!(met(text, 0, 2).0, [1e9, 1e9]);
    }

    #[test]
    fn a_file_is_wired_as_it_says() {
        let text = "hosts = 3\n[[switch]]\nname = \"s1\"\nmode = \"cut-through\"\n\
                    [[link]]\nbetween = [\"a\", \"s1\"]\nrate = \"1Gb/s\"\n\
                    [[link]]\nbetween = [\"s1\", \"b\"]\ndelay = \"100ms\"\nrate = \"100Mb/s\"\n\
                    [[link]]\nbetween = [\"s1\", \"c\"]\nloss = \"1%\"\n";
        let topology = Topology::read("x.toml,a-c.rate=10Mb/s", &|_| Ok(text.into())).unwrap();
        let wiring = topology.wiring(|host| host_name(host as u32));
        let names = |from, to| -> Vec<&str> {
            wiring.route(from, to).iter().map(|link| wiring.links[*link].name.as_str()).collect()
        };
        assert_eq!(names(0, 1), ["a-s1", "s1-b", "a-b"]);
        assert_eq!(names(2, 0), ["c-s1", "s1-a", "c-a"]);
        let link = |name: &str| wiring.links.iter().find(|link| link.name == name).unwrap();
        assert_eq!(link("a-s1").switching, Switching::CutThrough);
        assert_eq!(link("s1-b").switching, Switching::StoreAndForward);
        // A round trip to b and back is under way on a's link too, and none such to c.
        assert_eq!(link("a-s1").shape.queue_bytes, Some(25_000_000));
        assert_eq!(link("a-c").shape.rate.map(|rate| rate.0), Some(1e7));
        assert!(link("c-a").shape.is_plain());
    }

    #[test]
    fn queues_last_the_longest_round_trip() {
        let queue = |text: &str| {
            let wiring = read(text).unwrap().wiring(|host| host.to_string());
            wiring.links[wiring.route(0, 1)[0]].shape.queue_bytes
        };
        assert_eq!(queue("rate=1Gb/s,delay=100ms"), Some(25_000_000));
        assert_eq!(queue("hosts=3,rate=1Gb/s,c-b.delay=200ms"), Some(25_000_000));
        assert_eq!(queue("rate=1Gb/s,queue=1MiB,a-b.queue=2MiB"), Some(2 << 20));
    }

    #[test]
    fn a_fault_comes_once_in_its_direction() {
        let delays = |text: &str, from: usize, to: usize| {
            let wiring = read(text).unwrap().wiring(|host| host_name(host as u32));
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
        let wiring = read("rate=1Gb/s,hops=1,fault=policer=100Mb/s,fault=mtu-black-hole").unwrap();
        let wiring = wiring.wiring(|host| host_name(host as u32));
        let last = &wiring.links[*wiring.route(0, 1).last().unwrap()].shape;
        assert_eq!(
            (last.policer.map(|rate| rate.0), last.black_hole_bytes, last.rate),
            (Some(1e8), Some(1400), None)
        );
    }

    #[test]
    fn delay_comes_once_between_each_pair() {
        let wiring = read("hosts=3,rate=1Gb/s,delay=5ms").unwrap().wiring(|host| host.to_string());
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
