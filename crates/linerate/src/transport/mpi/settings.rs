//! What is asked of a library beside itself: knobs, as the variables that its maker has for them.

use crate::record::Granted;
use crate::transport::Spec;
use crate::unit::Bytes;
use crate::vocabulary::{KNOBS, MPI_VARIABLES};
use crate::{Error, Result};

/// The knob that says variables as they are.
const ENVIRONMENT: &str = "mpi.environment";

/// The variables of a session, by a maker's names for them. Those that were said as they are come last, and win.
pub fn variables(spec: &Spec, maker: &str) -> Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for knob in asked(spec) {
        let Some(value) = spec.value(knob) else { continue };
        let entry = MPI_VARIABLES.iter().find(|entry| entry.knob == knob && entry.maker == maker);
        let names = entry.map(|entry| entry.variables).ok_or_else(|| none(knob, maker))?;
        variables.extend(names.iter().map(|name| ((*name).to_owned(), of_variable(value))));
    }
    let said = spec.value(ENVIRONMENT).unwrap_or_default().split_ascii_whitespace();
    variables
        .extend(said.filter_map(|one| one.split_once('=')).map(|(name, value)| (name.into(), value.into())));
    Ok(variables)
}

/// What is on record of them. No library says by a variable's name what it made of it.
pub fn granted(spec: &Spec) -> impl Iterator<Item = Granted> {
    let asked = asked(spec).chain(spec.value(ENVIRONMENT).map(|_| ENVIRONMENT));
    asked.map(|knob| Granted { knob: knob.into(), asked: spec.value(knob).map(String::from), granted: None })
}

fn asked(spec: &Spec) -> impl Iterator<Item = &'static str> {
    let has_variables = |name: &&str| MPI_VARIABLES.iter().any(|entry| entry.knob == *name);
    KNOBS.iter().map(|knob| knob.name).filter(has_variables).filter(|name| spec.value(name).is_some())
}

fn none(knob: &str, maker: &str) -> Error {
    let others = MPI_VARIABLES.iter().filter(|entry| entry.knob == knob).map(|entry| entry.maker);
    let others: Vec<&str> = others.collect();
    let hint = format!(
        "{} have one; --set \"{ENVIRONMENT}=NAME=VALUE\" says any variable as it is",
        others.join(", ")
    );
    Error::unavailable(format!("{maker} has no variable for {knob}"), hint)
}

/// A size as a number of bytes, a switch as 1 or 0.
fn of_variable(value: &str) -> String {
    match (value, value.parse::<Bytes>()) {
        ("on", _) => "1".into(),
        ("off", _) => "0".into(),
        (_, Ok(bytes)) => bytes.0.to_string(),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{KnobKind, MPI_MAKERS};

    fn spec(settings: &[&str]) -> Spec {
        let settings = settings.iter().map(|setting| setting.parse().unwrap()).collect();
        Spec { transport: "mpi".into(), flows: 1, passive: false, address: None, settings, patience_ms: 1000 }
    }

    fn named(settings: &[&str], maker: &str) -> Vec<String> {
        let variables = variables(&spec(settings), maker).unwrap();
        variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn a_knob_is_each_makers_own_variables() {
        let asked = ["mpi.eager-limit=8KiB", "mpi.environment=UCX_TLS=tcp,self A=b=c"];
        assert_eq!(named(&asked, "mpich"), ["UCX_RNDV_THRESH=8192", "UCX_TLS=tcp,self", "A=b=c"]);
        let open = named(&asked, "openmpi");
        assert!(open.contains(&"OMPI_MCA_btl_tcp_eager_limit=8192".into()), "{open:?}");
        assert_eq!(named(&["mpi.yield=on"], "openmpi"), ["OMPI_MCA_mpi_yield_when_idle=1"]);
    }

    #[test]
    fn a_maker_without_it_is_told_with_those_that_have_it() {
        let error = variables(&spec(&["mpi.yield=on"]), "mpich").unwrap_err();
        assert_eq!(error.to_string(), "mpich has no variable for mpi.yield");
        assert!(error.hint().unwrap().starts_with("openmpi, intel-mpi have one"), "{error:?}");
    }

    #[test]
    fn every_variable_is_of_a_knob_and_a_maker_that_there_are() {
        for entry in MPI_VARIABLES {
            let knob = KNOBS.iter().find(|knob| knob.name == entry.knob).expect(entry.knob);
            assert_eq!(knob.transports, ["mpi"]);
            assert!(matches!(knob.kind, KnobKind::Bytes | KnobKind::Switch), "{}", knob.name);
            assert!(MPI_MAKERS.iter().any(|maker| maker.name == entry.maker), "{}", entry.maker);
            assert!(!entry.variables.is_empty());
        }
    }

    #[test]
    fn what_is_asked_is_on_record_and_never_as_granted() {
        let all: Vec<Granted> = granted(&spec(&["mpi.eager-limit=8KiB", "mpi.environment=A=b"])).collect();
        let names: Vec<&str> = all.iter().map(|one| one.knob.as_str()).collect();
        assert_eq!(names, ["mpi.eager-limit", "mpi.environment"]);
        assert!(all.iter().all(|one| one.asked.is_some() && one.granted.is_none()));
    }
}
