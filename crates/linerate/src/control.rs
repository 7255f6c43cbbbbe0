//! Agents agree on a case, start and end, on any byte stream; never on the measured path.
