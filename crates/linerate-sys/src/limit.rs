//! What a process may have of something (getrlimit(2)).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process have at least so many descriptors, as far as it may itself: the limit in force is raised
/// to the hard one. Gives the limit that holds then.
pub fn allow_descriptors(wanted: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    let (current, maximum) = (now.current.unwrap_or(u64::MAX), now.maximum.unwrap_or(u64::MAX));
    if current >= wanted {
        return current;
    }
    // Where it is refused the limit stays, which the answer says.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(maximum)
}

/// Lets this process and those that it starts have at most so many descriptors: some close every possible one when
/// they start.
pub fn bound_descriptors(most: u64) {
    let now = getrlimit(Resource::Nofile);
    let bounded = Rlimit { current: Some(now.current.map_or(most, |it| it.min(most))), maximum: now.maximum };
    // Where it is refused they take longer.
    let _ = setrlimit(Resource::Nofile, bounded);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_it_may_be() {
        let before = getrlimit(Resource::Nofile);
        let hard = before.maximum.unwrap_or(u64::MAX);
        let low = Rlimit { current: Some(200.min(hard)), maximum: before.maximum };
        setrlimit(Resource::Nofile, low).unwrap();
        assert_eq!(allow_descriptors(100), 200.min(hard));
        assert_eq!(allow_descriptors(201.min(hard)), hard);
        assert_eq!(allow_descriptors(u64::MAX), hard);
        bound_descriptors(100);
        assert_eq!(getrlimit(Resource::Nofile).current, Some(100.min(hard)));
        setrlimit(Resource::Nofile, before).unwrap();
    }
}
