//! Where messages go out: accounts, the senders (one file a type), and the inbox, which is the place for
//! messages that stay. What a message says, and why it is sent, is its sender's matter.
//!
//! A target is `type` (its default account) or `type:account_id`. [`Channels::send`] finds the account,
//! opens its secrets, splits the text at the vendor's limit and gives each part to the account's sender.
//!
//! **Another try.** A message is known by its delivery, account, text, extra values, source and time, so a
//! caller that tries again with the same six means the same message. Of a message in several parts it is noted,
//! after each part, how many the vendor has taken; another try sends only the others. What remains is
//! at least once: a part that the vendor took while the answer, or the note, was lost, is sent again. Where
//! the vendor lets a request carry an id (Matrix, `http`, mail), it is the same at each try, and the
//! vendor can tell.

mod account;
mod account_update;
mod accounts;
mod error;
mod fields;
mod handle;
mod inbox;
mod live;
mod lookup;
mod markup;
mod outgoing;
mod progress;
mod send;
mod senders;
mod service;
mod signature;
mod split;
mod target;
mod vendor;

pub use account::{Account, AccountChange, ChannelField, ChannelType, ExtraKey, NewAccount};
pub use error::{ChannelsError, SendError};
pub use handle::{Channels, ChannelsParts};
pub use inbox::{InboxMessage, InboxPage, PreparedInbox};
pub use lookup::TargetAccount;
pub use markup::Markup;
pub use outgoing::{OfDelivery, Outgoing};
