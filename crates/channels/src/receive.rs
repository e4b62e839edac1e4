//! Receives messages and stores those of paired people. A stranger's message stores at most the request to be paired.

use crate::account::read_fields;
use crate::error::{Failure, SendError};
use crate::fields::{AGENT, INBOUND};
use crate::handle::{Channels, Inner};
use crate::live::LiveAccount;
use crate::pairings::{PairingRequest, may_ask};
use crate::receivers::{Receiver, ReceiverState, Source};
use gatehouse_domain::Timestamp;
use gatehouse_secrets::SecretsError;
use gatehouse_store::{Conn, InboundMessageRow, StoreError};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How many messages of a person may wait for an answer. Further ones are dropped.
const MAX_WAITING: i64 = 50;
/// The answer to a message without text and file.
const NO_TEXT: &str = "Only text, pictures and files can be received here.";

/// An enabled account that receives messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundAccount {
    pub id: String,
    /// The channel type, such as `telegram`.
    pub kind: String,
    /// The agent that answers; the default one if absent.
    pub agent: Option<String>,
    /// When the account was last changed.
    pub updated_at: Timestamp,
}

/// Messages from the vendor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// The first update after these.
    pub next: Option<i64>,
    pub messages: Vec<ReceivedMessage>,
}

/// A message that a person wrote to the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The vendor's number of the message, ascending per account.
    pub update_id: i64,
    /// The vendor's ID of the person.
    pub person: String,
    /// The person's name at the vendor.
    pub name: String,
    /// The vendor's ID of the conversation.
    pub chat: String,
    /// The topic within the conversation.
    pub thread: Option<String>,
    /// Whether others read the conversation.
    pub is_group: bool,
    /// Whether the person wrote the text.
    pub is_own: bool,
    /// `None` if the message has no text.
    pub text: Option<String>,
    pub file: Option<ReceivedFile>,
}

/// A picture or a document that came with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFile {
    /// The vendor's ID of the file.
    pub id: String,
    /// As the person's program named it.
    pub name: String,
}

/// The effect of received messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredMessages {
    /// Whether messages wait for an answer.
    pub has_messages: bool,
    /// The codes to send.
    pub requests: Vec<PairingRequest>,
}

/// Why nothing was received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// A later request may succeed.
    #[error("{why}")]
    Later {
        after: Option<Duration>,
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// No request can succeed until the account is changed.
    #[error("{why}")]
    Stopped {
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// The account's secret is in the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
}

impl From<Failure> for ReceiveError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Incomplete { field, why } => Self::Stopped {
                why: format!("`{field}` is missing or wrong: {why}."),
            },
            Failure::Ours(SecretsError::Sealed) => Self::Sealed,
            Failure::Ours(error) => {
                tracing::warn!(%error, "a channel's secrets could not be read");
                let why = "The database or the vault could not be used.".to_owned();
                Self::Later { after: None, why }
            }
            Failure::Later { after, why } => Self::Later { after, why },
            Failure::Unreachable(why) | Failure::Disabled(why) | Failure::Refused(why) => {
                Self::Later { after: None, why }
            }
        }
    }
}

/// Returns the account's receiver if receiving is on.
fn receiver_of(account: &LiveAccount) -> Option<&'static dyn Receiver> {
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
                    updated_at: row.updated_at,
                }
            })
            .collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// Waits for messages of an account, at most about half a minute. `next` is the first wanted update.
    pub async fn receive(
        &self,
        account_id: &str,
        state: &mut ReceiverState,
        next: Option<i64>,
    ) -> Result<Received, ReceiveError> {
        let (account, receiver) = self.0.find_receiver(account_id).await?;
        let opened = account.open(&self.0).await?;
        let source = Source {
            inner: &self.0,
            account: &opened,
        };
        receiver.receive(source, state, next).await
    }

    /// Shows in a conversation that an answer is being written.
    pub async fn show_typing(
        &self,
        account_id: &str,
        chat: &str,
        thread: Option<&str>,
    ) -> Result<(), SendError> {
        let (account, receiver) = self.0.find_receiver(account_id).await?;
        let opened = account.open(&self.0).await?;
        let source = Source {
            inner: &self.0,
            account: &opened,
        };
        Ok(receiver.show_typing(source, chat, thread).await?)
    }

    /// Fetches a file that came with a message; `None` if it is larger than `max_bytes`.
    pub async fn fetch_file(
        &self,
        account_id: &str,
        file_id: &str,
        max_bytes: usize,
    ) -> Result<Option<Vec<u8>>, SendError> {
        let (account, receiver) = self.0.find_receiver(account_id).await?;
        let opened = account.open(&self.0).await?;
        let source = Source {
            inner: &self.0,
            account: &opened,
        };
        Ok(receiver.fetch_file(source, file_id, max_bytes).await?)
    }

    /// Stores the messages of paired people, the requests of others to be paired, and which update is next, in one
    /// transaction. Writes nothing if there is nothing to store.
    pub async fn store_received(
        &self,
        account_id: &str,
        received: Received,
    ) -> Result<StoredMessages, StoreError> {
        let (inner, id) = (Arc::clone(&self.0), account_id.to_owned());
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let mut kept = Vec::new();
                for message in received.messages {
                    if inner.is_wanted(conn, &id, &message).await? {
                        kept.push(message);
                    }
                }
                Ok::<_, StoreError>((kept, received.next))
            })
        });
        let (wanted, Some(next)) = read.await? else {
            return Ok(StoredMessages::default());
        };
        if wanted.is_empty() {
            return Ok(StoredMessages::default());
        }
        let (inner, id) = (Arc::clone(&self.0), account_id.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let mut stored = StoredMessages::default();
                for message in wanted {
                    inner.store_message(conn, &id, message, &mut stored).await?;
                }
                let now = inner.clock.now();
                conn.update_channel_poll_next(&id, next, now).await?;
                Ok::<_, StoreError>(stored)
            })
        });
        write.await
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

    /// Whether the person is paired, or may be sent a code.
    async fn is_wanted(
        &self,
        conn: &mut Conn,
        account_id: &str,
        message: &ReceivedMessage,
    ) -> Result<bool, StoreError> {
        let pairing = conn
            .find_channel_pairing_of(account_id, &message.person)
            .await?;
        let is_paired = pairing.as_ref().is_some_and(|it| it.approved_at.is_some());
        Ok(is_paired || (!message.is_group && may_ask(pairing.as_ref(), self.clock.now())))
    }

    async fn store_message(
        &self,
        conn: &mut Conn,
        account_id: &str,
        message: ReceivedMessage,
        stored: &mut StoredMessages,
    ) -> Result<(), StoreError> {
        let person = &message.person;
        let pairing = conn.find_channel_pairing_of(account_id, person).await?;
        if pairing.as_ref().is_none_or(|it| it.approved_at.is_none()) {
            let request = self.ask_to_pair(conn, account_id, pairing, message).await?;
            stored.requests.extend(request);
            return Ok(());
        }
        if conn.count_inbound_messages(account_id, person).await? >= MAX_WAITING {
            tracing::warn!(
                account_id,
                "a person has too many messages without an answer"
            );
            return Ok(());
        }
        let is_empty = message.text.is_none() && message.file.is_none();
        let answer = is_empty.then(|| NO_TEXT.to_owned());
        // PostgreSQL cannot store NUL characters.
        let storable = |text: String| text.replace('\0', "\u{fffd}");
        let (file_id, file_name) = message.file.map(|file| (file.id, file.name)).unzip();
        let row = InboundMessageRow {
            account_id: account_id.to_owned(),
            update_id: message.update_id,
            person: message.person,
            chat: message.chat,
            thread: message.thread,
            is_group: message.is_group,
            is_own: message.is_own,
            text: storable(message.text.unwrap_or_default()),
            file_id: file_id.map(storable),
            file_name: file_name.map(storable),
            answer,
            received_at: self.clock.now(),
        };
        conn.insert_inbound_message(&row).await?;
        stored.has_messages = true;
        Ok(())
    }
}
