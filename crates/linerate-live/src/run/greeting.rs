//! How long an agent may take to greet: it starts its workers and reads its host first, and a new one ends the one before.

use crate::control::Limit;
use std::time::{Duration, Instant};

/// How long an agent may take to answer `hello`: it reads all of its host's environment.
pub const HELLO: Duration = Duration::from_secs(60);

/// Until it has started its workers it says nothing, and over ssh until somebody is logged in: it is not asked before that is over
/// too.
pub const GREETS: Limit = Limit::expected(HELLO, EXPECTED);
const EXPECTED: Duration = Duration::from_secs(45);

/// How long after the time in which its host may come back a new agent may still take: it ends the one before.
const TAKES_OVER: Duration = Duration::from_secs(10);

/// How long a new agent may take, for whose host the others wait until then.
pub fn greets_again(until: Instant) -> Limit {
    let left = until.saturating_duration_since(Instant::now()) + TAKES_OVER;
    Limit::expected(left.min(HELLO), EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_back_greets_while_its_host_is_waited_for() {
        let in_time = |seconds: u64| greets_again(Instant::now() + Duration::from_secs(seconds)).most();
        assert_eq!(in_time(90), HELLO);
        assert!(in_time(10) <= 2 * TAKES_OVER && in_time(10) > TAKES_OVER);
        assert_eq!(greets_again(Instant::now()).most(), TAKES_OVER);
    }
}
