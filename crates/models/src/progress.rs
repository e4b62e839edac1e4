//! The progress of a call. A caller that ends a call early reads the usage from it.

use crate::chat::Usage;
use std::sync::{Arc, Mutex, PoisonError};

/// The received part of an answer, complete or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// The provider's counts so far. A count that it has not reported is zero.
    pub usage: Usage,
    /// The bytes of text, reasoning and tool calls, including calls that are incomplete.
    pub bytes: usize,
}

/// The progress of one call. Clones share the same progress.
#[derive(Clone, Debug, Default)]
pub struct CallProgress(Arc<Mutex<Option<Arrived>>>);

impl CallProgress {
    /// Returns the received part, or `None` unless the provider has accepted the request.
    pub fn arrived(&self) -> Option<Arrived> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, arrived: Option<Arrived>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = arrived;
    }
}
