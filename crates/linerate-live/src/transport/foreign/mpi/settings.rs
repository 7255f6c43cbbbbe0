//! What is asked of a library beside itself: knobs, as the variables that its maker has for them.

use super::THREAD_LEVEL;
use crate::record::Granted;
use crate::transport::Spec;
use crate::transport::foreign::library::rank_report::ReportedKnob;
use crate::transport::foreign::library::variable;
use crate::vocabulary::{KNOBS, MPI_VARIABLES, OTHER_WAITS};
use crate::{Error, Result};

/// What Open MPI's variables begin with in an environment.
const MCA: &str = "OMPI_MCA_";
/// The knob that says variables as they are.
const ENVIRONMENT: &str = "mpi.environment";

/// The variables of a session, by a maker's names for them. Those that were said as they are come last, and win.
pub fn variables(spec: &Spec, maker: &str) -> Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for knob in asked(spec) {
        let Some(value) = spec.value(knob) else { continue };
        let entry = MPI_VARIABLES.iter().find(|entry| entry.knob == knob && entry.maker == maker);
        let names = entry.map(|entry| entry.variables).ok_or_else(|| none(knob, maker))?;
        variables.extend(names.iter().map(|name| ((*name).to_owned(), variable::value(value))));
    }
    for (name, value) in variable::assignments(spec.value(ENVIRONMENT)) {
        if let Some(knob) = decides_wait(&name) {
            let hint = format!("--set {knob}={value}: how ranks wait hangs on it");
            return Err(Error::unavailable(format!("{ENVIRONMENT} with {name}"), hint));
        }
        variables.push((name, value));
    }
    Ok(variables)
}

/// The knob that a variable stands for, where that says how ranks wait: said past it, nobody would know.
fn decides_wait(variable: &str) -> Option<&'static str> {
    let entry = MPI_VARIABLES.iter().find(|entry| entry.variables.contains(&variable))?;
    OTHER_WAITS.iter().any(|other| other.knob == entry.knob).then_some(entry.knob)
}

/// What a rank tells: what its thread level is, and what the library has in the variables of each knob. Open MPI's control
/// variables have the names of its environment's without a prefix, MPICH's the same; UCX, below that, tells nothing by them.
pub fn reported_knobs(_: &Spec, maker: &str) -> Vec<ReportedKnob> {
    let own = MPI_VARIABLES.iter().filter(|entry| entry.maker == maker);
    let control = |name: &&str| name.strip_prefix(MCA).unwrap_or(name).to_owned();
    let variables = own.map(|entry| (entry.knob, entry.variables.iter().map(control).collect()));
    let level = std::iter::once((THREAD_LEVEL, vec![THREAD_LEVEL.to_owned()]));
    level.chain(variables).map(|(knob, names)| ReportedKnob { knob, names }).collect()
}

/// What is on record of variables that were said as they are.
pub fn granted(spec: &Spec) -> Option<Granted> {
    let asked = Some(spec.value(ENVIRONMENT)?.to_owned());
    Some(Granted { knob: ENVIRONMENT.into(), asked, granted: None })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Knob, KnobKind, MPI_MAKERS};

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
    fn what_says_how_ranks_wait_is_said_by_its_knob() {
        let lam = ["mpi.rpi=usysv", "mpi.socket-buffer=1MiB", "mpi.eager-limit=8KiB"];
        let wanted = [
            "LAM_MPI_SSI_rpi_tcp_short=8192",
            "LAM_MPI_SSI_rpi_tcp_sockbuf=1048576",
            "LAM_MPI_SSI_rpi=usysv",
        ];
        assert_eq!(named(&lam, "lam"), wanted);
        let error = variables(&spec(&["mpi.environment=LAM_MPI_SSI_rpi=usysv"]), "lam").unwrap_err();
        assert!(error.hint().unwrap().starts_with("--set mpi.rpi=usysv"), "{error:?}");
    }

    #[test]
    fn a_makers_lack_names_those_that_have_it() {
        let error = variables(&spec(&["mpi.yield=on"]), "mpich").unwrap_err();
        assert_eq!(error.to_string(), "mpich has no variable for mpi.yield");
        assert!(error.hint().unwrap().starts_with("openmpi, intel-mpi have one"), "{error:?}");
    }

    #[test]
    fn every_variable_has_a_knob_and_a_maker() {
        for entry in MPI_VARIABLES {
            let knob = Knob::named(entry.knob).expect(entry.knob);
            assert_eq!(knob.transports, ["mpi"]);
            let is_plain = matches!(knob.kind, KnobKind::Bytes | KnobKind::Switch | KnobKind::OneOf(_));
            assert!(is_plain, "{}", knob.name);
            assert!(MPI_MAKERS.iter().any(|maker| maker.name == entry.maker), "{}", entry.maker);
            assert!(!entry.variables.is_empty());
        }
    }

    #[test]
    fn a_verbatim_variable_is_never_granted() {
        let one = granted(&spec(&["mpi.eager-limit=8KiB", "mpi.environment=A=b"])).unwrap();
        assert_eq!((one.knob.as_str(), one.asked.as_deref(), one.granted), (ENVIRONMENT, Some("A=b"), None));
        assert_eq!(granted(&spec(&[])), None);
    }

    #[test]
    fn ranks_know_variables_by_the_librarys_names() {
        let names = |maker| {
            reported_knobs(&spec(&[]), maker).into_iter().flat_map(|one| one.names).collect::<Vec<_>>()
        };
        assert_eq!(names("lam").first().unwrap(), THREAD_LEVEL);
        assert!(names("openmpi").contains(&"btl_tcp_eager_limit".into()));
        assert!(names("mpich").contains(&"MPIR_CVAR_ASYNC_PROGRESS".into()));
    }
}
