//! The published schemas are those of the program. `UPDATE_SCHEMA=1 cargo test --test integration schema::` writes them.

use linerate::record::Event;
use linerate::report::{
    CaptureReport, Notice, Report, RunningReport, RunningTraceReport, RunsReport, StreamReport, TraceReport,
};
use schemars::{Schema, generate::SchemaSettings};
use std::path::PathBuf;

fn check(name: &str, schema: Schema) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", name].iter().collect();
    let current = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == current,
        "docs/{name} is out of date: UPDATE_SCHEMA=1 cargo test --test integration schema::"
    );
}

#[test]
fn the_recording_schema_is_current() {
    check(
        "recording.schema.json",
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Event>(),
    );
}

#[test]
fn the_report_schema_is_current() {
    // What is written: null is written, not left out, so every key is required.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    check("report.schema.json", settings.into_generator().into_root_schema_for::<Report>());
}

#[test]
fn the_schema_of_a_comparison_is_current() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    check("compare.schema.json", settings.into_generator().into_root_schema_for::<RunsReport>());
}

#[test]
fn the_schema_of_a_trace_is_current() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    check("trace.schema.json", settings.into_generator().into_root_schema_for::<TraceReport<'static>>());
}

#[test]
fn the_schema_of_a_running_program_is_current() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    check("running.schema.json", settings.into_generator().into_root_schema_for::<RunningReport<'static>>());
}

#[test]
fn the_schema_of_a_running_trace_is_current() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let root = settings.into_generator().into_root_schema_for::<RunningTraceReport<'static>>();
    check("running-trace.schema.json", root);
}

#[test]
fn the_schema_of_a_traced_stream_is_current() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let root = settings.into_generator().into_root_schema_for::<StreamReport<'static>>();
    check("stream-trace.schema.json", root);
}

#[test]
fn the_schema_of_a_capture_is_current() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    check("capture.schema.json", settings.into_generator().into_root_schema_for::<CaptureReport<'static>>());
}

#[test]
fn the_schema_of_the_events_is_current() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    check("events.schema.json", settings.into_generator().into_root_schema_for::<Notice>());
}
