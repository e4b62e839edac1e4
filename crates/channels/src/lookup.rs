//! Looks up the account of a target, for queues that decide whether to send.

use crate::handle::{Channels, Inner};
use crate::senders;
use crate::target::TargetError;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

/// The account that a target names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetAccount {
    pub id: String,
    pub label: String,
    pub is_enabled: bool,
    /// Whether messages stay on this machine and no vendor is called.
    pub is_local: bool,
}

/// A mark that changes when the account is changed or tested, or when it accepts a message that is
/// not a delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountMark {
    updated_at: Timestamp,
    tested_at: Option<Timestamp>,
    accepted: u64,
}

impl Inner {
    fn accepted(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note_accepted(&self, account: &str) {
        let mut all = self.accepted();
        let count = all.entry(account.to_owned()).or_default();
        *count = count.wrapping_add(1);
    }
}

impl Channels {
    /// Returns the name that the owner gave to the account for `type` or `type:account_id`. Returns `None` if the
    /// account does not exist or cannot be read.
    pub async fn label_of(&self, target: &str) -> Option<String> {
        if let Some(sender) = senders::built_in_id(target) {
            return Some(sender.about().label.to_owned());
        }
        let live = self.0.find_target(target).await.ok()?;
        Some(live.found.row.label.clone())
    }

    /// Returns a mark of each enabled account. Two marks of an account differ if any node changed the account or tested
    /// it with success in between. They also differ if this node sent a message with it that is not a delivery.
    pub async fn enabled_accounts(&self) -> Result<HashMap<String, AccountMark>, StoreError> {
        let accounts = self.0.live_accounts().await?;
        let accepted = self.0.accepted();
        let enabled = accounts.all().filter(|account| account.found.row.enabled);
        let marks = enabled.map(|account| {
            let row = &account.found.row;
            let mark = AccountMark {
                updated_at: row.updated_at,
                tested_at: row.tested_at,
                accepted: accepted.get(&row.id).copied().unwrap_or(0),
            };
            (row.id.clone(), mark)
        });
        Ok(marks.collect())
    }

    /// Finds the account for `type` or `type:account_id`. Returns `None` if it does not exist.
    pub async fn find_target_account(
        &self,
        target: &str,
    ) -> Result<Option<TargetAccount>, StoreError> {
        if let Some(sender) = senders::built_in_id(target) {
            return Ok(Some(TargetAccount {
                id: sender.about().kind.to_owned(),
                label: sender.about().label.to_owned(),
                is_enabled: true,
                is_local: true,
            }));
        }
        match self.0.find_target(target).await {
            Ok(found) => Ok(Some(TargetAccount {
                is_enabled: found.found.row.enabled,
                is_local: found.found.sender.about().built_in,
                id: found.found.row.id.clone(),
                label: found.found.row.label.clone(),
            })),
            Err(TargetError::Store(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
