//! Detects several accounts for the same messages, such as two channels with the token of one bot. Only the oldest
//! account receives. Otherwise, all accounts would answer each message, or each account would receive only a part of
//! the messages.

use crate::error::Failure;
use crate::handle::Inner;
use crate::receive::{ReceiveError, receiver_of};
use crate::receivers::Receiver;
use crate::target::OpenAccount;
use gatehouse_domain::{Timestamp, visible};
use std::time::Duration;

/// The delay before the other accounts are compared again.
const COMPARED_AGAIN: Duration = Duration::from_secs(30);

impl Inner {
    /// Fails if an older account receives the same messages.
    pub(crate) async fn check_only_receiver(
        &self,
        own: &OpenAccount,
        receiver: &'static dyn Receiver,
    ) -> Result<(), ReceiveError> {
        match self.first_receiver(own, receiver).await? {
            Some((id, label)) if id != own.id => {
                let label = visible::line(&label).text;
                let why = format!(
                    "The channel {label} already receives these messages. Turn off receiving in one of the two \
                     channels."
                );
                Err(ReceiveError::Later {
                    after: Some(COMPARED_AGAIN),
                    why,
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the ID and the name of the oldest account that receives the same messages as this one, possibly this one
    /// itself. Returns `None` if the account lacks a value.
    async fn first_receiver(
        &self,
        own: &OpenAccount,
        receiver: &'static dyn Receiver,
    ) -> Result<Option<(String, String)>, Failure> {
        let source = self.source(own);
        let Some(inbox) = receiver.inbox(&source) else {
            return Ok(None);
        };
        let accounts = self.live_accounts().await?;
        let mut first: Option<((Timestamp, &String), &String)> = None;
        for account in accounts.all() {
            let row = &account.found.row;
            if row.kind != own.sender.about().kind || receiver_of(account).is_none() {
                continue;
            }
            // An account that cannot be opened receives nothing.
            let Ok(opened) = account.open(self).await else {
                continue;
            };
            if receiver.inbox(&self.source(&opened)).as_ref() != Some(&inbox) {
                continue;
            }
            let age = (row.created_at, &row.id);
            if first.is_none_or(|(oldest, _)| age < oldest) {
                first = Some((age, &row.label));
            }
        }
        Ok(first.map(|((_, id), label)| (id.clone(), label.clone())))
    }
}
