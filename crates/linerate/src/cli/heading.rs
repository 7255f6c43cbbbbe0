//! The headings under which the help shows options.

pub const WHAT: &str = "What is measured";
pub const HOSTS: &str = "How the hosts are reached";
pub const OUTPUT: &str = "What comes of it";
