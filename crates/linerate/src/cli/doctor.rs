//! `linerate doctor`: what this host can do, what is missing, and how to get it.

use super::print;
use crate::Result;
use crate::lab;
use crate::observer::{Check, CheckState, doctor};
use crate::run::this_program;
use std::process::ExitCode;

/// Prints every check; what is in order takes one line, what is not takes two more.
pub fn main() -> Result<ExitCode> {
    let checks: Vec<Check> = lab_checks()?.into_iter().chain(doctor()).collect();
    for check in &checks {
        print(&line(check))?;
    }
    let limited = checks.iter().filter(|check| check.state != CheckState::Ok).count();
    print(&format!("\n{} of {} checks are in order\n", checks.len() - limited, checks.len()))?;
    Ok(ExitCode::SUCCESS)
}

fn line(check: &Check) -> String {
    let mark = match check.state {
        CheckState::Ok => "ok     ",
        CheckState::Limited => "limited",
        CheckState::Missing => "missing",
    };
    let first = format!("{mark}  {:<28} {}\n", check.name, check.found);
    if check.state == CheckState::Ok {
        return first;
    }
    let more = |text: &str| if text.is_empty() { String::new() } else { format!("         {text}\n") };
    first + &more(&check.matters) + &more(&check.hint)
}

/// Builds a scratch lab: nothing tells better whether one can be built.
fn lab_checks() -> Result<Vec<Check>> {
    let check = |name: &str, ok: bool, found: &str, matters: &str, hint: &str| Check {
        name: name.into(),
        state: if ok { CheckState::Ok } else { CheckState::Missing },
        found: found.into(),
        matters: matters.into(),
        hint: hint.into(),
    };
    let abilities = match lab::probe(&this_program()?) {
        Ok(abilities) => abilities,
        Err(error) => {
            let hint = error.hint().unwrap_or_default().to_owned();
            let matters = "without namespaces there is no `linerate run lab`; ssh:// targets work";
            return Ok(vec![check("lab", false, &error.to_string(), matters, &hint)]);
        }
    };
    let way = if abilities.user_namespace { "in a user namespace" } else { "as root" };
    Ok(vec![
        check("lab", true, &format!("two virtual hosts were built {way}"), "", ""),
        check(
            "lab: token bucket (tbf)",
            abilities.token_bucket,
            if abilities.token_bucket { "this kernel has it" } else { "not in this kernel" },
            "without it a lab cannot have a rate",
            "load the module sch_tbf",
        ),
        check(
            "lab: netem",
            abilities.netem,
            if abilities.netem { "this kernel has it" } else { "not in this kernel" },
            "nothing needs it yet",
            "load the module sch_netem",
        ),
    ])
}
