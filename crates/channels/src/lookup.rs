//! What a queue needs to know of the account behind a target before it sends.

use crate::handle::Channels;
use crate::senders;
use crate::target::TargetError;
use gatehouse_store::StoreError;

/// The account that a target names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetAccount {
    /// Its id.
    pub id: String,
    /// Whether messages may be sent with it.
    pub is_enabled: bool,
    /// Whether its messages stay on this machine: no vendor can be slow.
    pub is_local: bool,
}

impl Channels {
    /// The account that `type` or `type:account_id` names; `None` when there is none.
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
