//! What the program's own wire says of itself around a step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a wire did since it was last asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireAudit {
    /// The time since.
    pub wall_ns: u64,
    /// CPU time of its thread in it.
    pub cpu_ns: u64,
    /// Frames that it handed on: super-packets, and pieces of them, count once.
    pub frames: u64,
    /// Packets that it handed on.
    pub packets: u64,
    /// How late frames were handed on; none where there were none.
    pub late_ns: Option<Late>,
    /// How often it interrupted a host: handed on what it had held for it; 0 where it holds nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupts: u64,
    /// Packets that later ones overtook.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reordered: u64,
    /// Frames that the kernel dropped before the wire read them, for lack of room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unread: u64,
    /// Packets that the kernel did not take from it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// Frames to nobody of the lab.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub strays: u64,
    /// What each link did that did anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkAudit>,
}

/// Quantiles of how late frames were handed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Late {
    /// The median.
    pub p50: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The worst.
    pub max: u64,
}

/// What one direction of a link did. Packets are those of the wire: segments, not super-packets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkAudit {
    /// From where to where: `a-b`.
    pub link: String,
    /// Packets that came to it.
    pub packets: u64,
    /// Their bytes, the Ethernet headers included.
    pub bytes: u64,
    /// Packets lost on the way, as asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Packets that found the queue full.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queue_drops: u64,
    /// Packets above the policer's rate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub policed: u64,
    /// Packets too large for a black hole.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub swallowed: u64,
    /// Packets sent twice.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicated: u64,
    /// Packets held back for others to overtake.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held: u64,
    /// The most bytes that waited.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub queue_bytes_max: u64,
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl WireAudit {
    /// A link's part in it.
    pub fn link(&self, name: &str) -> Option<&LinkAudit> {
        self.links.iter().find(|link| link.link == name)
    }
}
