//! How each end of an application in small is played, as patterns have them.
//!
//! | application | what it is |
//! |---|---|
//! | [`monitor`] | every node is asked for its state |
//! | [`pipeline`] | filters that are joined by streams of buffers |
//! | [`striped`] | a file in stripes on several servers |
//! | [`mod@file`] | a file that is moved |

use super::application::{Answers, Order, PairEnd};
use super::{file, monitor, pipeline, striped};
use crate::pattern::Awake;
use crate::plan::Block;
use crate::vocabulary::Does;
use crate::{Error, Result};

type Play = fn(&mut [PairEnd<'_>], &Order, &[Block]) -> Result<Answers>;

/// How each end is played.
const ENDS: &[(Does, Play)] = &[
    (Does::Collects, monitor::collect),
    (Does::Reports, monitor::report),
    (Does::Stages, pipeline::run_stages),
    (Does::Serves, striped::serve),
    (Does::Keeps, striped::serve),
    (Does::Fetches, striped::use_file),
    (Does::Stores, striped::use_file),
    (Does::FetchesTile, striped::use_file),
    (Does::StoresTile, striped::use_file),
    (Does::Moves, file::move_files),
    (Does::Takes, file::take_files),
];

/// Plays all sessions of this end. Where it fails, they are closed: other ends may wait for them.
pub fn play(pair_ends: &mut [PairEnd<'_>], order: &Order, blocks: &[Block]) -> Result<Answers> {
    let does = pair_ends.first().map(|pair_end| pair_end.task.does);
    let end = ENDS.iter().find(|(of, _)| Some(*of) == does);
    let unknown = || Error::usage("no application does this", "are both of the same version?");
    let cpus: Vec<u32> = pair_ends.iter().flat_map(|pair_end| &pair_end.task.cpus).copied().collect();
    // Its ends sleep.
    let awake = Awake::keep(&cpus);
    let mut played = end.ok_or_else(unknown).and_then(|(_, play)| play(pair_ends, order, blocks));
    match &mut played {
        Ok(answers) => {
            answers.iter_mut().flatten().flatten().for_each(|one| one.kept_awake = awake.is_some());
        }
        Err(_) => pair_ends.iter_mut().for_each(|pair_end| pair_end.session.hang_up()),
    }
    played
}
