//! UCX: a worker at each end, tagged messages, and what the library says of its lanes.

use super::Native;
use super::endpoint::{About, Connect, Endpoint, RankRequest, serve};
use crate::Result;
use crate::pattern::Passing;
use crate::transport::foreign::library::Found;
use linerate_sys::library::Library;
use linerate_sys::ucx::Rank;
use std::sync::OnceLock;

static ALL: OnceLock<Vec<Found>> = OnceLock::new();

/// The instance for the table.
pub const UCX: Native = Native { name: "ucx", serve: serve::<Rank>, all: &ALL };

impl Passing for Rank {}

impl Endpoint for Rank {
    fn open(library: &Library, _: &RankRequest) -> Result<Self> {
        Ok(Rank::open(library)?)
    }

    fn address(&mut self) -> Result<Vec<u8>> {
        Ok(Rank::address(self)?)
    }

    fn meet(&mut self, connect: &Connect) -> Result<About> {
        self.connect(&connect.address)?;
        self.check(connect.first)?;
        Ok(about(&Rank::about(self)))
    }

    fn leave(&mut self) {
        Rank::leave(self);
    }
}

/// What `ucp_ep_print_info` says, of which no other version is held to a form: what is not found is not told.
fn about(said: &str) -> About {
    let lanes: Vec<&str> = said.lines().filter_map(lane).collect();
    let mut transports: Vec<&str> = lanes.iter().filter_map(|lane| Some(lane.split_once('/')?.0)).collect();
    transports.dedup();
    let way = if lanes.is_empty() { "lanes that it does not tell".into() } else { lanes.join(" and ") };
    let transports = (!lanes.is_empty()).then(|| ("ucx.transports".into(), transports.join(",")));
    let limit = said.lines().find_map(eager_limit).map(|limit| ("ucx.eager-limit".into(), limit.into()));
    About { way, granted: transports.into_iter().chain(limit).collect() }
}

/// `lane[0]:  3:sysv/memory.0 md[2] -> md[2]/sysv/sysdev[255] am am_bw#0`: the transport and its device.
fn lane(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['#', ' ']).strip_prefix("lane[")?;
    let (_, resource) = rest.split_once("]:")?;
    let (_, name) = resource.split_whitespace().next()?.split_once(':')?;
    // The number of the path behind the device, which may be a VLAN's.
    Some(name.rsplit_once('.').map_or(name, |(name, _)| name))
}

/// `tag_send: 0..<egr/short>..93..<egr/bcopy>..8256..<rndv>..(inf)`: the size from which it asks first.
fn eager_limit(line: &str) -> Option<&str> {
    let said = line.trim_start_matches(['#', ' ']).strip_prefix("tag_send:")?;
    let (below, _) = said.split_once("..<rndv>")?;
    let limit = below.rsplit("..").next()?.trim();
    limit.bytes().all(|byte| byte.is_ascii_digit()).then_some(limit).filter(|limit| !limit.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "#
# UCP endpoint
#
#               peer: <no debug data>
#                 lane[0]:  3:sysv/memory.0 md[2]           -> md[2]/sysv/sysdev[255] am am_bw#0
#                 lane[1]:  5:tcp/eth0.7.0 md[4]            -> md[4]/cma/sysdev[255] rma_bw#0
#
#                tag_send: 0..<egr/short>..93..<egr/bcopy>..8256..<rndv>..(inf)
#            tag_send_nbr: 0..<egr/short>..93..<egr/bcopy>..262144..<rndv>..(inf)
";

    #[test]
    fn lanes_and_the_threshold_are_read() {
        let read = about(SAID);
        assert_eq!(read.way, "sysv/memory and tcp/eth0.7");
        let granted = [("ucx.transports", "sysv,tcp"), ("ucx.eager-limit", "8256")];
        assert_eq!(read.granted, granted.map(|(knob, value)| (knob.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_is_said_otherwise_is_not_told() {
        for said in ["", "lane[", "# lane[0]: x", "# tag_send: 0..<egr>..(inf)", "tag_send: ..<rndv>"] {
            assert!(about(said).granted.is_empty(), "{said}");
        }
    }
}
