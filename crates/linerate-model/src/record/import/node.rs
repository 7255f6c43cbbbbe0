//! JSON by names: what was asked for is marked, so that the rest can be told.

use super::row::sound;
use super::{Draft, Read, refuse};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The most arrays and objects: each takes far more memory than the two bytes that may stand for it.
const MOST_CONTAINERS: usize = 1 << 18;

/// A document. It is not deeper than serde_json reads, which is 128 levels.
pub(super) struct Document {
    root: Value,
    used: RefCell<BTreeSet<String>>,
}

/// A value in it, with its place: `intervals[].sum`.
pub(super) struct Node<'d> {
    value: &'d Value,
    place: String,
    used: &'d RefCell<BTreeSet<String>>,
}

impl Document {
    /// Reads a text.
    pub fn read(text: &str) -> Read<Document> {
        let hint =
            "give the whole file of one run, and nothing else; a run that was stopped leaves half of one";
        if text.bytes().filter(|byte| b"[{".contains(byte)).count() > MOST_CONTAINERS {
            return refuse(format!("it has more than {MOST_CONTAINERS} arrays and objects"), hint);
        }
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(root) => Ok(Document { root, used: RefCell::default() }),
            Err(error) => refuse(format!("it is no JSON: {error}"), hint),
        }
    }

    pub fn root(&self) -> Node<'_> {
        Node { value: &self.root, place: String::new(), used: &self.used }
    }

    /// Tells a draft what nobody asked for.
    pub fn unread(&self, draft: &mut Draft) {
        let mut rest = vec![(String::new(), &self.root)];
        let used = self.used.borrow();
        while let Some((place, value)) = rest.pop() {
            match value {
                Value::Object(map) => {
                    rest.extend(map.iter().rev().map(|(key, value)| (below(&place, key), value)));
                }
                Value::Array(values) => {
                    rest.extend(values.iter().rev().map(|value| (format!("{place}[]"), value)));
                }
                _ if used.contains(&place) => (),
                Value::String(text) => draft.unread(place, text),
                other => draft.unread(place, &other.to_string()),
            }
        }
    }
}

fn below(place: &str, key: &str) -> String {
    if place.is_empty() { key.into() } else { format!("{place}.{key}") }
}

impl<'d> Node<'d> {
    /// Where it stands.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What is below it with a name; none where nothing is, or null.
    pub fn at(&self, key: &str) -> Option<Node<'d>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Node { value, place: below(&self.place, key), used: self.used })
    }

    /// The values of an array below it.
    pub fn items(&self, key: &str) -> Vec<Node<'d>> {
        let array = self.value.get(key).and_then(Value::as_array);
        let place = format!("{}[]", below(&self.place, key));
        let node = |value| Node { value, place: place.clone(), used: self.used };
        array.into_iter().flatten().map(node).collect()
    }

    fn mark(&self) {
        self.used.borrow_mut().insert(self.place.clone());
    }

    /// The number below it; what is there and no number refuses the file.
    pub fn number(&self, key: &str) -> Read<Option<f64>> {
        let Some(node) = self.at(key) else { return Ok(None) };
        node.mark();
        match node.value.as_f64() {
            Some(value) => sound(value, &node.place).map(Some),
            None => refuse(format!("{} is no number", node.place), "the file is damaged, or of another tool"),
        }
    }

    /// The whole number below it.
    pub fn whole(&self, key: &str) -> Read<Option<u64>> {
        let Some(value) = self.number(key)? else { return Ok(None) };
        super::row::whole(value, &below(&self.place, key)).map(Some)
    }

    /// The text below it.
    pub fn text(&self, key: &str) -> Option<String> {
        let node = self.at(key)?;
        let text = node.value.as_str()?.to_owned();
        node.mark();
        Some(text)
    }

    /// Whether what is below it is true, or a number that is not 0.
    pub fn flag(&self, key: &str) -> Option<bool> {
        let node = self.at(key)?;
        let flag = node.value.as_bool().or(node.value.as_f64().map(|number| number != 0.0))?;
        node.mark();
        Some(flag)
    }
}
