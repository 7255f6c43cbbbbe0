//! What is to be launched: the ranks, where each is started, and the words that say so to a launcher.

use super::{Found, ProcessEnvironment, outside_of_jobs};
use crate::vocabulary::{Launch, Ranks};
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A rank that is to be started.
#[derive(Debug, Clone)]
pub struct RankSpec {
    /// This program, on the rank's host.
    pub program: PathBuf,
    /// The library there.
    pub file: PathBuf,
    /// The name that picks it.
    pub name: String,
    /// Its ABI; none of what is no MPI.
    pub abi: Option<String>,
    /// Its version, as it says it.
    pub version: String,
    /// How many ranks it has.
    pub ranks: u32,
    /// The host's address and the interface that has it; none where both ranks are on one host.
    pub at: Option<(Ipv4Addr, String)>,
}

/// What is to be launched.
pub struct LaunchRequest<'r> {
    /// The library of this host.
    pub found: &'r Found,
    /// How it starts its ranks.
    pub recipe: &'static Launch,
    /// Where they are started.
    pub rank_specs: &'r [RankSpec; 2],
    /// What each program is told, before its homes.
    pub words: [Vec<OsString>; 2],
    /// What the library is told beside the recipe.
    pub variables: &'r [(String, String)],
}

impl LaunchRequest<'_> {
    /// The launcher with all ranks behind each other.
    pub fn command(&self, launcher: &Path, homes: &[&str]) -> Command {
        let mut command = Command::new(launcher);
        outside_of_jobs(&mut command, &ProcessEnvironment::of_this_process());
        command.args(self.arguments());
        for number in 0..self.rank_specs.len() {
            command.args((number > 0).then_some(":")).args(self.rank(number, homes));
        }
        command
    }

    pub fn ranks(&self) -> &'static Ranks {
        if self.rank_specs[0].at.is_some() { &self.recipe.across } else { &self.recipe.within }
    }

    /// What stands before the first rank.
    pub fn arguments(&self) -> Vec<String> {
        unsaid(self.ranks().arguments, self.variables).iter().map(|word| self.filled(word, 0)).collect()
    }

    /// The words of the ranks of a place.
    pub fn rank(&self, number: usize, homes: &[&str]) -> Vec<OsString> {
        let each = unsaid(self.ranks().each, self.variables);
        let mut words: Vec<OsString> = each.iter().map(|word| self.filled(word, number).into()).collect();
        let names = self.variables.iter().map(|(name, _)| name.as_str());
        let exported = names.flat_map(|name| self.ranks().export.map(|word| [word, name])).flatten();
        words.extend(exported.map(OsString::from));
        words.push(self.rank_specs[number].program.clone().into());
        words.extend(self.words[number].iter().cloned());
        words.extend(homes.iter().map(OsString::from));
        words
    }

    /// How many ranks a place has.
    pub fn ranks_at(&self, number: usize) -> u32 {
        self.rank_specs[number].ranks
    }

    /// The address of each host.
    pub fn hosts(&self) -> Vec<String> {
        let addresses =
            self.rank_specs.iter().filter_map(|rank_spec| Some(rank_spec.at.as_ref()?.0.to_string()));
        addresses.collect()
    }

    /// A launcher's word, with what it needs to know of the hosts.
    pub fn filled(&self, template: &str, number: usize) -> String {
        let [near, far] = self.rank_specs;
        let own = &self.rank_specs[number];
        let address = |rank_spec: &RankSpec| {
            rank_spec.at.as_ref().map_or(String::new(), |(address, _)| address.to_string())
        };
        let interface = own.at.as_ref().map_or("", |(_, interface)| interface);
        let marks = [
            ("{near}", address(near)),
            ("{far}", address(far)),
            ("{address}", address(own)),
            ("{interface}", interface.into()),
            ("{number}", number.to_string()),
            ("{ranks}", own.ranks.to_string()),
            ("{all}", (near.ranks + far.ranks).to_string()),
            ("{shell}", near.program.display().to_string()),
        ];
        marks.iter().fold(template.to_owned(), |word, (mark, value)| word.replace(mark, value))
    }
}

/// A launcher's words without the variables that were said as they are: by such words they would lose.
fn unsaid(words: &[&'static str], variables: &[(String, String)]) -> Vec<&'static str> {
    let mut left = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let is_said = |name: &str| variables.iter().any(|(said, _)| said == name);
        let is_assigned = |next: &str| next.split_once('=').is_some_and(|(name, _)| is_said(name));
        match word {
            "-env" | "-genv" if words.clone().next().is_some_and(is_said) => drop(words.nth(1)),
            "-x" if words.clone().next().is_some_and(is_assigned) => drop(words.next()),
            _ => left.push(word),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_repeats_no_variable() {
        let words = ["-n", "1", "-env", "A", "1", "-genv", "B", "2", "-x", "C=3"];
        let said = |names: &[&str]| {
            let variables: Vec<_> = names.iter().map(|name| ((*name).to_owned(), String::new())).collect();
            unsaid(&words, &variables).join(" ")
        };
        assert_eq!(said(&[]), "-n 1 -env A 1 -genv B 2 -x C=3");
        assert_eq!(said(&["A"]), "-n 1 -genv B 2 -x C=3");
        assert_eq!(said(&["A", "B", "C"]), "-n 1");
    }
}
