//! The words that a plan gives to its cases and to levels of factors, in place of those that are derived.

use super::check::{SuiteError, check_factor};
use super::{Factor, Suite, SuiteCase, Words, written};
use crate::vocabulary::did_you_mean;
use std::collections::BTreeSet;

/// The longest word: a legend has the width of a column.
const LONGEST: usize = 60;

type Checked = Result<(), SuiteError>;

/// Every word of a plan: what it says, and that it is for a level that there is.
pub(super) fn check(suite: &Suite) -> Checked {
    for case in &suite.cases {
        for (key, text) in [("label", &case.label), ("group", &case.group)] {
            text.as_ref()
                .map_or(Ok(()), |text| check_text(&format!("case `{}`: its {key}", case.id), text))?;
        }
    }
    check_words(suite, "label", &suite.label)?;
    check_words(suite, "group", &suite.group)
}

fn check_words(suite: &Suite, key: &str, words: &Words) -> Checked {
    for (factor, levels) in words {
        check_factor(key, factor)?;
        let place = format!("{key}.{factor}");
        for (level, text) in levels {
            check_level(suite, &place, factor, level)?;
            check_text(&format!("{place}: `{level}`"), text)?;
        }
    }
    Ok(())
}

fn check_text(what: &str, text: &str) -> Checked {
    let wrong = match text {
        text if text.trim().is_empty() => "is empty",
        text if text.chars().any(char::is_control) => "is no line of text",
        text if text.chars().count() > LONGEST => "is longer than 60 characters",
        _ => return Ok(()),
    };
    Err(SuiteError::new(format!("{what} {wrong}"), "a few words, as a legend has them"))
}

/// Levels that only the hosts tell (who sends, what runs beside) are not known here.
fn check_level(suite: &Suite, place: &str, factor: &str, level: &str) -> Checked {
    if factor == Factor::Case.entry().name {
        return suite.check_id(place, level);
    }
    let of_cases = |levels: fn(&SuiteCase) -> Vec<String>| suite.cases.iter().flat_map(levels).collect();
    let known: BTreeSet<String> = match LEVELS.iter().find(|(known, _)| known.entry().name == factor) {
        Some((_, levels)) => of_cases(*levels),
        None => return Ok(()),
    };
    match known.contains(level) {
        true => Ok(()),
        false => Err(SuiteError::new(
            format!("{place}: no case has the level `{level}`"),
            did_you_mean(known.iter().map(String::as_str), level, "see the cases of the plan"),
        )),
    }
}

/// The levels that the cases of a plan state.
type Levels = fn(&SuiteCase) -> Vec<String>;

const LEVELS: &[(Factor, Levels)] = &[
    (Factor::Rung, |case| case.rung.clone()),
    (Factor::Pattern, |case| vec![case.pattern.to_string()]),
    (Factor::Wait, |case| case.waits().iter().map(ToString::to_string).collect()),
    (Factor::Settings, |case| {
        let all = case.settings();
        all.into_iter().map(|(name, settings)| written(name.as_deref(), &settings)).collect()
    }),
];
