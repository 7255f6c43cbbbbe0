//! The ways over a network that a file describes: as few links as possible, and of equal ways the one whose
//! links come first in the file.

use super::network::Network;
use super::pair::host_name;
use super::switching::Switching;
use std::collections::{BTreeMap, VecDeque};

/// The links of a way, as places in the network's list.
pub(super) type Route = Vec<usize>;

/// A network's nodes: the hosts, then the switches, and the links that leave each, in the file's order.
struct Graph {
    hosts: usize,
    leaving: Vec<Vec<(usize, usize)>>,
}

impl Graph {
    fn new(network: &Network, hosts: usize) -> Graph {
        let names = (0..hosts).map(|host| host_name(host as u32));
        let names = names.chain(network.switches.iter().map(|switch| switch.name.clone()));
        let nodes: BTreeMap<String, usize> = names.zip(0..).collect();
        let mut leaving = vec![Vec::new(); hosts + network.switches.len()];
        for (place, link) in network.links.iter().enumerate() {
            if let (Some(from), Some(to)) = (nodes.get(&link.from), nodes.get(&link.to)) {
                leaving[*from].push((place, *to));
            }
        }
        Graph { hosts, leaving }
    }

    /// The routes from one host to every node, breadth first: empty where none leads.
    fn from(&self, host: usize) -> Vec<Route> {
        let mut routes = vec![Route::new(); self.leaving.len()];
        let mut next = VecDeque::from([host]);
        while let Some(node) = next.pop_front() {
            // A host passes nothing on.
            if node != host && node < self.hosts {
                continue;
            }
            for (link, to) in &self.leaving[node] {
                if *to != host && routes[*to].is_empty() {
                    routes[*to] = routes[node].iter().chain([link]).copied().collect();
                    next.push_back(*to);
                }
            }
        }
        routes.truncate(self.hosts);
        routes
    }
}

impl Network {
    /// The route from each host to each other one: at `from * hosts + to`, empty where none leads.
    pub(super) fn routes(&self, hosts: usize) -> Vec<Route> {
        let graph = Graph::new(self, hosts);
        (0..hosts).flat_map(|host| graph.from(host)).collect()
    }

    /// How what stands at the far end of a link passes a packet on: a host takes it whole.
    pub(super) fn switching(&self, to: &str) -> Switching {
        let switch = self.switches.iter().find(|switch| switch.name == to);
        switch.map_or(Switching::StoreAndForward, |switch| switch.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::network;

    fn routes(hosts: usize, links: &[[&str; 2]]) -> Vec<Route> {
        let switches = ["s", "t", "u"].map(|name| format!("[[switch]]\nname = \"{name}\"\n"));
        let link = |[from, to]: &[&str; 2]| format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        let links: String = links.iter().map(link).collect();
        let text = format!("hosts = {hosts}\n{}{links}", switches.concat());
        network::read("x.toml", &text).unwrap().network.routes(hosts)
    }

    #[test]
    fn the_first_of_the_shortest_routes_is_taken() {
        let long_and_short = [["a", "s"], ["s", "t"], ["t", "b"], ["s", "b"]];
        assert_eq!(routes(2, &long_and_short), [vec![], vec![0, 3], vec![], vec![]]);
        let equal = [["a", "t"], ["a", "s"], ["s", "b"], ["t", "b"]];
        assert_eq!(routes(2, &equal)[1], [0, 3]);
    }

    #[test]
    fn hosts_pass_nothing_on() {
        assert_eq!(routes(3, &[["a", "b"], ["b", "c"]])[2], Route::new());
        assert_eq!(routes(3, &[["a", "b"], ["b", "c"], ["a", "s"], ["s", "c"]])[2], [2, 3]);
    }
}
