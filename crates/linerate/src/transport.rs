//! Opens a session between roles on hosts; says what this host can do, and if not why.
