//! Programs on this machine: found, run without a shell, and ended with whoever waits for them.

use crate::settings::VoiceSettings;

/// Runs programs.
#[derive(Clone, Debug)]
pub(crate) struct Programs;

impl Programs {
    pub(crate) fn new(_: &VoiceSettings) -> Self {
        Self
    }
}
