//! Findings with evidence: what binds, and what makes a number doubtful.
