//! RDMA: said to be absent or not yet carried. `rsocket(7)` of librdmacm over an RDMA device would be a stream
//! like the others; without a device none of it could be tried, so there is the probe only.

use crate::record::UnavailableTransport;
use crate::transport::{Offer, Pending, Spec, Transport};
use crate::{Error, Result};

/// The transport.
pub const RDMA: Rdma = Rdma;

/// Where the kernel lists RDMA devices.
const DEVICES: &str = "/sys/class/infiniband";

/// The transport's type.
pub struct Rdma;

impl Transport for Rdma {
    fn name(&self) -> &'static str {
        "rdma"
    }

    fn lacks(&self) -> Option<UnavailableTransport> {
        let devices = std::fs::read_dir(DEVICES).map_or(0, Iterator::count);
        let (why, hint) = match devices {
            0 => ("this host has no RDMA device", "soft RDMA: rdma link add rxe0 type rxe netdev eth0"),
            _ => ("this version does not drive RDMA devices", "ib_write_bw and rping measure them"),
        };
        Some(UnavailableTransport {
            transport: self.name().into(),
            why: format!("unavailable: {why}"),
            hint: hint.into(),
        })
    }

    fn offer(&'static self, _spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        let lack = self.lacks().unwrap_or_default();
        Err(Error::unavailable(lack.why, lack.hint))
    }
}
