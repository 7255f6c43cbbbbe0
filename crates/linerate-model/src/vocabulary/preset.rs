//! Networks that a lab can be like, by name: `lab:metro`.

/// A network that a lab can be like.
#[derive(Debug)]
pub struct Preset {
    /// Its name, as in `lab:metro`.
    pub name: &'static str,
    /// What it stands for, as one would write it after `lab:`.
    pub keys: &'static str,
    /// One line.
    pub about: &'static str,
    /// Where its numbers come from.
    pub source: &'static str,
}

/// Every preset. Delays are one way.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "lan",
        keys: "rate=1Gb/s,hops=1,delay=5us",
        about: "two hosts on one switch of 1 Gb/s that stores and forwards",
        source: "IEEE 802.3 for the rate; 5 µs for adapters, cables and the switch's own time are general \
                 knowledge",
    },
    Preset {
        name: "metro",
        keys: "mtu=9000,rate=10Gb/s,hops=2,delay=100us",
        about: "a path of 10 Gb/s across a town, with a switch at each end and a round trip of 0.2 ms",
        source: "Cope et al. 2007 (S004), sections 4.1 and 5.3: 10 Gb/s with an MTU of 9000 between the Force10 S50 of \
                 CU and the E1200 of NCAR. The delay is what their table 5 and section 5.5 leave: a round trip of \
                 460 to 485 µs, of which the packet filter takes more than 250 µs and the hosts about 26 µs",
    },
    Preset {
        name: "wan",
        keys: "mtu=9000,rate=2.396Gb/s,delay=90ms",
        about: "the path of the Internet2 land speed record of 2003 from Sunnyvale to Geneva: 10 037 km, OC-48, a \
                round trip of 180 ms",
        source: "Hurwitz & Feng 2003 (S002), section 8: 2.38 Gb/s over 10 037 km; Hurwitz & Feng 2005 (S000), \
                 section 2: an OC-48, saturated. Not in these texts but general knowledge: the payload of an OC-48c, \
                 2.396 Gb/s, the MTU of 9000 and the round trip of 180 ms",
    },
    Preset {
        name: "satellite",
        keys: "rate=25Mb/s,delay=270ms,loss=0.1%",
        about: "over a geostationary satellite: a round trip of 0.54 s, and some loss",
        source: "RFC 2488, section 2: 239.6 to 279.0 ms from ground to ground; rate and loss are general knowledge",
    },
];
