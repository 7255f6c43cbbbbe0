//! Queueing disciplines at the root of an interface: made and read.
//!
//! The crate that encodes the rest of route netlink knows neither tbf nor netem, so their options are
//! written here and in `netem`, byte by byte, as `include/uapi/linux/pkt_sched.h` lays them out.

use super::attribute::{TICK_NS, attribute};
use super::netem::{self, Netem};
use super::{ALL, Link, NEW, Netlink, ONE};
use crate::Result;
use netlink_packet_core::{DefaultNla, Nla, NlasIterator};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};

const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TC_LINKLAYER_ETHERNET: u8 = 1;

/// Where the fields of `struct tc_tbf_qopt` lie, and its size.
const RATE_AT: usize = 8;
const LIMIT_AT: usize = 24;
const BUFFER_AT: usize = 28;
const PARAMETERS: usize = 36;

/// A queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Qdisc {
    /// tbf: lets a rate pass, and a burst at the speed of the device.
    TokenBucket(TokenBucket),
    /// netem: delays, loses, repeats, and lets a rate pass.
    Netem(Netem),
    /// One that can only be named: `noqueue`, `fq_codel`.
    Other(String),
}

/// The number that [`Netlink::set_own_qdisc`] gives: what has it was put there by this program.
const OWN: u16 = 0x6c72;

/// Whose the queueing discipline at the root of an interface is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// The kernel's default, or none: it comes back by itself where another one is removed.
    Default,
    /// Put there by [`Netlink::set_own_qdisc`], of this kind.
    Own(String),
    /// Put there by somebody else, of this kind, with settings that nobody could put back.
    Others(String),
}

/// The settings of tbf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBucket {
    /// Bytes a second, the link's header included.
    pub bytes_per_s: u64,
    /// Bytes that pass at the speed of the device after a pause. What is read back comes from a time in
    /// ticks of 64 ns, and so is a little less than what was set.
    pub burst_bytes: u32,
    /// Bytes that may wait; more are dropped.
    pub limit_bytes: u32,
}

impl Netlink {
    /// Puts a queueing discipline at the root of an interface that has only its default.
    pub fn add_qdisc(&mut self, link: &Link, qdisc: &Qdisc) -> Result<()> {
        let (kind, options) = match qdisc {
            Qdisc::TokenBucket(bucket) => ("tbf", tbf_options(bucket)),
            Qdisc::Netem(netem) => ("netem", netem::options(netem)),
            Qdisc::Other(kind) => (kind.as_str(), Vec::new()),
        };
        let mut message = TcMessage::with_index(link.index.cast_signed());
        message.header.parent = TcHandle::ROOT;
        message.header.handle = TcHandle { major: 1, minor: 0 };
        message.attributes = vec![TcAttribute::Kind(kind.into())];
        if !options.is_empty() {
            message.attributes.push(TcAttribute::Other(DefaultNla::new(TCA_OPTIONS, options)));
        }
        let object = format!("{} {kind}", link.name);
        let message = RouteNetlinkMessage::NewQueueDiscipline(message);
        self.ask("RTM_NEWQDISC", &object, NEW, message).map(drop)
    }

    /// Puts one of this kind, as it is by itself, in the place of the default at the root of an interface, or of an own one.
    pub fn set_own_qdisc(&mut self, link: &Link, kind: &str) -> Result<()> {
        if self.root_qdisc(link)? != Root::Default {
            self.remove_qdisc(link)?;
        }
        let mut message = TcMessage::with_index(link.index.cast_signed());
        message.header.parent = TcHandle::ROOT;
        message.header.handle = TcHandle { major: OWN, minor: 0 };
        message.attributes = vec![TcAttribute::Kind(kind.into())];
        let object = format!("{} {kind}", link.name);
        let message = RouteNetlinkMessage::NewQueueDiscipline(message);
        self.ask("RTM_NEWQDISC", &object, NEW, message).map(drop)
    }

    /// Removes what is at the root of an interface: the kernel puts its default there.
    pub fn remove_qdisc(&mut self, link: &Link) -> Result<()> {
        let mut message = TcMessage::with_index(link.index.cast_signed());
        message.header.parent = TcHandle::ROOT;
        let message = RouteNetlinkMessage::DelQueueDiscipline(message);
        self.ask("RTM_DELQDISC", &link.name, ONE, message).map(drop)
    }

    /// Whose the queueing discipline at the root of an interface is.
    pub fn root_qdisc(&mut self, link: &Link) -> Result<Root> {
        let message = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let answer = self.ask("RTM_GETQDISC", &link.name, ALL, message)?;
        let found = answer.into_iter().find_map(|message| match message {
            RouteNetlinkMessage::NewQueueDiscipline(message) if is_root_of(&message, link) => Some(message),
            _ => None,
        });
        let Some(message) = found else { return Ok(Root::Default) };
        let kind = match parse_qdisc(&message) {
            Some(Qdisc::Other(kind)) => kind,
            Some(Qdisc::TokenBucket(_)) => "tbf".into(),
            Some(Qdisc::Netem(_)) => "netem".into(),
            None => String::new(),
        };
        Ok(match message.header.handle.major {
            0 => Root::Default,
            OWN => Root::Own(kind),
            _ => Root::Others(kind),
        })
    }

    /// The queueing discipline at the root of an interface; none for one that has no queue at all.
    pub fn qdisc(&mut self, link: &Link) -> Result<Option<Qdisc>> {
        let message = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let answer = self.ask("RTM_GETQDISC", &link.name, ALL, message)?;
        Ok(answer.into_iter().find_map(|message| match message {
            RouteNetlinkMessage::NewQueueDiscipline(message) if is_root_of(&message, link) => {
                parse_qdisc(&message)
            }
            _ => None,
        }))
    }
}

fn is_root_of(message: &TcMessage, link: &Link) -> bool {
    message.header.index == link.index.cast_signed() && message.header.parent == TcHandle::ROOT
}

fn parse_qdisc(message: &TcMessage) -> Option<Qdisc> {
    let kind = message.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Kind(kind) => Some(kind.clone()),
        _ => None,
    })?;
    let options = message.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Options(options) => options.first(),
        _ => None,
    });
    let options = options.map(|options| {
        let mut bytes = vec![0; options.value_len()];
        options.emit_value(&mut bytes);
        bytes
    });
    let known = match (kind.as_str(), options) {
        ("netem", Some(options)) => netem::parse_options(&options).map(Qdisc::Netem),
        ("tbf", Some(options)) => read_tbf(&options).map(Qdisc::TokenBucket),
        _ => None,
    };
    Some(known.unwrap_or(Qdisc::Other(kind)))
}

/// `struct tc_tbf_qopt` with the rate of a `struct tc_ratespec` inside, then what does not fit into it.
fn tbf_options(bucket: &TokenBucket) -> Vec<u8> {
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let ticks = u128::from(bucket.burst_bytes) * 1_000_000_000
        / u128::from(bucket.bytes_per_s.max(1))
        / u128::from(TICK_NS);
    let mut parameters = [0u8; PARAMETERS];
    parameters[1] = TC_LINKLAYER_ETHERNET;
    let mut put = |at: usize, value: u32| parameters[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    put(RATE_AT, narrow(bucket.bytes_per_s));
    put(LIMIT_AT, bucket.limit_bytes);
    put(BUFFER_AT, u32::try_from(ticks).unwrap_or(u32::MAX));

    let mut bytes = attribute(TCA_TBF_PARMS, &parameters);
    bytes.extend(attribute(TCA_TBF_BURST, &bucket.burst_bytes.to_ne_bytes()));
    if bucket.bytes_per_s > u64::from(u32::MAX) {
        bytes.extend(attribute(TCA_TBF_RATE64, &bucket.bytes_per_s.to_ne_bytes()));
    }
    bytes
}

fn read_tbf(options: &[u8]) -> Option<TokenBucket> {
    let (mut parameters, mut rate64) = (None, None);
    for attribute in NlasIterator::new(options).flatten() {
        let value = attribute.value();
        match attribute.kind() {
            TCA_TBF_PARMS => parameters = <[u8; PARAMETERS]>::try_from(value).ok(),
            TCA_TBF_RATE64 => rate64 = value.try_into().ok().map(u64::from_ne_bytes),
            _ => {}
        }
    }
    let parameters = parameters?;
    let field = |at: usize| parameters[at..at + 4].try_into().ok().map(u32::from_ne_bytes);
    let bytes_per_s = rate64.unwrap_or(u64::from(field(RATE_AT)?));
    let burst = u128::from(field(BUFFER_AT)?) * u128::from(TICK_NS) * u128::from(bytes_per_s) / 1_000_000_000;
    Some(TokenBucket {
        bytes_per_s,
        burst_bytes: u32::try_from(burst).unwrap_or(u32::MAX),
        limit_bytes: field(LIMIT_AT)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_bucket_survives_its_bytes() {
        for bytes_per_s in [125_000, 125_000_000, 50_000_000_000] {
            let bucket = TokenBucket { bytes_per_s, burst_bytes: 262_144, limit_bytes: 1 << 20 };
            let read = read_tbf(&tbf_options(&bucket)).unwrap();
            assert_eq!((read.bytes_per_s, read.limit_bytes), (bytes_per_s, 1 << 20));
            // One tick of the bucket's rate is lost at most.
            let tick = bytes_per_s * TICK_NS / 1_000_000_000 + 1;
            assert!(u64::from(read.burst_bytes.abs_diff(262_144)) <= tick, "{read:?}");
        }
    }
}
