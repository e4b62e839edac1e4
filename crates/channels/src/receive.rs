//! Receives messages from the vendors of accounts, fetches their files, and answers in their conversations.

mod received;

use crate::account::read_fields;
use crate::error::{Failure, SendError};
use crate::fields::{AGENT, INBOUND, VOICE_ANSWERS};
use crate::handle::{Channels, Inner};
use crate::live::LiveAccount;
use crate::receivers::{Receiver, ReceiverState, Source};
use crate::target::OpenAccount;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
pub use received::{ReceiveError, Received, ReceivedFile, ReceivedMessage, StoredMessages};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The time after which a receiver is stopped. It is shorter than the time after which other nodes
/// consider its lease lost.
const LONGEST: Duration = Duration::from_secs(75);

/// An enabled account that receives messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundAccount {
    pub id: String,
    /// The channel type, such as `telegram`.
    pub kind: String,
    /// The agent that answers. If absent, the default agent answers.
    pub agent: Option<String>,
    /// The audio format for voice answers to voice messages. `None` if answers are always text.
    pub voice: Option<&'static str>,
    /// When the account was last changed.
    pub updated_at: Timestamp,
    /// The age at which a position must no longer be used.
    pub forgets_after: Option<Duration>,
}

impl InboundAccount {
    /// Returns the target for messages through this account.
    pub fn target(&self) -> String {
        format!("{}:{}", self.kind, self.id)
    }
}

/// Returns the account's receiver if receiving is on.
pub(crate) fn receiver_of(account: &LiveAccount) -> Option<&'static dyn Receiver> {
    let row = &account.found.row;
    let is_on = read_fields(row).get(INBOUND).and_then(Value::as_bool);
    account
        .found
        .sender
        .receiver()
        .filter(|_| row.enabled && is_on == Some(true))
}

impl Channels {
    /// Returns the enabled accounts that receive messages, ordered by ID.
    pub async fn inbound_accounts(&self) -> Result<Vec<InboundAccount>, StoreError> {
        let accounts = self.0.live_accounts().await?;
        let receiving = accounts.all().filter(|it| receiver_of(it).is_some());
        let mut all: Vec<_> = receiving
            .map(|account| {
                let row = &account.found.row;
                let fields = read_fields(row);
                InboundAccount {
                    id: row.id.clone(),
                    kind: row.kind.clone(),
                    agent: fields.get(AGENT).and_then(Value::as_str).map(str::to_owned),
                    voice: receiver_of(account)
                        .and_then(Receiver::voice)
                        .filter(|_| {
                            fields.get(VOICE_ANSWERS).and_then(Value::as_bool) == Some(true)
                        })
                        .map(|format| format.name),
                    updated_at: row.updated_at,
                    forgets_after: receiver_of(account).and_then(Receiver::forgets_after),
                }
            })
            .collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// Waits for messages of an account. Returns after about half a minute if there are none. `position` is where
    /// receiving continues.
    pub async fn receive(
        &self,
        account_id: &str,
        state: &mut ReceiverState,
        position: Option<&str>,
    ) -> Result<Received, ReceiveError> {
        let (opened, receiver) = self.0.open_receiver(account_id).await?;
        if let Err(error) = self.0.check_only_receiver(&opened, receiver).await {
            state.0 = None;
            return Err(error);
        }
        let receiving = state.0.get_or_insert_with(|| receiver.start());
        let work = receiving.receive(self.0.source(&opened), position);
        let in_time = tokio::time::timeout(LONGEST, work).await;
        in_time.unwrap_or_else(|_| {
            // After a timeout, the state of the connection is unknown.
            state.0 = None;
            let why = "Receiving took too long.".to_owned();
            Err(ReceiveError::Later { after: None, why })
        })
    }

    /// Notifies the vendor that the last received messages are stored, and accepts invitations to conversations.
    pub async fn confirm_received(
        &self,
        account_id: &str,
        state: &mut ReceiverState,
        accepted: &[String],
    ) -> Result<(), SendError> {
        let Some(receiving) = &mut state.0 else {
            return Ok(());
        };
        let (opened, _) = self.0.open_receiver(account_id).await?;
        Ok(receiving.confirm(self.0.source(&opened), accepted).await?)
    }

    /// Returns the values of `deliver_extra` that address a conversation.
    pub async fn address(
        &self,
        account_id: &str,
        chat: &str,
        thread: Option<&str>,
    ) -> Result<BTreeMap<String, String>, SendError> {
        let (_, receiver) = self.0.find_receiver(account_id).await?;
        let keys = receiver.place_keys();
        let mut extra = BTreeMap::from([(keys.chat.to_owned(), chat.to_owned())]);
        if let (Some(key), Some(thread)) = (keys.thread, thread) {
            extra.insert(key.to_owned(), thread.to_owned());
        }
        Ok(extra)
    }

    /// Returns whether this person is the only reader of a conversation that was private when the
    /// person wrote.
    pub async fn is_private(
        &self,
        account_id: &str,
        chat: &str,
        person: &str,
    ) -> Result<bool, SendError> {
        let (opened, receiver) = self.0.open_receiver(account_id).await?;
        let source = self.0.source(&opened);
        Ok(receiver.is_private(source, chat, person).await?)
    }

    /// Shows in a conversation that an answer is being written.
    pub async fn show_typing(
        &self,
        account_id: &str,
        chat: &str,
        thread: Option<&str>,
    ) -> Result<(), SendError> {
        let (opened, receiver) = self.0.open_receiver(account_id).await?;
        let source = self.0.source(&opened);
        Ok(receiver.show_typing(source, chat, thread).await?)
    }
}

impl Inner {
    async fn find_receiver(
        &self,
        account_id: &str,
    ) -> Result<(Arc<LiveAccount>, &'static dyn Receiver), Failure> {
        let accounts = self.live_accounts().await?;
        let account = accounts.find(account_id);
        account
            .and_then(|account| Some((Arc::clone(account), receiver_of(account)?)))
            .ok_or_else(|| Failure::refused("The channel does not receive messages."))
    }

    pub(crate) async fn open_receiver(
        &self,
        account_id: &str,
    ) -> Result<(Arc<OpenAccount>, &'static dyn Receiver), Failure> {
        let (account, receiver) = self.find_receiver(account_id).await?;
        Ok((account.open(self).await?, receiver))
    }

    pub(crate) fn source<'a>(&'a self, account: &'a OpenAccount) -> Source<'a> {
        Source {
            inner: self,
            account,
        }
    }
}
