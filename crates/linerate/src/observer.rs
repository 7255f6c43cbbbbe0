//! Watches a host during a trial without touching the data path.
