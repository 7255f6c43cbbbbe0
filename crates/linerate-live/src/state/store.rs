//! A calibration on disk.

use super::{PART, State, facts_hash, identity};
use crate::plan::HostId;
use crate::record::{HostCalibration, HostFacts, RunSpread};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The version of the file.
const SCHEMA: &str = "linerate.calibration/1";

/// The longest file that is read.
const LONGEST: u64 = 1 << 20;

/// Targets whose equal runs are kept; of more the oldest go.
const MOST_TARGETS: usize = 16;

/// What `linerate calibrate` found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// `linerate.calibration/1`.
    pub schema: String,
    /// The version of the program.
    pub version: String,
    /// Names the file.
    pub key: String,
    /// When the hosts were calibrated; none where they could not be.
    pub utc: Option<String>,
    /// The machines, in the order of their hosts.
    pub hosts: Vec<CalibratedHost>,
    /// The hosts' figures; none of a machine that is made up.
    pub figures: Vec<HostCalibration>,
    /// The spread of short equal runs, by target as it is printed.
    pub runs: BTreeMap<String, EqualRuns>,
}

/// A machine that was calibrated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibratedHost {
    /// Its name in the run.
    pub host: HostId,
    /// Which machine it is.
    pub identity: String,
    /// What the calibration rests on.
    pub facts_hash: String,
}

/// Short equal runs against one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EqualRuns {
    /// When they were made.
    pub utc: String,
    /// Their plan.
    pub plan_hash: String,
    /// How many.
    pub runs: u32,
    /// How far they lie apart.
    pub spreads: Vec<RunSpread>,
}

impl CalibratedHost {
    /// A host as it is now.
    pub fn from_facts(host: &HostFacts) -> CalibratedHost {
        CalibratedHost { host: host.host, identity: identity(host), facts_hash: facts_hash(host) }
    }
}

impl Stored {
    /// A calibration of these hosts, without figures and runs.
    pub fn new(key: String, hosts: &[HostFacts]) -> Stored {
        Stored {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            key,
            utc: None,
            hosts: hosts.iter().map(CalibratedHost::from_facts).collect(),
            figures: Vec::new(),
            runs: BTreeMap::new(),
        }
    }

    /// Whether a host is no longer what it was.
    pub fn is_stale(&self, hosts: &[HostFacts]) -> bool {
        self.hosts != hosts.iter().map(CalibratedHost::from_facts).collect::<Vec<_>>()
    }

    /// Whether every number is one that a measurement could have given.
    fn is_sound(&self) -> bool {
        let sound = |number: f64| number.is_finite() && number >= 0.0;
        let figures = self.figures.iter().flat_map(|host| {
            let ceilings = host.ceilings.iter().map(|ceiling| ceiling.messages_per_s.value);
            host.figures.values().map(|figure| figure.value).chain(ceilings)
        });
        let spreads = self.runs.values().flat_map(|runs| &runs.spreads);
        figures.into_iter().all(sound) && spreads.into_iter().all(|s| sound(s.share) && sound(s.centre))
    }
}

impl State {
    /// Where the calibration with this key lies.
    pub fn path(&self, key: &str) -> PathBuf {
        self.folder().join(format!("calibration-{key}.json"))
    }

    /// The calibration with this key; none where there is none.
    pub fn load(&self, key: &str) -> Result<Option<Stored>> {
        read(&self.path(key))
    }

    /// Every calibration that can be read, and why the others cannot.
    pub fn calibrations(&self) -> (Vec<Stored>, Vec<Error>) {
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let ours = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("calibration-") && name.ends_with(".json")
        };
        let mut found = (Vec::new(), Vec::new());
        for path in entries.map(|entry| entry.path()).filter(ours) {
            match read(&path) {
                Ok(stored) => found.0.extend(stored),
                Err(error) => found.1.push(error),
            }
        }
        found.0.sort_by(|a, b| a.key.cmp(&b.key));
        found
    }

    /// Writes a calibration; runs against other targets are kept while the hosts are the same.
    pub fn save(&self, mut stored: Stored) -> Result<PathBuf> {
        let _lock = self.lock()?;
        if let Ok(Some(old)) = self.load(&stored.key)
            && old.hosts == stored.hosts
        {
            for (target, runs) in old.runs {
                stored.runs.entry(target).or_insert(runs);
            }
        }
        while stored.runs.len() > MOST_TARGETS {
            let oldest = stored.runs.iter().min_by(|a, b| a.1.utc.cmp(&b.1.utc)).map(|(t, _)| t.clone());
            oldest.and_then(|target| stored.runs.remove(&target));
        }
        let path = self.path(&stored.key);
        let text = serde_json::to_string_pretty(&stored).unwrap_or_default() + "\n";
        replace(&path, text.as_bytes())?;
        Ok(path)
    }
}

fn read(path: &Path) -> Result<Option<Stored>> {
    let name = || path.display().to_string();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open", name(), error)),
    };
    let broken = |what: String| Error::Record { file: name(), what };
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|e| Error::io("read", name(), e))?;
    if text.len() as u64 > LONGEST {
        return Err(broken(format!("longer than {LONGEST} bytes, so it is no calibration")));
    }
    let stored: Stored =
        serde_json::from_slice(&text).map_err(|error| broken(format!("not a calibration ({error})")))?;
    match stored.schema.as_str() {
        SCHEMA if stored.is_sound() => Ok(Some(stored)),
        SCHEMA => Err(broken("a number in it cannot have been measured".into())),
        other => Err(broken(format!("its schema is `{other}`, this program reads {SCHEMA}"))),
    }
}

/// Writes a file beside the old one and puts it in its place, so that a reader finds one or the other. The lock is
/// held.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension(format!("{}.{PART}", std::process::id()));
    let failed = |call| move |e| Error::io(call, path.display().to_string(), e);
    let mut file = File::create(&beside).map_err(failed("open"))?;
    file.write_all(bytes).map_err(failed("write"))?;
    std::fs::rename(&beside, path).map_err(failed("rename"))
}
