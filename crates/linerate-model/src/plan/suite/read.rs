//! A value or a list of values.

use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "neither one value nor a list of them; hosts are called a, b and so on, in the order of the target"
)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

/// Reads `"x"` as `["x"]`.
pub fn one_or_more<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(match OneOrMore::deserialize(from)? {
        OneOrMore::One(one) => vec![one],
        OneOrMore::More(more) => more,
    })
}
