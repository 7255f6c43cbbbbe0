//! All that can be read about a host without privilege, once, within a bounded size.

use super::fact::Facts;
use super::{host, interface, stack};
use crate::record::Environment;
use serde_json::Value;

/// The most bytes of JSON that an environment has.
pub const LARGEST: usize = 24 << 10;
/// Interfaces that are kept with all their facts.
const INTERFACES: usize = 16;
/// Names that are kept of the interfaces that are left out.
const NAMES: usize = 32;

/// Reads the host's environment, in the calling thread's network namespace.
pub fn environment() -> Environment {
    let mut environment =
        Environment { host: host::facts(), stack: stack::facts(), ..Environment::default() };
    let (interfaces, others) = interface::facts(INTERFACES);
    keep(&mut environment, interfaces, others);
    environment
}

/// Adds interfaces as long as there is room, and says which ones are left out.
fn keep(environment: &mut Environment, mut interfaces: Vec<(String, Facts)>, mut left_out: Vec<String>) {
    environment.stack.insert("interfaces.count".into(), (interfaces.len() + left_out.len()).into());
    environment.stack.insert("interfaces.left_out".into(), names(&left_out));
    environment.interfaces = interfaces.iter().cloned().collect();
    while size(environment) > LARGEST {
        let Some((last, _)) = interfaces.pop() else { return };
        environment.interfaces.remove(&last);
        left_out.insert(0, last);
        environment.stack.insert("interfaces.left_out".into(), names(&left_out));
    }
}

fn names(left_out: &[String]) -> Value {
    left_out.iter().take(NAMES).cloned().collect()
}

fn size(environment: &Environment) -> usize {
    serde_json::to_vec(environment).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_fits_and_survives_the_record() {
        let environment = environment();
        let json = serde_json::to_string(&environment).unwrap();
        assert!(json.len() <= LARGEST, "{} bytes", json.len());
        assert_eq!(serde_json::from_str::<Environment>(&json).unwrap(), environment);
        assert!(environment.interfaces.contains_key("lo"));
    }

    #[test]
    fn the_last_of_too_many_interfaces_go() {
        let facts = |bytes| [("note".to_owned(), Value::from("x".repeat(bytes)))].into();
        for (bytes, expected) in [(10, INTERFACES), (5_000, 4), (LARGEST, 0)] {
            let mut environment = Environment::default();
            let interfaces = (0..16).map(|number| (format!("if{number:02}"), facts(bytes))).collect();
            keep(&mut environment, interfaces, vec!["if16".into(), "if17".into()]);
            let kept: Vec<&String> = environment.interfaces.keys().collect();
            assert_eq!(kept.len(), expected);
            assert!(kept.iter().zip(0..).all(|(name, number)| **name == format!("if{number:02}")));
            assert_eq!(environment.stack["interfaces.count"], 18);
            assert_eq!(environment.stack["interfaces.left_out"][0], format!("if{expected:02}"));
            assert!(size(&environment) <= LARGEST);
        }
    }
}
