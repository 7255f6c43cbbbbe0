//! The course of a screening: its rounds, a second look at cells, and the fresh trials of suspects.
//!
//! It knows numbers and hosts, no recording and no steps: a made-up cluster is screened by the same code as a real one.

use super::rounds::{around, half_shifts, half_steps, shifts, steps};
use crate::analysis::matrix::{
    Carries, FRESH, LOOKS, Part, Screened, Shots, Stage, Suspect, grouped_by, screened,
};
use crate::plan::{HostId, HostPair, Screening};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// A suspect that can never be placed must not keep the run going.
const MOST_LOADED: usize = 6 * FRESH;

/// Pairs of nobody who is suspect in each turn of suspects alone: what each suspect is compared with should not be as few as its own.
const CLEAN: usize = 2;

/// How often a pair at random is drawn before there is none.
const DRAWS: usize = 200;

/// Disjoint pairs that are measured at once, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// At which stage.
    pub stage: Stage,
    /// What its trials carry; none where all is measured.
    pub carries: Option<Carries>,
    /// The pairs.
    pub pairs: Vec<HostPair>,
}

/// How far it is: streams are looked into to the end, then round trips.
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// Shifts that are done.
    Screen(usize),
    /// Looks that are planned.
    Recheck(Carries, usize),
    /// Rounds with suspects, and how many trials each suspect has had in them.
    Loaded(Carries, usize, Vec<usize>),
    /// Trials of suspects alone: all at once.
    Alone(Carries),
    Done,
}

/// Chooses rounds.
#[derive(Debug, Clone)]
pub struct Course {
    /// What is asked; of what is looked into, with the groups that it shows.
    screening: Screening,
    asked: Screening,
    hosts: u32,
    shifts: Vec<u32>,
    phase: Phase,
    random: ChaCha8Rng,
}

impl Course {
    /// The course of so many hosts.
    pub fn new(screening: &Screening, hosts: u32, seed: u64) -> Course {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let chosen = if screening.bidirectional { half_shifts } else { shifts };
        let shifts = chosen(hosts, screening.rounds, &mut random);
        let [screening, asked] = [screening.clone(), screening.clone()];
        Course { screening, asked, hosts, shifts, phase: Phase::Screen(0), random }
    }

    /// How many rounds the screening has.
    pub fn screening_rounds(&self) -> usize {
        self.shifts.len()
    }

    /// The steps of the whole screening; what follows depends on what it shows.
    pub fn screening_steps(&self) -> usize {
        self.shifts.iter().map(|shift| self.steps(*shift).len()).sum()
    }

    fn steps(&self, shift: u32) -> Vec<Vec<HostPair>> {
        let steps = if self.screening.bidirectional { half_steps } else { steps };
        steps(self.hosts, shift)
    }

    /// The rounds that follow, without hosts that are lost; none at the end.
    pub fn further(&mut self, shots: &Shots, lost: &BTreeSet<HostId>) -> Vec<Round> {
        loop {
            let rounds = match self.phase.clone() {
                Phase::Screen(done) => self.screen(done, shots, lost),
                Phase::Recheck(carries, looks) => self.recheck(carries, looks, shots, lost),
                Phase::Loaded(carries, rounds, had) => self.loaded(carries, (rounds, had), shots, lost),
                Phase::Alone(carries) => self.alone(carries, shots, lost),
                Phase::Done => return Vec::new(),
            };
            if !rounds.is_empty() {
                return rounds;
            }
        }
    }

    /// Begins to look into what some trials carry, or what follows where there are none.
    fn begin(&mut self, carries: Option<Carries>, shots: &Shots) {
        let known = Carries::ALL.into_iter().find(|one| Some(*one) >= carries && shots.have(*one));
        let Some(carries) = known.filter(|_| carries.is_some()) else {
            self.phase = Phase::Done;
            return;
        };
        // What is asked from here on is asked of groups, where there are any.
        self.screening = grouped_by(carries, &self.asked, self.hosts as usize, shots);
        self.phase = Phase::Recheck(carries, 0);
    }

    /// Who stands apart in what these trials tell.
    fn screened(&self, carries: Carries, shots: &Shots) -> Vec<Screened> {
        let of = |metric| screened(metric, &self.screening, self.hosts as usize, shots.by(metric));
        carries.metrics().map(of).collect()
    }

    /// The same, each once.
    fn suspects(&self, carries: Carries, shots: &Shots) -> Vec<Suspect> {
        let mut all: Vec<Suspect> = Vec::new();
        for suspect in self.screened(carries, shots).into_iter().flat_map(|one| one.suspects) {
            if !all.iter().any(|one| one.part == suspect.part) {
                all.push(suspect);
            }
        }
        all
    }

    fn screen(&mut self, done: usize, shots: &Shots, lost: &BTreeSet<HostId>) -> Vec<Round> {
        let Some(shift) = self.shifts.get(done).copied() else {
            self.begin(Some(Carries::Streams), shots);
            return Vec::new();
        };
        self.phase = Phase::Screen(done + 1);
        let is_left = |pair: &HostPair| !lost.contains(&pair.from) && !lost.contains(&pair.to);
        let of_step = |pairs: Vec<HostPair>| Round {
            stage: Stage::Screen,
            carries: None,
            pairs: pairs.into_iter().filter(is_left).collect(),
        };
        let rounds = self.steps(shift).into_iter().map(of_step);
        rounds.filter(|round| !round.pairs.is_empty()).collect()
    }

    /// Each cell that stood apart once more, as many at once as are disjoint, among others at random.
    fn recheck(
        &mut self,
        carries: Carries,
        looks: usize,
        shots: &Shots,
        lost: &BTreeSet<HostId>,
    ) -> Vec<Round> {
        if looks == LOOKS {
            self.phase = Phase::Loaded(carries, 0, Vec::new());
            return Vec::new();
        }
        self.phase = Phase::Recheck(carries, looks + 1);
        let screened = self.screened(carries, shots);
        let unseen = screened.iter().flat_map(|one| &one.unseen).filter_map(|one| one.part.ends());
        let mut left: Vec<HostPair> = Vec::new();
        for pair in unseen.filter(|pair| !lost.contains(&pair.from) && !lost.contains(&pair.to)) {
            if !left.contains(&pair) {
                left.push(pair);
            }
        }
        let mut rounds = Vec::new();
        while !left.is_empty() {
            let mut taken = BTreeSet::new();
            let (now, later) = left.into_iter().partition(|pair: &HostPair| {
                !taken.contains(&pair.from) && !taken.contains(&pair.to) && {
                    taken.extend([pair.from, pair.to]);
                    true
                }
            });
            left = later;
            let pairs = around(now, &self.left(lost), &mut self.random);
            rounds.push(Round { stage: Stage::Recheck, carries: Some(carries), pairs });
        }
        rounds
    }

    fn left(&self, lost: &BTreeSet<HostId>) -> Vec<HostId> {
        (0..self.hosts).map(|host| HostId(host as u16)).filter(|host| !lost.contains(host)).collect()
    }

    /// One round with as many suspects as can be in it, those first that had fewest trials; the others are its load.
    fn loaded(
        &mut self,
        carries: Carries,
        (rounds, mut had): (usize, Vec<usize>),
        shots: &Shots,
        lost: &BTreeSet<HostId>,
    ) -> Vec<Round> {
        let suspects = self.suspects(carries, shots);
        had.resize(suspects.len(), 0);
        let needs = |at: &usize| had[*at] < FRESH;
        let mut wanting: Vec<usize> = (0..suspects.len()).filter(needs).collect();
        if wanting.is_empty() || rounds == MOST_LOADED {
            self.phase = Phase::Alone(carries);
            return Vec::new();
        }
        wanting.sort_by_key(|at| had[*at]);
        let mut free: BTreeSet<HostId> = self.left(lost).into_iter().collect();
        let mut pairs = Vec::new();
        for at in wanting {
            if let Some(pair) = self.pair_of(suspects[at].part, &suspects, &free) {
                free.remove(&pair.from);
                free.remove(&pair.to);
                had[at] += 1;
                pairs.push(pair);
            }
        }
        let is_nobody = pairs.is_empty();
        self.phase = if is_nobody { Phase::Alone(carries) } else { Phase::Loaded(carries, rounds + 1, had) };
        let pairs = around(pairs, &self.left(lost), &mut self.random);
        // Nobody else is there: it would be alone.
        if is_nobody || pairs.len() < 2 {
            return Vec::new();
        }
        vec![Round { stage: Stage::Loaded, carries: Some(carries), pairs }]
    }

    /// Suspects in turns with pairs that are none, in an order at random each time.
    fn alone(&mut self, carries: Carries, shots: &Shots, lost: &BTreeSet<HostId>) -> Vec<Round> {
        let suspects = self.suspects(carries, shots);
        let free: BTreeSet<HostId> = self.left(lost).into_iter().collect();
        let mut rounds = Vec::new();
        let turns = if suspects.is_empty() { 0 } else { FRESH };
        for _ in 0..turns {
            let mut turn: Vec<HostPair> =
                suspects.iter().filter_map(|one| self.pair_of(one.part, &suspects, &free)).collect();
            for _ in 0..CLEAN {
                turn.extend(self.clean_pair(&suspects, &free));
            }
            turn.shuffle(&mut self.random);
            let of_pair = |pair| Round { stage: Stage::Alone, carries: Some(carries), pairs: vec![pair] };
            rounds.extend(turn.into_iter().map(of_pair));
        }
        let next = Carries::ALL.into_iter().find(|one| *one > carries);
        self.begin(next, shots);
        rounds
    }

    /// A pair of these hosts that shows this suspect, and where that can be no other one.
    fn pair_of(&mut self, part: Part, suspects: &[Suspect], free: &BTreeSet<HostId>) -> Option<HostPair> {
        let is_turned = part.is_of_both_ways() && self.random.random::<bool>();
        let turned =
            |pair: HostPair| if is_turned { HostPair { from: pair.to, to: pair.from } } else { pair };
        if let Some(pair) = part.ends() {
            return (free.contains(&pair.from) && free.contains(&pair.to)).then_some(turned(pair));
        }
        let (from, to) = self.ends(part, free);
        let screening = &self.screening;
        let shown = |pair: HostPair| suspects.iter().filter(move |one| one.part.is_shown_by(pair, screening));
        let shows_it_alone = |pair: HostPair| part.is_shown_by(pair, screening) && shown(pair).count() == 1;
        let shows_it = |pair: HostPair| part.is_shown_by(pair, screening);
        let mut random = self.random.clone();
        // A host of a group that is slow has no other pairs than that group's.
        let drawn =
            draw(&from, &to, shows_it_alone, &mut random).or_else(|| draw(&from, &to, shows_it, &mut random));
        self.random = random;
        drawn.map(turned)
    }

    /// A pair of these hosts that shows no suspect.
    fn clean_pair(&mut self, suspects: &[Suspect], free: &BTreeSet<HostId>) -> Option<HostPair> {
        let all: Vec<HostId> = free.iter().copied().collect();
        let is_clean = |pair: HostPair| {
            !suspects.iter().any(|one| {
                one.part.is_shown_by(pair, &self.screening) || one.part.holds_both(pair, &self.screening)
            })
        };
        let mut random = self.random.clone();
        let drawn = draw(&all, &all, is_clean, &mut random);
        self.random = random;
        drawn
    }

    /// The hosts that a part may have at either end.
    fn ends(&self, part: Part, free: &BTreeSet<HostId>) -> (Vec<HostId>, Vec<HostId>) {
        let all = || free.iter().copied();
        let members = |group: usize| all().filter(move |host| self.screening.group_of(*host) == Some(group));
        let only = |host: HostId| all().filter(|one| *one == host).collect::<Vec<_>>();
        match part {
            Part::Sends(host) | Part::Exchanges(host) => (only(host), all().collect()),
            Part::Receives(host) => (all().collect(), only(host)),
            Part::GroupSends(group) | Part::GroupExchanges(group) => {
                (members(group).collect(), all().collect())
            }
            Part::GroupReceives(group) => (all().collect(), members(group).collect()),
            Part::Link(pair) | Part::Path(pair) => (only(pair.from), only(pair.to)),
        }
    }
}

/// Two different hosts at random of which this holds.
fn draw(
    from: &[HostId],
    to: &[HostId],
    holds: impl Fn(HostPair) -> bool,
    random: &mut ChaCha8Rng,
) -> Option<HostPair> {
    (0..DRAWS).find_map(|_| {
        let pair = HostPair { from: *from.choose(random)?, to: *to.choose(random)? };
        (pair.from != pair.to && holds(pair)).then_some(pair)
    })
}
