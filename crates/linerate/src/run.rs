//! Executes one step: offer, join, warm up, trial, observe, emit.
