//! Analysis and findings to text, JSON and CSV; returns bytes, touches nothing.
