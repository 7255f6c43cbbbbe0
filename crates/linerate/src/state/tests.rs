//! Spreads from made-up histories, keys, broken files, and programs that write at once.
