//! The types of channels, one file each. A sender knows its vendor's wire format and limits; accounts,
//! secrets, splitting and retries are the room's.

mod discord;
mod email;
mod http;
mod inbox;
mod log;
mod matrix;
mod ntfy;
mod slack;
mod telegram;

use crate::error::Failure;
use crate::fields::FieldSpec;
use crate::handle::Inner;
use crate::markup::Markup;
use crate::outgoing::Outgoing;
use crate::split::Limit;
use crate::target::OpenAccount;
use crate::vendor::{self, Answer};
use futures_util::future::BoxFuture;
use reqwest::{Client, RequestBuilder};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::fmt;

/// What a type is, for people and for checking accounts.
#[derive(Debug)]
pub(crate) struct About {
    /// Its name.
    pub(crate) kind: &'static str,
    /// What people call it.
    pub(crate) label: &'static str,
    /// Who is at the other end, as it stands within a sentence.
    pub(crate) noun: &'static str,
    /// The fields of its accounts.
    pub(crate) fields: &'static [FieldSpec],
    /// What it takes from `deliver_extra`.
    pub(crate) extra: &'static [Extra],
    /// Whether it has an account without anybody making one.
    pub(crate) built_in: bool,
    /// Whether an account of it always names an address to call, by a URL or otherwise; making one
    /// needs `operator.admin`.
    pub(crate) calls_any_address: bool,
}

/// A key of `deliver_extra`.
#[derive(Debug)]
pub(crate) struct Extra {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
}

/// A type of channels.
pub(crate) trait Sender: fmt::Debug + Send + Sync {
    /// What it is.
    fn about(&self) -> &'static About;

    /// What becomes of special characters in its texts.
    fn markup(&self) -> Markup {
        Markup::None
    }

    /// How much fits into one message.
    fn limit(&self) -> Limit {
        Limit::None
    }

    /// What an account must have beyond its required fields; else the field and the reason.
    fn check(&self, _has: &dyn Fn(&str) -> bool) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    /// Sends one part.
    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>>;
}

/// Every type, in the order in which they are shown.
pub(crate) static ALL: [&dyn Sender; 9] = [
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

/// The type of this name.
pub(crate) fn find(kind: &str) -> Option<&'static dyn Sender> {
    ALL.into_iter().find(|sender| sender.about().kind == kind)
}

/// The type whose built-in account has this id.
pub(crate) fn built_in_id(id: &str) -> Option<&'static dyn Sender> {
    find(id).filter(|sender| sender.about().built_in)
}

/// One part of a message for one account.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) account: &'a OpenAccount,
    pub(crate) message: &'a Outgoing<'a>,
    /// What this part says.
    pub(crate) text: &'a str,
    /// Which part it is, from 0.
    pub(crate) number: usize,
    /// Names the message, the same at each try.
    pub(crate) id: &'a str,
}

impl Part<'_> {
    /// A field of the account that is no secret.
    fn field(&self, name: &str) -> Option<&str> {
        self.account.fields.get(name).and_then(Value::as_str)
    }

    /// A secret field of the account.
    fn secret(&self, name: &str) -> Option<&str> {
        self.account
            .secrets
            .get(name)
            .map(ExposeSecret::expose_secret)
    }

    /// A secret that the account cannot do without.
    fn need_secret(&self, name: &'static str) -> Result<&str, Failure> {
        self.secret(name)
            .ok_or_else(|| Failure::incomplete(name, "the channel has none"))
    }

    /// A value of the message, else of the account; one line.
    fn extra_or_field(&self, name: &str) -> Option<String> {
        self.message
            .extra(name)
            .or_else(|| self.field(name).map(str::to_owned))
    }

    /// The same, where nothing can be sent without it.
    fn need(&self, name: &'static str) -> Result<String, Failure> {
        self.extra_or_field(name)
            .ok_or_else(|| Failure::incomplete(name, "neither the channel nor the message says it"))
    }

    /// Names this part, the same at each try.
    fn part_id(&self) -> String {
        format!("{}-{}", self.id, self.number)
    }

    fn client(&self) -> &Client {
        let outbound = &self.inner.outbound;
        outbound.client(gatehouse_outbound::Reach::Owner)
    }

    async fn call(&self, request: RequestBuilder) -> Result<Answer, Failure> {
        let vendor = self.account.sender.about().noun;
        vendor::call(&self.inner.outbound, &*self.inner.clock, vendor, request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_once_and_names_no_field_twice() {
        for sender in ALL {
            let about = sender.about();
            assert_eq!(find(about.kind).unwrap().about().kind, about.kind);
            let same = ALL.iter().filter(|other| other.about().kind == about.kind);
            assert_eq!(same.count(), 1);
            let mut names: Vec<_> = about.fields.iter().map(|field| field.name).collect();
            names.sort_unstable();
            let before = names.len();
            names.dedup();
            assert_eq!(names.len(), before, "{}", about.kind);
            for field in about.fields {
                assert!(
                    !field.name.contains(':') && !field.label.is_empty() && !field.help.is_empty()
                );
            }
        }
        assert!(find("teletype").is_none());
    }
}
