//! The outcome of the last request to each provider, as seen by this process.

use crate::VoiceError;
use crate::attempt::Attempt;
use gatehouse_domain::{Clock, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The outcome of the last request to a provider since the start of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LastUse {
    /// When the provider had answered, or failed.
    pub at: Timestamp,
    pub ok: bool,
    /// The error code, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The error message, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The outcomes by the section of the settings (`tts` or `stt`) and the provider's ID.
#[derive(Clone)]
pub(crate) struct LastUses {
    clock: Arc<dyn Clock>,
    outcomes: Arc<Mutex<BTreeMap<(&'static str, &'static str), LastUse>>>,
}

impl LastUses {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            outcomes: Arc::default(),
        }
    }

    /// Records an outcome, unless it was not about the provider, such as an invalid request.
    pub(crate) fn record<T>(
        &self,
        (section, provider): (&'static str, &'static str),
        ended: &Result<T, VoiceError>,
    ) {
        let attempt = match ended {
            Ok(_) => Attempt::good(provider),
            Err(error) if error.is_providers() => Attempt::failed(provider, error),
            Err(_) => return,
        };
        let outcome = LastUse {
            at: self.clock.now(),
            ok: attempt.ok,
            code: attempt.code,
            message: attempt.message,
        };
        self.lock().insert((section, provider), outcome);
    }

    pub(crate) fn find(&self, section: &'static str, provider: &'static str) -> Option<LastUse> {
        self.lock().get(&(section, provider)).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<(&'static str, &'static str), LastUse>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LastUses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastUses").finish_non_exhaustive()
    }
}
