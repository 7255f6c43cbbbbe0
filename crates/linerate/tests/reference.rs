//! The reference pages are those of the tables. `UPDATE_REFERENCE=1 cargo test --test integration reference::` writes them.

use linerate::report::{Report, reference::pages};
use linerate::vocabulary::METRICS;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn docs() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs"].iter().collect()
}

#[test]
fn the_reference_is_current() {
    let folder = docs().join("reference");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::create_dir_all(&folder).unwrap();
        pages().iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }
    for (name, text) in pages() {
        let published = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(
            published == text,
            "docs/reference/{name} is out of date: UPDATE_REFERENCE=1 cargo test --test integration reference::"
        );
    }
    let written: BTreeSet<String> = pages().into_iter().map(|(name, _)| name).collect();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(written.contains(&name), "docs/reference/{name} belongs to no table: remove it");
    }
}

/// Every property that some part of the schema has.
fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                found.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| properties(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| properties(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_a_metric_is_in_the_json_form() {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Report>();
    let mut keys = BTreeSet::new();
    properties(schema.as_value(), &mut keys);
    for metric in METRICS {
        for key in metric.keys {
            assert!(keys.contains(*key), "{}: no key `{key}` in the schema", metric.name);
        }
    }
}

#[test]
fn every_page_that_a_metric_names_is_there() {
    for metric in METRICS {
        assert!(docs().join("method").join(metric.page).exists(), "{}: {}", metric.name, metric.page);
    }
}
