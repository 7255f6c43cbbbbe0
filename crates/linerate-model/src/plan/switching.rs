//! How the switches of a lab pass packets on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a switch passes a packet on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// Once all of it has come.
    #[default]
    StoreAndForward,
    /// Once its header has come.
    CutThrough,
}

/// Bytes of a packet after which a cut-through switch begins to pass it on: the shortest frame.
pub const CUT_THROUGH_BYTES: f64 = 64.0;

pub(super) const SWITCHINGS: &[(&str, Switching)] =
    &[("store-and-forward", Switching::StoreAndForward), ("cut-through", Switching::CutThrough)];
