//! The channel types, one file each. A sender implements its vendor's wire format and limits. The crate
//! handles accounts, secrets, splitting and retries.

pub(crate) mod discord;
pub(crate) mod email;
mod http;
mod inbox;
mod log;
pub(crate) mod matrix;
mod ntfy;
pub(crate) mod slack;
pub(crate) mod telegram;

use crate::error::Failure;
use crate::fields::FieldSpec;
use crate::handle::Inner;
use crate::markup::Markup;
use crate::outgoing::{MessageLink, Outgoing, REPLY_TO};
use crate::receivers::Receiver;
use crate::response::LastResponse;
use crate::split::Limit;
use crate::target::OpenAccount;
use crate::vendor::{self, Answer};
use futures_util::future::BoxFuture;
use reqwest::{Client, RequestBuilder};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// Describes a channel type for users and for account validation.
#[derive(Debug)]
pub(crate) struct About {
    /// The type's identifier.
    pub(crate) kind: &'static str,
    /// Display name.
    pub(crate) label: &'static str,
    /// A sentence about the type, for the list of types.
    pub(crate) description: &'static str,
    /// The receiving service as used within a sentence, such as "the mail server".
    pub(crate) noun: &'static str,
    pub(crate) fields: &'static [FieldSpec],
    /// The keys of `deliver_extra` that this type accepts.
    pub(crate) extra: &'static [Extra],
    /// Whether a message can be JSON in the owner's own form.
    pub(crate) takes_json: bool,
    /// Whether the type has an account without setup.
    pub(crate) built_in: bool,
    /// Whether every account of this type contains an address to call, as a URL or in another form. Creating such an
    /// account needs `operator.admin`.
    pub(crate) calls_any_address: bool,
}

/// A key of `deliver_extra`.
#[derive(Debug)]
pub(crate) struct Extra {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
}

/// The help of the key that names another channel.
pub(crate) const OTHER_CHANNEL: &str = "Another channel. Needs a bot token.";

/// A channel type.
pub(crate) trait Sender: fmt::Debug + Send + Sync {
    fn about(&self) -> &'static About;

    /// Returns the markup language of the type's messages.
    fn markup(&self) -> Markup {
        Markup::None
    }

    /// Returns the maximum size of a message.
    fn limit(&self) -> Limit {
        Limit::None
    }

    /// Checks requirements beyond the required fields. An error names the field and the reason.
    fn check(&self, _has: &dyn Fn(&str) -> bool) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    /// Returns the receiver of the type's messages, if it has one.
    fn receiver(&self) -> Option<&'static dyn Receiver> {
        None
    }

    /// Returns whether [`Self::send`] attaches the pictures of a message to its text.
    fn attaches_pictures(&self) -> bool {
        false
    }

    /// Sends one part of a message.
    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>>;
}

/// Every type, in display order.
pub(crate) static ALL: &[&dyn Sender] = &[
    &inbox::Inbox,
    &log::Log,
    &telegram::Telegram,
    &slack::Slack,
    &discord::Discord,
    &email::Email,
    &ntfy::Ntfy,
    &matrix::Matrix,
    &http::Http,
];

/// Returns the English texts about all types, their fields and options. The web UI translates them.
pub fn texts() -> BTreeSet<&'static str> {
    let of = |sender: &'static dyn Sender| {
        let about = sender.about();
        let fields = about.fields.iter();
        let fields = fields.flat_map(|field| [field.label, field.help]);
        let extra = about.extra.iter().map(|extra| extra.help);
        [about.description].into_iter().chain(fields).chain(extra)
    };
    ALL.iter().copied().flat_map(of).collect()
}

/// Finds a type by its identifier.
pub(crate) fn find(kind: &str) -> Option<&'static dyn Sender> {
    ALL.iter()
        .copied()
        .find(|sender| sender.about().kind == kind)
}

/// Finds the type whose built-in account has this ID.
pub(crate) fn built_in_id(id: &str) -> Option<&'static dyn Sender> {
    find(id).filter(|sender| sender.about().built_in)
}

/// Returns whether a target, as `type` or `type:account_id`, accepts messages that are JSON in the owner's own form.
pub fn takes_json(target: &str) -> bool {
    let kind = target.split(':').next().unwrap_or_default();
    find(kind).is_some_and(|sender| sender.about().takes_json)
}

/// One part of a message for an account.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) account: &'a OpenAccount,
    pub(crate) message: &'a Outgoing<'a>,
    /// The text of this part.
    pub(crate) text: &'a str,
    /// The links of the message. Empty except in the last part.
    pub(crate) links: &'a [MessageLink<'a>],
    /// Index of the part, from 0.
    pub(crate) number: usize,
    /// The ID of the message, equal for each attempt.
    pub(crate) id: &'a str,
    /// Receives the vendor's response.
    pub(crate) response: &'a LastResponse,
}

impl Part<'_> {
    /// Returns a field of the account that is not secret.
    fn field(&self, name: &str) -> Option<&str> {
        self.account.fields.get(name).and_then(Value::as_str)
    }

    /// Returns a secret field of the account.
    fn secret(&self, name: &str) -> Option<&str> {
        self.account
            .secrets
            .get(name)
            .map(ExposeSecret::expose_secret)
    }

    /// Returns a secret that the account requires.
    fn need_secret(&self, name: &'static str) -> Result<&str, Failure> {
        self.secret(name)
            .ok_or_else(|| Failure::incomplete(name, "the channel has none"))
    }

    /// Returns the message's value as a single line, or the account's if the message has none.
    fn extra_or_field(&self, name: &str) -> Option<String> {
        self.message
            .extra(name)
            .or_else(|| self.field(name).map(str::to_owned))
    }

    /// Does the same as [`Part::extra_or_field`], but fails if there is no value.
    pub(crate) fn need(&self, name: &'static str) -> Result<String, Failure> {
        self.extra_or_field(name)
            .ok_or_else(|| Failure::incomplete(name, "neither the channel nor the message has one"))
    }

    /// Returns the ID of the received message that this part replies to.
    fn reply_to(&self) -> Option<String> {
        let is_first = self.number == 0;
        self.message.extra(REPLY_TO).filter(|_| is_first)
    }

    /// Returns the ID of this part, equal for each attempt.
    fn part_id(&self) -> String {
        format!("{}-{}", self.id, self.number)
    }

    /// Returns the name of the receiving side for error messages: the vendor, or the channel if it
    /// has none.
    fn noun(&self) -> Cow<'static, str> {
        let about = self.account.sender.about();
        if about.calls_any_address {
            Cow::Owned(format!("the channel “{}”", self.account.label))
        } else {
            Cow::Borrowed(about.noun)
        }
    }

    fn client(&self) -> &Client {
        let outbound = &self.inner.outbound;
        outbound.client(gatehouse_outbound::AddressSource::Owner)
    }

    async fn call(&self, request: RequestBuilder) -> Result<Answer, Failure> {
        let noun = self.noun();
        let outbound = &self.inner.outbound;
        let answer = vendor::call(outbound, &*self.inner.clock, &noun, request).await?;
        self.response.note(answer.status, answer.body().clone());
        Ok(answer)
    }
}

#[cfg(test)]
mod tests;
