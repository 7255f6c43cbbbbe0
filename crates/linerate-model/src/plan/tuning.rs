//! A search for settings that gain: how candidates are raced, and how the arms of a plan stand upon each other in it.

use super::{Arm, Comparison, Plan, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Blocks after which a race leaves out who is beaten: the least number in which one of two can win all and luck has had
/// less than one chance in twenty.
pub const SCREENING_BLOCKS: u32 = 5;

/// Blocks of a whole race: of 2 to the 12 ways in which they may fall out, so few are as far out that 40 candidates leave
/// room for a proof.
pub const RACE_BLOCKS: u32 = 12;

/// The numbers of a round's blocks begin anew at a multiple of this, so that a recording tells its rounds apart.
pub const BLOCKS_OF_ROUND: u32 = 100;

/// How settings are searched for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuning {
    /// What decides, and by what margin. Its blocks are those of a whole race.
    pub comparison: Comparison,
    /// Blocks after which who is beaten is left out.
    pub screening: u32,
    /// Whether settings of the hosts may be changed.
    #[serde(default, skip_serializing_if = "is_not")]
    pub hosts: bool,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

/// Arms of a plan upon each other, the first one below: what was accepted, and what is tried upon it. A case's `arm` is its
/// number, of which each arm is a digit, so that one arm alone has its own number and nothing has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stack(Vec<u32>);

impl Stack {
    /// What a digit counts: so many arms can be told apart, and nothing.
    const RADIX: u32 = 64;
    /// The most arms upon each other whose number has 32 bits.
    pub const MOST_LAYERS: usize = 5;
    /// The most arms of a plan that are searched.
    pub const MOST_ARMS: usize = Self::RADIX as usize - 1;

    /// The arms behind a number.
    pub fn from_number(number: u32) -> Stack {
        let digits = (0..Self::MOST_LAYERS as u32).map(|place| number / Self::RADIX.pow(place) % Self::RADIX);
        Stack(digits.take_while(|digit| *digit > 0).collect())
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        let layers = self.0.iter().take(Self::MOST_LAYERS).rev();
        layers.fold(0, |number, arm| number * Self::RADIX + arm % Self::RADIX)
    }

    /// The arms, the first one below.
    pub fn arms(&self) -> &[u32] {
        &self.0
    }

    /// Whether one more arm can stand upon it.
    pub fn has_room(&self) -> bool {
        self.0.len() < Self::MOST_LAYERS
    }

    /// With one more arm upon it.
    #[must_use]
    pub fn with(&self, arm: u32) -> Stack {
        Stack(self.0.iter().copied().chain([arm]).collect())
    }

    /// Without one of its arms.
    #[must_use]
    pub fn without(&self, arm: u32) -> Stack {
        Stack(self.0.iter().copied().filter(|one| *one != arm).collect())
    }

    /// The arm upon this one in the other, where it has just one more.
    pub fn beneath(&self, other: &Stack) -> Option<u32> {
        let (top, below) = other.0.split_last()?;
        (below == self.0).then_some(*top)
    }
}

impl Plan {
    /// The arms whose settings hold in a case's arm, the first one below; none of the plan as it stands.
    pub fn layers(&self, arm: u32) -> Vec<&Arm> {
        let one = |number: u32| self.arms.get((number as usize).checked_sub(1)?);
        match &self.view {
            View::Tuning { .. } => {
                Stack::from_number(arm).arms().iter().filter_map(|arm| one(*arm)).collect()
            }
            View::Ladder(_) | View::Suites(_) | View::Comparison { .. } | View::Matrix { .. } => {
                one(arm).into_iter().collect()
            }
        }
    }

    /// What a case's arm is called; none of the plan as it stands.
    pub fn arm_name(&self, arm: u32) -> Option<String> {
        let names: Vec<&str> = self.layers(arm).into_iter().map(|arm| arm.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" + "))
    }

    /// The search that it asks for; none of other plans.
    pub fn tuning(&self) -> Option<&Tuning> {
        match &self.view {
            View::Tuning { design, .. } => Some(design),
            View::Ladder(_) | View::Suites(_) | View::Comparison { .. } | View::Matrix { .. } => None,
        }
    }

    /// Whether settings of hosts may be changed.
    pub fn may_change_hosts(&self) -> bool {
        match &self.view {
            View::Tuning { design, .. } => design.hosts,
            View::Comparison { design, .. } => design.hosts,
            View::Ladder(_) | View::Suites(_) | View::Matrix { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_tells_its_arms() {
        for arms in [&[][..], &[1], &[63], &[7, 1], &[63, 63, 63, 63, 63]] {
            let stack = arms.iter().fold(Stack::default(), |stack, arm| stack.with(*arm));
            assert_eq!(Stack::from_number(stack.number()), stack, "{arms:?}");
        }
        assert_eq!(Stack::default().with(9).number(), 9, "one arm alone has its own number");
        let full = Stack::from_number(64 * 64 + 2 * 64 + 3);
        assert_eq!(full.arms(), [3, 2, 1]);
        assert_eq!((full.without(2).arms(), full.has_room()), (&[3, 1][..], true));
        assert_eq!(Stack::from_number(u32::MAX).arms().len(), Stack::MOST_LAYERS);
    }

    #[test]
    fn what_stands_upon_another_has_one_more() {
        let (none, one, two) = (Stack::default(), Stack::default().with(4), Stack::default().with(4).with(2));
        assert_eq!((none.beneath(&one), one.beneath(&two)), (Some(4), Some(2)));
        assert_eq!([none.beneath(&none), none.beneath(&two), two.beneath(&one)], [None; 3]);
    }
}
