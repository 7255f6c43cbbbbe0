//! What a search tries: of the catalogue what does something on this rung, those that are known to gain most first.

use crate::cli::ab::applies;
use crate::plan::{Arm, Setting, SettingError, Stack};
use crate::vocabulary::{Knob, Rung, Scope, TUNABLES, Tunable, did_you_mean};
use crate::{Error, Result};

/// A level of an entry.
#[derive(Debug)]
pub struct Candidate {
    pub entry: &'static Tunable,
    pub settings: Vec<Setting>,
}

/// Entries that are left out, and why.
pub type LeftOut = Vec<(&'static Tunable, String)>;

/// The candidates for a rung where this holds already, and the entries that have none.
pub fn candidates(
    rung: &Rung,
    held: &[Setting],
    knobs: &[String],
    with_hosts: bool,
) -> Result<(Vec<Candidate>, LeftOut)> {
    known(knobs)?;
    let mut entries: Vec<&Tunable> = TUNABLES.iter().filter(|one| is_wanted(one, knobs)).collect();
    entries.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for entry in entries {
        if entry.scope == Scope::Host && !with_hosts {
            left_out.push((entry, "a setting of the hosts: --allow host lets it be tried".to_owned()));
            continue;
        }
        let levels = entry.levels.iter().map(|level| parsed(level)).collect::<Result<Vec<_>>>()?;
        let serves = |settings: &&Vec<Setting>| settings.iter().all(|one| applies(one, rung).is_ok());
        let levels: Vec<Vec<Setting>> = levels.iter().filter(serves).cloned().collect();
        if levels.is_empty() {
            left_out.push((entry, format!("does nothing on {}", rung.id)));
            continue;
        }
        let new = levels.into_iter().filter(|settings| !settings.iter().all(|one| holds(one, held)));
        let before = found.len();
        found.extend(new.map(|settings| Candidate { entry, settings }));
        if found.len() == before {
            left_out.push((entry, "holds already".into()));
        }
    }
    // Two of them are controls.
    found.truncate(Stack::MOST_ARMS - 2);
    if found.is_empty() {
        let what = format!("nothing can be tried on {}", rung.id);
        let why = left_out.first().map(|(entry, why)| format!("{}: {why}", entry.name));
        return Err(Error::usage(what, why.unwrap_or_else(|| "--rung and --knob choose otherwise".into())));
    }
    Ok((found, left_out))
}

impl Candidate {
    /// The arm of the plan.
    pub fn arm(&self) -> Arm {
        Arm::candidate(self.settings.clone())
    }
}

/// Each name is a knob or an entry that is tried.
fn known(knobs: &[String]) -> Result<()> {
    let names: Vec<&str> =
        TUNABLES.iter().flat_map(|one| one.knobs().into_iter().chain([one.name])).collect();
    let unknown = knobs.iter().find(|name| !names.contains(&name.as_str()));
    unknown.map_or(Ok(()), |name| {
        let hint = did_you_mean(names, name, "`linerate list tunables` shows what is tried");
        Err(Error::usage(format!("--knob {name}: no search tries it"), hint))
    })
}

fn is_wanted(entry: &Tunable, knobs: &[String]) -> bool {
    let is_named = |name: &String| entry.name == name || entry.knobs().contains(&name.as_str());
    knobs.is_empty() || knobs.iter().any(is_named)
}

fn parsed(level: &str) -> Result<Vec<Setting>> {
    let settings: std::result::Result<Vec<Setting>, SettingError> =
        level.split('+').map(str::parse).collect();
    settings.map_err(|error| Error::usage(error.what, error.hint))
}

/// Whether a knob has this value already: by what is set, or by itself.
fn holds(setting: &Setting, held: &[Setting]) -> bool {
    match held.iter().rev().find(|one| one.knob == setting.knob) {
        Some(held) => held.value == setting.value,
        None => {
            let default = Knob::named(&setting.knob).map_or("", |knob| knob.default);
            default.split([':', ' ', ',']).next() == Some(setting.value.as_str())
        }
    }
}
