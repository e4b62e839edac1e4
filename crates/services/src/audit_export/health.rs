//! Failures to copy the audit log to a target. Logs the beginning and the end of each failure.

use super::Target;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last failure of each target, if it has not ended.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<[Option<String>; 2]>);

const fn place(target: Target) -> usize {
    match target {
        Target::File => 0,
        Target::Syslog => 1,
    }
}

impl Health {
    fn lock(&self) -> MutexGuard<'_, [Option<String>; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, target: Target) -> Option<String> {
        self.lock().get(place(target)).cloned().flatten()
    }

    pub(super) fn note(&self, target: Target, error: Option<String>) {
        let setting = target.setting();
        match (self.replace(target, error.clone()), error) {
            (None, Some(error)) => tracing::error!(
                setting,
                %error,
                "the audit log cannot be copied; the records stay in the database, and are copied as soon as possible"
            ),
            (Some(_), None) => tracing::info!(setting, "copying the audit log works again"),
            _ => {}
        }
    }

    /// Deletes the failure of a target. Call it when the target is turned off.
    pub(super) fn forget(&self, target: Target) {
        self.replace(target, None);
    }

    fn replace(&self, target: Target, error: Option<String>) -> Option<String> {
        let mut all = self.lock();
        let known = all.get_mut(place(target))?;
        std::mem::replace(known, error)
    }
}
