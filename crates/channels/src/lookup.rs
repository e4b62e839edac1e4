//! Looks up the account behind a target, for queues that decide whether to send.

use crate::handle::Channels;
use crate::senders;
use crate::target::TargetError;
use gatehouse_store::StoreError;

/// The account that a target names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetAccount {
    pub id: String,
    pub is_enabled: bool,
    /// Whether messages stay on this machine, so that no vendor is called.
    pub is_local: bool,
}

impl Channels {
    /// Returns the name that the owner gave to the account for `type` or `type:account_id`; `None` if the account does
    /// not exist or cannot be read.
    pub async fn label_of(&self, target: &str) -> Option<String> {
        if let Some(sender) = senders::built_in_id(target) {
            return Some(sender.about().label.to_owned());
        }
        let live = self.0.find_target(target).await.ok()?;
        Some(live.found.row.label.clone())
    }

    /// Finds the account for `type` or `type:account_id`; `None` if it does not exist.
    pub async fn find_target_account(
        &self,
        target: &str,
    ) -> Result<Option<TargetAccount>, StoreError> {
        if let Some(sender) = senders::built_in_id(target) {
            return Ok(Some(TargetAccount {
                id: sender.about().kind.to_owned(),
                is_enabled: true,
                is_local: true,
            }));
        }
        match self.0.find_target(target).await {
            Ok(found) => Ok(Some(TargetAccount {
                is_enabled: found.found.row.enabled,
                is_local: found.found.sender.about().built_in,
                id: found.found.row.id.clone(),
            })),
            Err(TargetError::Store(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
