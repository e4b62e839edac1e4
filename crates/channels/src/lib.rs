//! Messages: accounts, the senders and receivers (one file per channel type), the people who are paired with accounts,
//! and the inbox, which stores messages in the gateway. The caller decides the content and time of a message, and
//! handles received messages.
//!
//! A target is `type` (the type's default account) or `type:account_id`. [`Channels::send`] finds the account, opens
//! its secrets, splits the text at the vendor's limit and passes each part to the account's sender.
//!
//! **Retries.** A message is identified by its delivery, account, text, extra values, source and time. A caller that
//! retries with the same six values sends the same message. [`Channels::send_keyed`] adds a key, for messages without a
//! delivery that can be equal in all of these values. For a message with several parts, the number of accepted parts is
//! stored after each part, and a retry sends only the remaining parts. Delivery is at least once: if the vendor accepts
//! a part but its response or the stored count is lost, the part is sent again. If a request can carry an ID (Matrix,
//! `http`, mail), the ID is the same for each attempt and the vendor can detect the repetition. Each picture counts as
//! a part after the texts, whether it was sent or omitted.

mod account;
mod account_rules;
mod account_update;
mod error;
mod fences;
mod fields;
mod files;
mod handle;
mod inbox;
mod live;
mod lookup;
mod manage_accounts;
mod markup;
mod media;
pub mod metrics;
mod one_receiver;
mod outgoing;
mod own_host;
mod pairings;
mod pictures;
mod polls;
mod progress;
mod questions;
mod quotes;
mod receive;
mod receivers;
mod response;
mod send;
mod senders;
mod service;
mod session_keys;
mod signature;
mod split;
mod store_received;
mod target;
mod vendor;
mod vendor_apis;

pub use account::{Account, AccountChange, ChannelField, ChannelType, ExtraKey, NewAccount};
pub use error::{ChannelsError, SendError};
pub use files::{FetchedFile, FileLimits, VoiceMessage, files_of};
pub use handle::{Channels, ChannelsParts};
pub use inbox::{InboxFilter, InboxMessage, InboxPage, PreparedInbox};
pub use lookup::{AccountMark, TargetAccount};
pub use markup::Markup;
pub use media::Picture;
pub use outgoing::{MessageLink, OfDelivery, Outgoing, REPLY_TO};
pub use pairings::{Pairing, PairingRequest};
pub use polls::{Poll, PollHolder};
pub use questions::{DirectChat, QuestionForm};
pub use quotes::{Quote, QuotedAuthor, ReceivedQuote, quote_of};
pub use receive::{
    InboundAccount, ReceiveError, Received, ReceivedFile, ReceivedMessage, StoredMessages,
};
pub use receivers::ReceiverState;
pub use receivers::buttons::{Button, Note, Press, Question, QuestionText, SentQuestion};
pub use response::{REDACTED, SendResponse};
pub use send::SendReport;
pub use senders::{takes_json, texts};
pub use session_keys::{person_key, session_key};
