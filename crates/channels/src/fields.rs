//! The fields of an account: their specification and the parsing of a caller's values. No I/O.

mod value;

pub(crate) use value::parse_host;

use crate::ChannelsError;
use gatehouse_outbound::Outbound;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use value::read_one;

/// The text that is shown instead of a secret.
pub(crate) const MASK: &str = "••••";
/// The field that turns on receiving, for types that can receive.
pub(crate) const INBOUND: &str = "inbound";
/// The field with the agent that answers received messages.
pub(crate) const AGENT: &str = "agent_id";
/// The field that turns on voice answers to voice messages.
pub(crate) const VOICE_ANSWERS: &str = "voice_answers";

/// How a field's value is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// A single line.
    Text,
    /// A TCP port. Changing it needs `operator.admin`.
    Port,
    /// A server's name or address. Changing it needs `operator.admin`.
    Host,
    /// A URL to call. Setting it needs `operator.admin`.
    Url,
    /// One email address.
    Mailbox,
    /// Mail addresses separated by commas.
    Mailboxes,
    /// HTTP headers: an object, or lines of `Name: value`.
    Headers,
    /// A signing secret of Standard Webhooks.
    SigningSecret,
    /// `true`. Any other value removes the field.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl FieldKind {
    /// Returns whether the field determines which server is called.
    pub(crate) const fn names_a_server(self) -> bool {
        matches!(self, Self::Host | Self::Port | Self::Url)
    }
}

/// Whether a field needs a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Optional,
    /// The account needs no value. If it has none, each message must have one.
    PerMessage,
    /// The account must have a value.
    Required,
}

/// The specification of a field.
#[derive(Debug)]
pub(crate) struct FieldSpec {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) help: &'static str,
    pub(crate) kind: FieldKind,
    pub(crate) secret: bool,
    pub(crate) need: Need,
    /// Whether the field decides which senders are accepted. Changing it needs `operator.admin`.
    pub(crate) decides_senders: bool,
}

impl FieldSpec {
    /// Creates an optional field that is not secret.
    pub(crate) const fn new(
        name: &'static str,
        label: &'static str,
        kind: FieldKind,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            label,
            help,
            kind,
            secret: false,
            need: Need::Optional,
            decides_senders: false,
        }
    }

    pub(crate) const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    pub(crate) const fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }

    pub(crate) const fn per_message(mut self) -> Self {
        self.need = Need::PerMessage;
        self
    }

    pub(crate) const fn decides_senders(mut self) -> Self {
        self.decides_senders = true;
        self
    }

    /// Returns whether changing the value needs `operator.admin`.
    pub(crate) const fn needs_admin(&self) -> bool {
        self.decides_senders || self.kind.names_a_server()
    }
}

/// Returns the field that turns on receiving.
pub(crate) const fn receiving_switch() -> FieldSpec {
    FieldSpec::new(
        INBOUND,
        "Receive messages",
        FieldKind::Switch,
        "Lets people write to an agent. Each of them must be paired first.",
    )
}

/// Returns the field with the agent that answers received messages.
pub(crate) const fn receiving_agent() -> FieldSpec {
    FieldSpec::new(
        AGENT,
        "Agent",
        FieldKind::Text,
        "The agent that answers received messages.",
    )
}

/// Returns the field that turns on voice answers to voice messages.
pub(crate) const fn speaking_switch() -> FieldSpec {
    FieldSpec::new(
        VOICE_ANSWERS,
        "Answer voice messages with voice",
        FieldKind::Switch,
        "Answers a voice message with the text and a voice message. Needs text-to-speech.",
    )
}

/// A caller's parsed changes.
#[derive(Debug, Default)]
pub(crate) struct FieldChanges {
    /// Values of fields that are not secrets.
    pub(crate) set: Map<String, Value>,
    /// Values of secret fields.
    pub(crate) secrets: BTreeMap<&'static str, SecretString>,
    /// Fields to remove.
    pub(crate) cleared: Vec<&'static FieldSpec>,
    /// Whether the change sets a URL.
    pub(crate) names_url: bool,
}

/// Parses a caller's values. A masked secret is not changed. `null` and the empty string remove a value.
pub(crate) fn read(
    specs: &'static [FieldSpec],
    given: &Map<String, Value>,
    outbound: &Outbound,
) -> Result<FieldChanges, ChannelsError> {
    let mut changes = FieldChanges::default();
    for (name, value) in given {
        let spec = specs
            .iter()
            .find(|spec| spec.name == name)
            .ok_or_else(|| ChannelsError::invalid(name, unknown(name)))?;
        if spec.secret && value.as_str().is_some_and(is_masked) {
            continue;
        }
        changes.names_url |= spec.kind == FieldKind::Url;
        let read = read_one(spec, value, outbound)
            .map_err(|reason| ChannelsError::invalid(name, reason))?;
        match read {
            None => changes.cleared.push(spec),
            Some(Value::String(text)) if spec.secret => {
                changes.secrets.insert(spec.name, SecretString::from(text));
            }
            Some(value) => {
                changes.set.insert(spec.name.to_owned(), value);
            }
        }
    }
    Ok(changes)
}

/// Returns the reason to refuse a field that the type does not have.
fn unknown(name: &str) -> &'static str {
    if name == INBOUND {
        "this type of channel cannot receive messages"
    } else {
        "unknown field"
    }
}

fn is_masked(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '•')
}

#[cfg(test)]
#[path = "fields_tests.rs"]
mod tests;
