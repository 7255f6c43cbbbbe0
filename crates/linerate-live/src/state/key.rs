//! Which hosts: a key that outlives a restart, and a hash of what makes old figures void.

use crate::record::HostFacts;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What a calibration rests on: when one of these changes it is stale.
const RESTS_ON: &[&str] = &[
    "kernel.release",
    "kernel.version",
    "cpu.model",
    "cpu.microcode",
    "cpu.online",
    "cpu.allowed",
    "cpu.mitigations",
    "clock.source",
];

/// Names the file: the kind of target, and the machines in their order.
pub fn key(kind: &str, hosts: &[HostFacts]) -> String {
    let machines: Vec<String> = hosts.iter().map(identity).collect();
    format!("{kind}-{}", hash(&machines.join("\n")))
}

/// The machine: by its own identity, which outlives a restart, or by its kernel's.
pub fn identity(host: &HostFacts) -> String {
    let own = host.environment.host.get("host.identity").and_then(Value::as_str);
    own.unwrap_or(&host.machine).to_owned()
}

/// Changes when the kernel, the CPUs or the clock do.
pub fn facts_hash(host: &HostFacts) -> String {
    let fact = |name: &&str| host.environment.host.get(*name).unwrap_or(&Value::Null).to_string();
    hash(&RESTS_ON.iter().map(fact).collect::<Vec<_>>().join("\n"))
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
