//! One direction between two hosts that is not like the rest of its lab.

use super::shape::{KEYS, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most hosts of a lab.
pub const MOST_HOSTS: u32 = 64;

/// One direction between two hosts, and all that it does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// Where its packets come from.
    pub from: String,
    /// Where they go.
    pub to: String,
    /// What it does: the lab's own shape with what was said of this pair in its place.
    #[serde(flatten)]
    pub shape: Shape,
}

impl Pair {
    /// What it does otherwise than the lab, as it is written.
    pub(super) fn as_written<'p>(&'p self, lab: &'p Shape) -> impl Iterator<Item = String> + 'p {
        let differs = KEYS.iter().filter(|key| (key.show)(&self.shape) != (key.show)(lab));
        // What is not shown is nothing: no loss, no delay.
        let value = |shown: Option<String>| shown.unwrap_or_else(|| "0".into());
        differs.map(move |key| {
            format!("{}-{}.{}={}", self.from, self.to, key.name, value((key.show)(&self.shape)))
        })
    }
}

/// `a` to `z`, then `aa`, `ab` and so on.
pub fn host_name(number: u32) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        rest => host_name(rest - 1) + &letter.to_string(),
    }
}

/// The number of the host with this name.
pub fn host_number(name: &str) -> Option<u32> {
    (0..MOST_HOSTS).find(|number| host_name(*number) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_each_others() {
        for (number, name) in [(0, "a"), (25, "z"), (26, "aa"), (63, "bl")] {
            assert_eq!((host_name(number).as_str(), host_number(name)), (name, Some(number)));
        }
        for name in ["", "bm", "A", "a1"] {
            assert_eq!(host_number(name), None, "{name}");
        }
    }
}
