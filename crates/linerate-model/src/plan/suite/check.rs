//! Whether a plan file can be carried out: its names against the vocabulary, its numbers against their limits.

use super::expand::pace;
use super::{Claim, FACTORS, PEAK, Roles, STEP, Suite, SuiteCase, SuiteFigure, SuiteTable, TableColumn};
use crate::plan::sizes::LONGEST_MESSAGE;
use crate::plan::{PROFILES, Setting, SettingError, said_twice};
use crate::unit::{Bytes, Nanoseconds, within};
use crate::vocabulary::{Metric, Pattern, RUNGS, Rung, did_you_mean};
use std::collections::BTreeMap;

/// The most cases, figures or claims of a plan, and the most levels of a factor.
const MOST: usize = 256;
/// The most connections of a pair of hosts.
const MOST_FLOWS: u32 = 1000;
/// The longest trial.
const LONGEST_NS: f64 = 1000e9;

/// Roles that a pattern has not: why, and what to try.
const IMPOSSIBLE: &[(Pattern, &[Roles], &str, &str)] = &[(
    Pattern::Monitor,
    &[Roles::Back, Roles::FanIn],
    "a monitor asks from the first host, and the others answer",
    "roles = \"fan-out\", \"there\", \"multi-pair\" or \"halves\"",
)];

/// Why a plan file cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SuiteError {
    /// What is wrong.
    pub what: String,
    /// What to try.
    pub hint: String,
}

impl SuiteError {
    /// What is wrong and what to try.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> SuiteError {
        SuiteError { what: what.into(), hint: hint.into() }
    }
}

type Checked = Result<(), SuiteError>;

impl Suite {
    /// Checks all of it.
    pub(in crate::plan) fn check(&self) -> Checked {
        let (figures, tables) = (("figure", self.figures.len()), ("table", self.tables.len()));
        for (what, count) in [("case", self.cases.len()), figures, tables, ("claim", self.claims.len())] {
            if count > MOST {
                return Err(SuiteError::new(format!("{count} times [[{what}]]"), "a plan has at most 256"));
            }
        }
        if self.cases.is_empty() {
            return Err(SuiteError::new(
                "a plan without [[case]]",
                "a case has an id, a rung, a pattern and sizes",
            ));
        }
        let ids: Vec<&str> = self.cases.iter().map(|case| case.id.as_str()).collect();
        if let Some(twice) = (1..ids.len()).find(|at| ids[..*at].contains(&ids[*at])) {
            return Err(SuiteError::new(
                format!("two cases are called `{}`", ids[twice]),
                "call one otherwise",
            ));
        }
        self.cases.iter().try_for_each(check_case)?;
        self.check_graphs()?;
        self.figures.iter().try_for_each(|figure| self.check_figure(figure))?;
        self.tables.iter().try_for_each(|table| self.check_table(table))?;
        self.claims.iter().try_for_each(|claim| self.check_claim(claim))
    }

    /// Every pipeline that a case names, and the buffers that it asks for.
    fn check_graphs(&self) -> Checked {
        for case in self.cases.iter().filter(|case| case.pattern == Pattern::Pipeline) {
            self.graph(&case.graph).check(&case.graph)?;
        }
        for case in &self.cases {
            let Some((least, most, messages)) = case.pattern.entry().messages else { continue };
            let bytes = |text: &String| text.parse::<Bytes>().map_or(0, |size| size.0);
            if case.sizes.iter().any(|text| !(least..=most).contains(&bytes(text))) {
                let what = format!("case `{}`: its sizes are those of {messages}", case.id);
                return Err(SuiteError::new(
                    what,
                    format!("from {} to {}", Bytes(least.max(1)), Bytes(most)),
                ));
            }
        }
        Ok(())
    }

    fn check_table(&self, table: &SuiteTable) -> Checked {
        let place = format!("table `{}`", table.id);
        if table.columns.len().max(table.rows.len()) > MOST {
            return Err(SuiteError::new(format!("{place} is too large"), "at most 256 rows and columns"));
        }
        for levels in table.rows.iter().flat_map(|row| row.parts.values()) {
            self.check_levels(&place, levels)?;
            let sizes = table.columns.iter().filter_map(|column| column.at.get("size"));
            for (id, size) in
                levels.get("case").into_iter().flat_map(|id| sizes.clone().map(move |size| (id, size)))
            {
                self.check_size(&place, id, size)?;
            }
        }
        table.columns.iter().try_for_each(|column| check_column(&place, table, column))
    }

    fn check_figure(&self, figure: &SuiteFigure) -> Checked {
        let place = format!("figure `{}`", figure.id);
        let unit = check_measure(&place, &figure.y)?;
        for name in &figure.also {
            if check_measure(&place, name)? != unit {
                let what = format!("{place}: `{name}` has another unit than `{}`", figure.y);
                return Err(SuiteError::new(what, "make two figures of it"));
            }
        }
        figure.only.keys().try_for_each(|name| check_factor(&place, name))?;
        if figure.cases.is_empty() {
            return Err(SuiteError::new(format!("{place} shows no case"), "cases = [\"ID\"]"));
        }
        figure.cases.iter().chain(&figure.against).try_for_each(|id| self.check_id(&place, id))
    }

    fn check_claim(&self, claim: &Claim) -> Checked {
        let place = format!("the claim that {}", claim.says);
        let _unit = check_measure(&place, &claim.y)?;
        if claim.above.is_none() == claim.below.is_none() {
            let what = format!("{place}: it needs one limit");
            return Err(SuiteError::new(what, "say above = 1.0, or below = 1.0"));
        }
        let how =
            [claim.over.is_some(), claim.minus.is_some(), claim.exponent.is_some(), claim.slope.is_some()];
        if how.iter().filter(|set| **set).count() > 1 {
            let what = format!("{place}: it has several of over, minus, exponent and slope");
            return Err(SuiteError::new(what, "make two claims of it"));
        }
        claim.applies.as_ref().map_or(Ok(()), |applies| applies.check(&place))?;
        self.check_levels(&place, &claim.of)?;
        claim.over.iter().chain(&claim.minus).try_for_each(|levels| self.check_levels(&place, levels))
    }

    fn check_levels(&self, place: &str, levels: &BTreeMap<String, String>) -> Checked {
        for (name, level) in levels {
            check_factor(place, name)?;
            if name == "case" {
                self.check_id(place, level)?;
            }
        }
        match levels.get("case") {
            Some(id) => levels.get("size").map_or(Ok(()), |size| self.check_size(place, id, size)),
            None => Err(SuiteError::new(format!("{place}: of which case?"), "say case = \"ID\"")),
        }
    }

    /// A size that a case has not would be found nowhere, and what it is asked for never be told.
    fn check_size(&self, place: &str, id: &str, size: &str) -> Checked {
        let bytes =
            |text: &str| text.parse().ok().or_else(|| text.parse().ok().map(|Bytes(bytes)| bytes as f64));
        let sizes: Vec<&str> = self
            .cases
            .iter()
            .filter(|case| case.id == id)
            .flat_map(|case| &case.sizes)
            .map(String::as_str)
            .collect();
        let is_it = |known: &&str| *known == "ladder" || bytes(known) == bytes(size);
        if [PEAK, STEP].contains(&size) || sizes.iter().any(is_it) {
            return Ok(());
        }
        let what = format!("{place}: case `{id}` has no size `{size}`");
        Err(SuiteError::new(what, format!("it has {}", sizes.join(", "))))
    }

    pub(super) fn check_id(&self, place: &str, id: &str) -> Checked {
        let ids = self.cases.iter().map(|case| case.id.as_str());
        match ids.clone().any(|known| known == id) {
            true => Ok(()),
            false => Err(SuiteError::new(
                format!("{place}: no case is called `{id}`"),
                did_you_mean(ids, id, "see [[case]]"),
            )),
        }
    }
}

/// The number of which steps are found.
const STEPS: &str = "half-round-trip";

fn check_column(place: &str, table: &SuiteTable, column: &TableColumn) -> Checked {
    let place = format!("{place}, column `{}`", column.name);
    let _unit = check_measure(&place, &column.y)?;
    column.at.keys().try_for_each(|name| check_factor(&place, name))?;
    if column.over.is_some() && column.minus.is_some() {
        return Err(SuiteError::new(format!("{place} has over and minus"), "make two columns of it"));
    }
    let is_step = column.at.get("size").is_some_and(|size| size == STEP);
    if is_step && (column.y != STEPS || column.over.is_some() || column.minus.is_some()) {
        let what = format!("{place}: a step is one of {STEPS} alone");
        return Err(SuiteError::new(what, format!("y = \"{STEPS}\" without over and minus")));
    }
    let is_found = is_step || column.at.get("size").is_some_and(|size| size == PEAK);
    if column.slope.is_some() && (column.over.is_some() || column.minus.is_some() || is_found) {
        let what = format!("{place}: a slope is one of a number alone, at sizes that are said");
        return Err(SuiteError::new(what, "leave out over, minus, peak and step"));
    }
    let parts = || table.rows.iter().flat_map(|row| row.parts.keys().map(String::as_str));
    for part in [Some(&column.of), column.over.as_ref(), column.minus.as_ref()].into_iter().flatten() {
        if !parts().any(|known| known == part) {
            let what = format!("{place}: no row has a part called `{part}`");
            return Err(SuiteError::new(what, did_you_mean(parts(), part, "see its rows")));
        }
    }
    Ok(())
}

pub(super) fn check_factor(place: &str, name: &str) -> Checked {
    if FACTORS.iter().any(|factor| factor.name == name) {
        return Ok(());
    }
    let hint = did_you_mean(FACTORS.iter().map(|factor| factor.name), name, "see docs/method/suites.md");
    Err(SuiteError::new(format!("{place}: no factor is called `{name}`"), hint))
}

/// The unit of a number that a trial tells: of a metric, or of a part of one.
fn check_measure(place: &str, name: &str) -> Result<&'static str, SuiteError> {
    if let Some((metric, _)) = Metric::asked(name) {
        return Ok(metric.unit);
    }
    let names = Metric::askable();
    let hint = did_you_mean(
        names.iter().map(String::as_str),
        name,
        "`linerate explain NAME` tells what of it a plan can ask for",
    );
    Err(SuiteError::new(format!("{place}: no number of a trial is called `{name}`"), hint))
}

fn check_case(case: &SuiteCase) -> Checked {
    let fail = |what: String, hint: &str| Err(SuiteError::new(format!("case `{}`: {what}", case.id), hint));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if case.id.is_empty() || case.id.len() > 64 || !case.id.chars().all(is_name) {
        return fail("its id is no name".into(), "letters, digits, dashes and dots");
    }
    for rung in case.rung.iter().chain(case.load.iter().map(|load| &load.rung)) {
        if !RUNGS.iter().any(|known| known.id == *rung) {
            let hint =
                did_you_mean(RUNGS.iter().map(|rung| rung.id), rung, "`linerate list rungs` shows them");
            return fail(format!("no rung is called `{rung}`"), &hint);
        }
    }
    let shipped = || PROFILES.iter().map(|profile| profile.name);
    if let Some(unknown) = case.profiles.iter().find(|name| !shipped().any(|known| known == name.as_str())) {
        let names = shipped().collect::<Vec<_>>().join(", ");
        let hint = did_you_mean(shipped(), unknown, &format!("there are {names}"));
        return fail(format!("no profile is called `{unknown}`"), &hint);
    }
    if let Some((.., why, hint)) = IMPOSSIBLE.iter().find(|(pattern, roles, ..)| {
        *pattern == case.pattern && case.roles.iter().any(|role| roles.contains(role))
    }) {
        return fail((*why).into(), hint);
    }
    let is_chosen = |known: &&Rung| known.chooses_engine() && case.rung.iter().any(|rung| rung == known.id);
    if let Some(rung) = RUNGS.iter().find(is_chosen) {
        let below = rung.below.unwrap_or_default();
        return fail(
            format!("{} is chosen by proof, which a suite has no looks for", rung.id),
            &format!("rung = \"{below}\", with the engine in `settings`"),
        );
    }
    if case.rung.is_empty() || case.sizes.is_empty() {
        return fail("it needs a rung and sizes".into(), "rung = \"network.tcp\", sizes = \"ladder\"");
    }
    let sizes = case.sizes.iter().chain(case.load.iter().map(|load| &load.size));
    for text in sizes.filter(|text| *text != "ladder") {
        let [least, most] = [1, LONGEST_MESSAGE].map(Bytes);
        if let Err(why) = within(text.parse(), least, most, |size| size) {
            return fail(format!("`{text}` is no message size: {why}"), "from 1 B to 1 GiB, or \"ladder\"");
        }
    }
    let flows = case.flows.iter().chain(&case.clients).chain(case.load.iter().map(|load| &load.flows));
    if let Some(flows) = flows.into_iter().find(|flows| !(1..=MOST_FLOWS).contains(*flows)) {
        return fail(format!("{flows} connections"), "from 1 to 1000");
    }
    if let Some(text) = case.pace.iter().find(|text| pace(text, 1).is_none()) {
        return fail(format!("`{text}` is no pace"), "closed, 1000/s, poisson 1000/s or 100Mb/s");
    }
    if let Some(text) = &case.trial {
        let [least, most] = [1e3, LONGEST_NS].map(Nanoseconds);
        if let Err(why) = within(text.parse(), least, most, |time| time.rounded(1)) {
            return fail(format!("a trial of `{text}`: {why}"), "from 1us to 1000s");
        }
    }
    check_settings(case)
}

fn check_settings(case: &SuiteCase) -> Checked {
    let of_vary =
        case.vary.iter().flat_map(|(knob, values)| values.iter().map(move |value| format!("{knob}={value}")));
    let of_ladder = case.ladder.iter().flat_map(|rise| rise.set.clone());
    let wrong =
        |error: SettingError| SuiteError::new(format!("case `{}`: {}", case.id, error.what), error.hint);
    for text in of_vary.chain(of_ladder) {
        text.parse::<Setting>().map_err(wrong)?;
    }
    for rise in &case.ladder {
        let set: Vec<Setting> = rise.set.iter().filter_map(|text| text.parse().ok()).collect();
        said_twice(&set).map_or(Ok(()), |error| Err(wrong(error)))?;
    }
    for (knob, values) in &case.vary {
        if let Some(twice) = (1..values.len()).find(|at| values[..*at].contains(&values[*at])) {
            let what = format!("case `{}`: {knob} is varied to {} twice", case.id, values[twice]);
            return Err(SuiteError::new(what, "say it once"));
        }
    }
    if !case.vary.is_empty() && !case.ladder.is_empty() {
        let what = format!("case `{}` has both vary and ladder", case.id);
        return Err(SuiteError::new(what, "make two cases of it"));
    }
    let levels: usize = case.vary.values().map(Vec::len).product();
    if levels > MOST {
        return Err(SuiteError::new(format!("case `{}`: {levels} combinations", case.id), "at most 256"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::PATTERNS;

    const GOOD: &str =
        "name = \"mine\"\n[[case]]\nid = \"one\"\nrung = \"network.tcp\"\nsizes = [\"64KiB\"]\n";

    fn read(more: &str) -> Result<Suite, SuiteError> {
        Suite::read(&format!("{GOOD}{more}"))
    }

    #[test]
    fn a_plan_without_a_figure_shows_each_of_its_cases() {
        // A pipeline is one of stages.
        for pattern in PATTERNS.iter().filter(|one| one.pattern != Pattern::Pipeline) {
            let suite = read(&format!("pattern = \"{}\"", pattern.name)).unwrap();
            let shown: Vec<_> = suite.figures.iter().map(|figure| (&*figure.id, &*figure.y)).collect();
            assert_eq!(shown, [("one", pattern.shows)], "{}", pattern.name);
        }
        let own = "[[claim]]\nsays = \"s\"\ny = \"throughput\"\nabove = 1.0\nof = { case = \"one\" }";
        assert_eq!(read(own).map(|suite| suite.figures), Ok(Vec::new()), "it shows something");
    }

    #[test]
    fn a_mistake_in_a_plan_is_told_with_its_place() {
        assert_eq!(read("").map(|suite| suite.cases.len()), Ok(1));
        let figure = "[[figure]]\nid = \"f\"\ntitle = \"t\"\nx = \"size\"\n";
        let claim = "[[claim]]\nsays = \"s\"\ny = \"throughput\"\n";
        let of = "of = { case = \"one\" }";
        let cases = [
            ("flows = [0]", "case `one`: 0 connections"),
            ("flows = [1001]", "case `one`: 1001 connections"),
            ("clients = [2000]", "case `one`: 2000 connections"),
            ("pattern = \"monitor\"\nroles = \"fan-in\"", "case `one`: a monitor asks from the first host"),
            ("profiles = [\"long\"]", "case `one`: no profile is called `long`"),
            ("pace = \"fast\"", "case `one`: `fast` is no pace"),
            ("trial = \"1h\"", "case `one`: a trial of `1h`: it is more than 1000 s"),
            ("pace = \"1GB\"", "case `one`: `1GB` is no pace"),
            ("[case.vary]\n\"tcp.mss\" = [\"536\", \"536\"]", "tcp.mss is varied to 536 twice"),
            (
                "[[case.ladder]]\nname = \"n\"\nset = [\"tcp.mss=536\", \"tcp.mss=900\"]",
                "tcp.mss is set twice",
            ),
            ("load = { rung = \"network.tpc\" }", "case `one`: no rung is called `network.tpc`"),
            ("[case.vary]\n\"tcp.mss\" = [\"big\"]", "case `one`: `tcp.mss=big`"),
            ("colour = 1", "unknown field `colour`"),
            ("label = \"\"", "case `one`: its label is empty"),
            ("group = \"a\\nb\"", "case `one`: its group is no line of text"),
            ("[label.colour]\nred = \"Red\"", "label: no factor is called `colour`"),
            ("[label.case]\ntwo = \"Two\"", "label.case: no case is called `two`"),
            ("[group.wait]\nslow = \"Slow\"", "group.wait: no case has the level `slow`"),
            ("[label.settings]\n\"tcp.mss=5\" = \"x\"", "label.settings: no case has the level `tcp.mss=5`"),
            ("[[case]]\nid = \"one\"\nrung = \"network.tcp\"\nsizes = \"1\"", "two cases are called `one`"),
            ("[[case]]\nid = \"a b\"\nrung = \"network.tcp\"\nsizes = \"1\"", "its id is no name"),
            ("[[case]]\nid = \"two\"\nrung = \"network.tcp\"\nsizes = \"2GiB\"", "`2GiB` is no message size"),
            (&format!("{figure}y = \"speed\"\ncases = [\"one\"]"), "no number of a trial is called `speed`"),
            (&format!("{figure}y = \"alpha\"\ncases = [\"one\"]"), "no number of a trial is called `alpha`"),
            (
                &format!("{figure}y = \"throughput.p99\"\ncases = [\"one\"]"),
                "no number of a trial is called `throughput.p99`",
            ),
            (&format!("{figure}y = \"throughput\"\ncases = [\"tow\"]"), "no case is called `tow`"),
            (&format!("{claim}of = {{ case = \"one\" }}"), "it needs one limit"),
            (
                &format!("{claim}above = 1.0\n{of}\nslope = \"rules\"\nexponent = \"rules\""),
                "several of over, minus, exponent and slope",
            ),
            ("[case.vary]\n\"filter.rules\" = [\"20001\"]", "from 0 to 20000"),
            ("[case.vary]\n\"filter.rules\" = [\"-1\"]", "`filter.rules=-1`"),
            ("[case.vary]\n\"filter.kind\" = [\"pf\"]", "`filter.kind=pf`"),
            ("[case.vary]\n\"filter.match\" = [\"second\"]", "`filter.match=second`"),
            ("[case.vary]\n\"filter.at\" = [\"c\"]", "`filter.at=c`"),
            (&format!("{claim}above = 1.0\n{of}\napplies = {{ }}"), "it applies under no condition"),
            (&format!("{claim}above = 1.0\n{of}\napplies = {{ cpus = 0 }}"), "0 CPUs"),
            (
                &format!("{claim}above = 1.0\n{of}\napplies = {{ round-trip = \"1h\" }}"),
                "a round trip of `1h`",
            ),
            (&format!("{claim}above = 1.0\n{of}\napplies = {{ product = \"1s\" }}"), "a product of `1s`"),
            (&format!("{claim}above = 1.0\nof = {{ size = \"1\" }}"), "of which case?"),
            (
                &format!("{claim}above = 1.0\nof = {{ case = \"one\", size = \"3KiB\" }}"),
                "case `one` has no size `3KiB`",
            ),
            (
                &format!("{claim}above = 1.0\nof = {{ case = \"one\", sise = \"1\" }}"),
                "no factor is called `sise`",
            ),
        ];
        for (more, told) in cases {
            let error = read(more).unwrap_err();
            assert!(error.what.contains(told), "{more}: {}", error.what);
        }
        assert!(Suite::read(&" ".repeat(300 << 10)).is_err());
    }
}
