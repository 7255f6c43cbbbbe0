//! What runs beside a case while it is measured.

use super::entries::{Entry, LOAD_LEAD_NS};
use super::placement::ends;
use super::roles;
use crate::plan::{Beside, Case, Plan, Role};
use crate::record::Recording;
use crate::vocabulary::Rung;

/// What runs beside an entry: a session a way, each with roles of its own.
pub(super) fn beside(plan: &Plan, entry: &Entry, recording: &Recording) -> Option<Box<Beside>> {
    let load = entry.load.as_ref()?;
    let of_way = |(pair, case): (u32, &Case)| {
        let one_way = Entry { case: case.clone(), rung: Rung::named(&case.rung)?, ..entry.clone() };
        let roles = roles(&one_way, &ends(plan, recording, case));
        Some(roles.into_iter().map(move |role| Role { pair, ..role }).collect::<Vec<_>>())
    };
    let roles = (0..).zip(&load.cases).filter_map(of_way).flatten().collect();
    let case = load.cases.first()?.clone();
    Some(Box::new(Beside { case, roles, message_bytes: load.message_bytes, lead_ns: LOAD_LEAD_NS }))
}
