//! One line of a file, as it was printed.

use serde::{Deserialize, Deserializer};
use std::ops::RangeInclusive;

/// A stated value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Row {
    /// The paper: `S002`.
    pub paper: String,
    /// The paper's hosts, by a letter; `other` for hosts that are not the paper's own.
    pub testbed: String,
    /// The network: adapter and link.
    pub network: String,
    /// What the value is of.
    pub layer: Layer,
    /// The tool, or the pattern.
    pub test: String,
    /// What was set, or which library.
    pub config: String,
    /// The largest packet of the link, in bytes, where it is said.
    pub mtu: Option<u64>,
    /// The size of a message or a file, where it is said.
    #[serde(rename = "size_bytes", deserialize_with = "size")]
    pub bytes: Option<Size>,
    /// What was measured, in the words of the file.
    pub metric: String,
    /// The value, where it is one number.
    pub value: Option<f64>,
    /// The lower end, where it is a range.
    #[serde(rename = "lo")]
    pub low: Option<f64>,
    /// The upper end, where it is a range.
    #[serde(rename = "hi")]
    pub high: Option<f64>,
    /// The unit of the value.
    pub unit: Unit,
    /// How exact the statement is.
    #[serde(rename = "qual")]
    pub qualifier: Qualifier,
    /// How the paper comes to it.
    pub kind: Kind,
    /// Where in the paper.
    #[serde(rename = "where", deserialize_with = "place")]
    pub place: String,
    /// What is doubtful or special about it.
    pub note: String,
}

/// A change of one setting, before and after, in the paper's own words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Change {
    /// The paper: `S002`.
    pub paper: String,
    /// What was changed.
    pub knob: String,
    /// From what to what.
    pub from_to: String,
    /// What was measured.
    pub metric: String,
    /// Its value before and after.
    pub before_after: String,
    /// What it gave.
    pub gain: String,
    /// Where in the paper.
    #[serde(rename = "where", deserialize_with = "place")]
    pub place: String,
}

/// What a value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Buses, adapters and switches.
    #[serde(rename = "hw")]
    Hardware,
    /// The memory of a host.
    #[serde(rename = "mem")]
    Memory,
    /// Raw packets.
    Link,
    /// An interface of the adapter that goes past the kernel.
    Native,
    /// TCP.
    Tcp,
    /// Sockets over an offload engine.
    #[serde(rename = "sockets-offload")]
    Offload,
    /// A message-passing library, MPI among them.
    #[serde(alias = "mpl")]
    Mpi,
    /// A message-passing library as a plain application calls it.
    #[serde(rename = "mpi-app")]
    MessageApplication,
    /// An application.
    #[serde(rename = "app")]
    Application,
    /// TCP through a packet filter.
    #[serde(rename = "firewall")]
    Filter,
    /// The load of the CPUs.
    Cpu,
    /// The tools that measured.
    Tool,
    /// What it costs to buy.
    Price,
}

impl Layer {
    /// What it is called in a report.
    pub fn title(self) -> &'static str {
        const TITLES: &[(Layer, &str)] = &[
            (Layer::Hardware, "hardware"),
            (Layer::Memory, "memory"),
            (Layer::Link, "raw packets"),
            (Layer::Native, "past the kernel"),
            (Layer::Tcp, "TCP"),
            (Layer::Offload, "offloaded sockets"),
            (Layer::Mpi, "message library"),
            (Layer::MessageApplication, "message library, plain calls"),
            (Layer::Application, "application"),
            (Layer::Filter, "packet filter"),
            (Layer::Cpu, "CPU"),
            (Layer::Tool, "tool"),
            (Layer::Price, "price"),
        ];
        TITLES.iter().find(|(layer, _)| *layer == self).map_or("", |(_, title)| title)
    }
}

/// A unit: its name in the file, and how many bits a second, nanoseconds or bytes it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// As printed in the file: `Gb/s`.
    pub name: &'static str,
    /// What it is a multiple of.
    pub of: Quantity,
    /// How many of these.
    pub factor: f64,
}

/// What a unit is a multiple of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bits a second.
    Rate,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// Something that has no axis of ours.
    Other,
}

const fn unit(name: &'static str, of: Quantity, factor: f64) -> Unit {
    Unit { name, of, factor }
}

/// Every unit of the file.
const UNITS: &[Unit] = &[
    unit("Gb/s", Quantity::Rate, 1e9),
    unit("Mb/s", Quantity::Rate, 1e6),
    unit("GB/s", Quantity::Rate, 8e9),
    unit("ms", Quantity::Time, 1e6),
    unit("us", Quantity::Time, 1e3),
    unit("B", Quantity::Size, 1.0),
    unit("kB", Quantity::Size, 1e3),
    unit("MB", Quantity::Size, 1e6),
    unit("1", Quantity::Other, 1.0),
    unit("%", Quantity::Other, 1.0),
    unit("x", Quantity::Other, 1.0),
    unit("1/s", Quantity::Other, 1.0),
    unit("pkt/s", Quantity::Other, 1.0),
    unit("segments", Quantity::Other, 1.0),
    unit("m*b/s", Quantity::Other, 1.0),
    unit("km", Quantity::Other, 1.0),
    unit("USD", Quantity::Other, 1.0),
];

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Unit, D::Error> {
        let name = String::deserialize(from)?;
        let found = UNITS.iter().find(|unit| unit.name == name);
        let unknown = || serde::de::Error::custom(format!("`{name}` is no unit of the table"));
        found.copied().ok_or_else(unknown)
    }
}

/// How exact a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Qualifier {
    /// A printed number.
    #[serde(rename = "=")]
    Exactly,
    /// A round number, or one read from a plot.
    #[serde(rename = "~")]
    About,
    /// A little less.
    #[serde(rename = "<~")]
    Nearly,
    /// Less.
    #[serde(rename = "<")]
    Below,
    /// More.
    #[serde(rename = ">")]
    Above,
    /// This or less: "up to".
    #[serde(rename = "<=")]
    UpTo,
}

impl Qualifier {
    /// The sign before the number.
    pub fn sign(self) -> &'static str {
        match self {
            Qualifier::Exactly => "",
            Qualifier::About => "~",
            Qualifier::Nearly => "≲",
            Qualifier::Below => "<",
            Qualifier::Above => ">",
            Qualifier::UpTo => "≤",
        }
    }
}

/// How a paper comes to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It measured it.
    Measured,
    /// It quotes earlier work or a vendor.
    Prior,
    /// It follows from what the hardware is specified for.
    Theoretical,
    /// It was set.
    Setting,
    /// It follows from other values.
    Derived,
    /// It was expected of the future.
    Projected,
    /// It was paid.
    Price,
}

/// The size of a message or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Size {
    /// Messages of these sizes, in bytes.
    Messages(RangeInclusive<u64>),
    /// A file, as printed: `100 MB`.
    File(String),
}

fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Size>, D::Error> {
    let text = String::deserialize(from)?;
    let number = |text: &str| text.parse::<u64>().map_err(serde::de::Error::custom);
    let messages = |range| Some(Size::Messages(range));
    Ok(if text.is_empty() {
        None
    } else if let Some(megabytes) = text.strip_suffix("MB") {
        Some(Size::File(format!("{megabytes} MB")))
    } else if let Some(most) = text.strip_prefix("<=") {
        messages(1..=number(most)?)
    } else if let Some(beyond) = text.strip_prefix('<') {
        messages(1..=number(beyond)?.saturating_sub(1))
    } else if let Some(beyond) = text.strip_prefix('>') {
        messages(number(beyond)?.saturating_add(1)..=u64::MAX)
    } else {
        let exact = number(&text)?;
        messages(exact..=exact)
    })
}

/// `sec4.1 Fig1` as it is said: `section 4.1, Fig. 1`.
fn place<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let parts = text.split([',', ' ']).filter(|part| !part.is_empty());
    let said = |part: &str| {
        let forms = [("sec", "section "), ("Figs", "Figs. "), ("Fig", "Fig. "), ("Tables", "Tables ")];
        let forms = forms.iter().chain([&("Table", "Table "), &("note", "note ")]);
        let mut said = forms.filter_map(|(short, long)| Some(format!("{long}{}", part.strip_prefix(short)?)));
        said.next().unwrap_or_else(|| part.to_owned()).trim().to_owned()
    };
    Ok(parts.map(said).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    fn text(text: &str) -> StrDeserializer<'_, Error> {
        text.into_deserializer()
    }

    #[test]
    fn sizes_are_ranges_of_messages_or_a_file() {
        let messages = |range| Ok(Some(Size::Messages(range)));
        assert_eq!(size(text("")), Ok(None));
        assert_eq!(size(text("8192")), messages(8192..=8192));
        assert_eq!(size(text("<64")), messages(1..=63));
        assert_eq!(size(text("<=1500")), messages(1..=1500));
        assert_eq!(size(text(">4096")), messages(4097..=u64::MAX));
        assert_eq!(size(text("10MB")), Ok(Some(Size::File("10 MB".into()))));
        assert!(size(text("big")).is_err());
    }

    #[test]
    fn places_are_said_in_words() {
        assert_eq!(place(text("sec4.1 Fig1")), Ok("section 4.1, Fig. 1".into()));
        assert_eq!(place(text("sec3,Fig6,sec8")), Ok("section 3, Fig. 6, section 8".into()));
        assert_eq!(place(text("Table3")), Ok("Table 3".into()));
    }

    #[test]
    fn a_unit_that_is_not_in_the_table_is_refused() {
        assert!(Unit::deserialize(text("furlong")).is_err());
        assert_eq!(Unit::deserialize(text("GB/s")).map(|unit| unit.factor), Ok(8e9));
    }
}
