//! The applications that arms are compared on: each is a case of a plan, on as many hosts as there are.

use super::{Case, Graph, Metric, Plan, Roles, Suite, SuiteCase, SuiteError};
use crate::unit::Bytes;
use crate::vocabulary::{Knob, OF_APPLICATIONS, OF_LOOPS, Pattern, RUNGS, Rung, TRANSPORT_OF};

/// An application.
#[derive(Debug)]
pub struct Application {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Who sends what when.
    pub pattern: Pattern,
    /// The pipeline, of one: stages and streams of a shipped suite.
    pub graph: &'static str,
    /// Which hosts play which part.
    pub roles: Roles,
    /// The size of a message where nothing is said.
    pub bytes: u64,
    /// What has that size.
    pub of_size: &'static str,
}

/// The suite that has the pipelines.
const GRAPHS: &str = "sockets";

/// What the one case of a comparison is called before its dot.
const NAME: &str = "application";

const MONITOR: Application = Application {
    name: "monitor",
    about: "the first host asks every other one for its state, a new connection each, round after round",
    pattern: Pattern::Monitor,
    graph: "",
    roles: Roles::FanOut,
    bytes: 2 << 10,
    of_size: "replies",
};

const MICROSCOPE: Application = Application {
    name: "microscope",
    about: "a pipeline: the part of a slide that is seen is read, clipped, made smaller and shown, by four stages",
    pattern: Pattern::Pipeline,
    graph: "microscope",
    bytes: 16 << 10,
    of_size: "buffers",
    ..MONITOR
};

const STRIPED_READ: Application = Application {
    name: "striped-read",
    about: "clients on the second half of the hosts read a file in stripes on servers on the first",
    pattern: Pattern::StripedRead,
    roles: Roles::Halves,
    bytes: 2 << 20,
    of_size: "regions",
    ..MONITOR
};

/// Every application.
pub const APPLICATIONS: &[Application] = &[
    MONITOR,
    MICROSCOPE,
    Application {
        name: "iso-surface",
        about: "a pipeline: the surface in a part of a volume is found, drawn and put together, by four stages",
        graph: "iso-surface",
        ..MICROSCOPE
    },
    STRIPED_READ,
    Application {
        name: "striped-write",
        about: "clients on the first half of the hosts write a file in stripes on servers on the second",
        pattern: Pattern::StripedWrite,
        ..STRIPED_READ
    },
    Application {
        name: "tiled-read",
        about: "the same as striped-read with a tile of a frame for each client: rows with gaps between them",
        pattern: Pattern::TiledRead,
        bytes: 6 << 20,
        of_size: "tiles",
        ..STRIPED_READ
    },
    Application {
        name: "tiled-write",
        about: "the same as striped-write with a tile of a frame for each client",
        pattern: Pattern::TiledWrite,
        bytes: 6 << 20,
        of_size: "tiles",
        ..STRIPED_READ
    },
];

impl Application {
    /// The one with this name.
    pub fn named(name: &str) -> Option<&'static Application> {
        APPLICATIONS.iter().find(|one| one.name == name)
    }

    /// The application of a comparison; none of a case that this version does not know.
    pub fn of_suite(suite: &Suite) -> Option<&'static Application> {
        suite.cases.first().and_then(|case| Application::named(&case.id))
    }

    /// The plan of its one case over a rung, with messages of a size.
    pub fn suite(&self, rung: &Rung, bytes: Option<u64>) -> Result<Suite, SuiteError> {
        let Graph { stages, streams } = match self.graph {
            "" => Graph::default(),
            graph => Suite::shipped(GRAPHS)?.graph(graph),
        };
        let case = SuiteCase {
            id: self.name.into(),
            rung: vec![rung.id.into()],
            pattern: self.pattern,
            graph: self.graph.into(),
            sizes: vec![Bytes(bytes.unwrap_or(self.bytes)).to_string()],
            roles: vec![self.roles],
            ..SuiteCase::default()
        };
        let suite = Suite { name: NAME.into(), cases: vec![case], stages, streams, ..Suite::default() };
        suite.check().map(|()| suite)
    }

    /// What it is compared by, the usual one first.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> {
        Metric::of_pattern(self.pattern)
    }

    /// Whether a knob does something to it where it is carried by a rung.
    pub fn has_knob(&self, knob: &Knob, rung: &Rung) -> bool {
        match OF_APPLICATIONS.iter().find(|own| own.knob == knob.name) {
            Some(own) => {
                let is_carried = own.carriers.is_empty() || own.carriers.contains(&rung.transport.name);
                is_carried && own.patterns.contains(&self.pattern.entry().name)
            }
            // Its ends are loops of their own.
            None if OF_LOOPS.contains(&knob.name) => false,
            None => knob.acts_on(rung.transport.name),
        }
    }

    /// The knobs that act on it whatever carries it.
    pub fn own_knobs(&self) -> impl Iterator<Item = &'static str> {
        let name = self.pattern.entry().name;
        OF_APPLICATIONS.iter().filter(move |own| own.patterns.contains(&name)).map(|own| own.knob)
    }
}

impl Plan {
    /// The rung that carries an application in an arm where a knob of its own asks for another transport than the case's rung
    /// has: of the same place and family. None where nothing asks, or no rung is so.
    pub fn carrier(&self, case: &Case) -> Option<&'static Rung> {
        let (name, own) = (self.asked_carrier(case)?, Rung::named(&case.rung)?);
        let is_it =
            |rung: &&Rung| (rung.place, rung.family, rung.transport.name) == (own.place, own.family, name);
        RUNGS.iter().find(is_it)
    }

    /// The transport that a knob of an application asks for.
    pub fn asked_carrier(&self, case: &Case) -> Option<&str> {
        let (_, knob) = TRANSPORT_OF.iter().find(|(pattern, _)| *pattern == case.pattern.entry().name)?;
        self.value_for(&case.rung, case.arm, knob)
    }

    /// The stages of a pipeline's case and what joins them.
    pub fn graph(&self, case: &Case) -> Option<Graph> {
        let compared = self.view.application();
        let of_suite = |suite: &Suite| Some(suite.graph(&suite.case_of(&case.id)?.graph));
        self.view.suites().iter().chain(compared).find_map(of_suite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_application_is_a_plan_with_a_metric() {
        for application in APPLICATIONS {
            let suite = application.suite(Rung::named("network.tcp").unwrap(), None).unwrap();
            assert!(suite.takes_all_hosts(), "{}", application.name);
            assert_eq!(Application::of_suite(&suite).map(|one| one.name), Some(application.name));
            assert!(application.metrics().next().is_some(), "{}", application.name);
            assert!(application.pattern.entry().application);
        }
    }

    #[test]
    fn a_knob_of_another_application_does_nothing() {
        let knobs = OF_APPLICATIONS.iter().map(|own| &own.knob).chain(OF_LOOPS);
        assert!(knobs.into_iter().all(|name| Knob::named(name).is_some()));
        let has = |application: &str, knob: &str, rung: &str| {
            let (knob, rung) = (Knob::named(knob).unwrap(), Rung::named(rung).unwrap());
            Application::named(application).unwrap().has_knob(knob, rung)
        };
        for (application, knob, rung, expected) in [
            ("monitor", "monitor.delay", "network.tcp", true),
            ("monitor", "monitor.agent", "network.tcp", true),
            ("monitor", "monitor.agent", "network.mptcp", false),
            ("microscope", "monitor.delay", "network.tcp", false),
            ("microscope", "tls.cipher", "network.tcp", false),
            ("microscope", "tls.cipher", "network.tls", true),
            ("monitor", "shim.spin", "network.tcp", false),
            ("monitor", "shim.slowdown", "network.tcp", true),
            ("tiled-read", "striped.path", "network.tcp", true),
            ("striped-read", "tiled.access", "network.tcp", false),
        ] {
            assert_eq!(has(application, knob, rung), expected, "{application} {knob} {rung}");
        }
    }
}
