//! libfabric: an endpoint of reliable datagrams at each end, tagged messages, and the provider that carries them.

use super::Native;
use super::endpoint::{About, Connect, Endpoint, RankRequest, serve};
use crate::Result;
use crate::pattern::Passing;
use crate::transport::foreign::library::Found;
use linerate_sys::libfabric::Rank;
use linerate_sys::library::Library;
use std::sync::OnceLock;

static ALL: OnceLock<Vec<Found>> = OnceLock::new();

/// The instance for the table.
pub const LIBFABRIC: Native = Native { name: "libfabric", serve: serve::<Rank>, all: &ALL };

impl Passing for Rank {}

impl Endpoint for Rank {
    fn open(library: &Library, asked: &RankRequest) -> Result<Self> {
        Ok(Rank::open(library, asked.at)?)
    }

    fn address(&mut self) -> Result<Vec<u8>> {
        Ok(Rank::address(self)?)
    }

    fn meet(&mut self, connect: &Connect) -> Result<About> {
        self.connect(&connect.address)?;
        self.check(connect.first)?;
        Ok(about(Rank::about(self)))
    }

    fn leave(&mut self) {
        Rank::leave(self);
    }
}

/// `tcp;ofi_rxm` is a core with a layer of messages above it; the core is what is asked for.
fn about([provider, domain]: [String; 2]) -> About {
    let core = provider.split(';').next().unwrap_or_default().to_owned();
    let granted = (!core.is_empty()).then(|| ("libfabric.provider".into(), core));
    About { way: format!("{provider} at {domain}"), granted: granted.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_granted_by_its_cores_name() {
        let read = about(["tcp;ofi_rxm", "eth0"].map(String::from));
        assert_eq!(read.way, "tcp;ofi_rxm at eth0");
        assert_eq!(read.granted, [("libfabric.provider".to_owned(), "tcp".to_owned())]);
        assert!(about(["", ""].map(String::from)).granted.is_empty());
    }
}
