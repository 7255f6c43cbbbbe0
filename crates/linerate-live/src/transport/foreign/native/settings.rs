//! What is asked of a library: knobs, as the variables that it has for them.

use crate::record::Granted;
use crate::transport::Spec;
use crate::transport::foreign::library::variable;
use crate::vocabulary::NativeLibrary;

/// The variables of a rank; `interface` is the one between the hosts, where there are two. Of several of a name the last
/// counts: what was said as it is wins.
pub fn variables(spec: &Spec, library: &NativeLibrary, interface: Option<&str>) -> Vec<(String, String)> {
    let fixed = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let mut all: Vec<(String, String)> = library.always.iter().map(fixed).collect();
    if let Some(interface) = interface {
        let across = library.across.iter().map(fixed);
        all.extend(across.map(|(name, value)| (name, value.replace("{interface}", interface))));
    }
    for (knob, names) in library.knobs {
        let value = spec.value(knob).map(variable::value);
        all.extend(
            value.iter().flat_map(|value| names.iter().map(|name| ((*name).to_owned(), value.clone()))),
        );
    }
    all.extend(variable::assignments(spec.value(library.environment)));
    all
}

/// What is on record of them: what the rank read back, and what was asked that no call tells.
pub fn granted(spec: &Spec, library: &NativeLibrary, told: &[(String, String)]) -> Vec<Granted> {
    let knobs = library.knobs.iter().map(|(knob, _)| *knob).chain([library.environment]);
    let of = |knob: &str| {
        let granted = told.iter().find(|(name, _)| name == knob).map(|(_, value)| value.clone());
        Granted { knob: knob.into(), asked: spec.value(knob).map(String::from), granted }
    };
    knobs.map(of).filter(|one| one.asked.is_some() || one.granted.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Knob, LIBRARY_KINDS, NATIVE_LIBRARIES, TRANSPORTS};

    fn spec(settings: &[&str]) -> Spec {
        let settings = settings.iter().map(|setting| setting.parse().unwrap()).collect();
        Spec { transport: "ucx".into(), flows: 1, passive: false, address: None, settings, patience_ms: 1000 }
    }

    fn named(settings: &[&str], interface: Option<&str>) -> Vec<String> {
        let all = variables(&spec(settings), &NATIVE_LIBRARIES[0], interface);
        all.into_iter().map(|(name, value)| format!("{name}={value}")).skip(2).collect()
    }

    #[test]
    fn between_hosts_only_the_interface_is_taken() {
        assert!(named(&[], None).is_empty());
        assert_eq!(named(&[], Some("ve-a")), ["UCX_TLS=tcp", "UCX_NET_DEVICES=ve-a"]);
        let asked = ["ucx.eager-limit=8KiB", "ucx.environment=UCX_TLS=all A=b=c"];
        assert_eq!(named(&asked, None), ["UCX_RNDV_THRESH=8192", "UCX_TLS=all", "A=b=c"]);
    }

    #[test]
    fn only_what_was_read_back_is_granted() {
        let told = [("ucx.transports".to_owned(), "sysv,cma".to_owned())];
        let all = granted(&spec(&["ucx.socket-buffer=1MiB"]), &NATIVE_LIBRARIES[0], &told);
        let told: Vec<_> =
            all.iter().map(|one| (one.knob.as_str(), one.asked.as_deref(), one.granted.as_deref())).collect();
        assert_eq!(
            told,
            [("ucx.transports", None, Some("sysv,cma")), ("ucx.socket-buffer", Some("1MiB"), None)]
        );
    }

    #[test]
    fn every_library_is_in_the_vocabulary() {
        for library in NATIVE_LIBRARIES {
            assert!(LIBRARY_KINDS.iter().any(|kind| kind.name == library.name && kind.launchers.is_empty()));
            assert!(TRANSPORTS.iter().any(|entry| entry.name == library.name && entry.only_polls));
            let knobs = library.knobs.iter().map(|(knob, _)| *knob).chain([library.environment]);
            for name in knobs {
                let knob = Knob::named(name).expect(name);
                assert_eq!(knob.transports, [library.name]);
            }
        }
    }
}
