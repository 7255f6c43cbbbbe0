//! What acts as the user of the program in the tests, and looks at what that left.

pub mod disturbed;
pub mod kept;
pub mod nobody;
pub mod packets;
pub mod ranks;
pub mod runs;
