//! Programs on this machine: found, run without a shell, and ended with whoever waits for them.

/// Runs programs.
#[derive(Clone, Debug)]
pub(crate) struct Programs;
