//! `webhooks.profiles`: the known senders and the verification modes.

use crate::method_entry::{Call, Method, NoParams, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_sources::profile::{self, Profile};
use gatehouse_sources::sample::{self, Example};
use gatehouse_sources::verify::{ShellRecipe, shell};
use gatehouse_sources::{AuthMode, BodyKind, ReplayGuard};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::future::{Ready, ready};

pub const PROFILES: Method = method!(
    "webhooks.profiles",
    "Lists the known senders and how to set up each.",
    Some(Scope::Read),
    profiles(NoParams) -> ProfileList
);

/// An event type of a sender.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventInfo {
    /// The name, as used in filters.
    #[serde(rename = "type")]
    kind: &'static str,
    description: &'static str,
}

/// A known sender.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileInfo {
    /// The profile's ID.
    id: &'static str,
    /// The display name.
    name: &'static str,
    /// The vendor's own name for the profile, also accepted as input.
    alias: Option<&'static str>,
    /// How deliveries are verified unless the webhook specifies otherwise.
    default_auth_mode: AuthMode,
    /// What the sender reports, in a few words.
    about: &'static str,
    /// The sender's event types.
    events: Vec<EventInfo>,
    /// The other event types that the sender documents.
    more_events: Vec<EventInfo>,
    /// The sender's headers that are stored with a delivery.
    headers: &'static [&'static str],
    /// Whether the signature covers the ID that the delivery key is read from.
    id_is_signed: bool,
    /// The suggested `replay_guard` for a new webhook. `webhooks.create` defaults to `key`.
    replay_guard: ReplayGuard,
    /// The reason for the suggested `replay_guard`.
    replay_note: &'static str,
    /// The suggested `redeliver_failed` for a new webhook. `webhooks.create` defaults to `false`.
    redeliver_failed: bool,
    /// Setup steps at the sender. `{url}` and `{secret}` are placeholders for the webhook's values.
    guide: &'static str,
    /// A delivery of the first event type.
    sample: SampleInfo,
}

/// A sample delivery.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SampleInfo {
    /// The header that names the event, if the sender uses one.
    header: Option<HeaderInfo>,
    /// Whether the body is a form with the members of `payload` as its fields. Otherwise it is JSON.
    is_form: bool,
    payload: Map<String, Value>,
}

/// A header of a request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeaderInfo {
    name: String,
    value: String,
}

/// A verification mode.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuthModeInfo {
    id: AuthMode,
    /// The display name.
    name: &'static str,
    /// Whether the sender generates the secret, so that it has to be copied into the webhook.
    secret_from_sender: bool,
    /// How to sign a delivery in a shell.
    shell: ShellInfo,
}

/// Commands for a POSIX shell that sign a delivery. They use `$SECRET`, `$URL` and `$BODY`, or for a form
/// `$FIELDS`: the names and values, sorted by name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShellInfo {
    /// Commands that set the variables in `headers`.
    lines: Vec<String>,
    /// The headers, for use within double quotes. `{header}` is a placeholder for the webhook's header.
    headers: Vec<String>,
    /// The optional member of the payload that contains the sending time. Omit it unless it contains the current time.
    body_time: Option<&'static str>,
}

impl From<AuthMode> for AuthModeInfo {
    fn from(mode: AuthMode) -> Self {
        let ShellRecipe {
            lines,
            headers,
            body_time,
        } = shell(mode);
        Self {
            id: mode,
            name: mode.label(),
            secret_from_sender: mode.secret_from_sender(),
            shell: ShellInfo {
                lines,
                headers,
                body_time,
            },
        }
    }
}

impl From<&'static Profile> for ProfileInfo {
    fn from(profile: &'static Profile) -> Self {
        let event = |event: &profile::EventType| EventInfo {
            kind: event.name,
            description: event.description,
        };
        let Example {
            event_header,
            payload,
        } = sample::example(profile);
        Self {
            id: profile.id,
            name: profile.name,
            alias: profile.alias,
            default_auth_mode: profile.default_auth_mode,
            about: profile.about,
            events: profile.events.iter().map(event).collect(),
            more_events: profile.more_events.iter().map(event).collect(),
            headers: profile.headers,
            id_is_signed: profile.replay.id_is_signed,
            replay_guard: profile.replay.guard,
            replay_note: profile.replay.note,
            redeliver_failed: true,
            guide: profile.guide,
            sample: SampleInfo {
                header: event_header.map(|(name, value)| HeaderInfo { name, value }),
                is_form: profile.body == BodyKind::Form,
                payload,
            },
        }
    }
}

/// Result of `webhooks.profiles`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProfileList {
    /// The profiles of known senders.
    profiles: Vec<ProfileInfo>,
    /// The verification modes.
    auth_modes: Vec<AuthModeInfo>,
}

fn profiles(_: Call, NoParams {}: NoParams) -> Ready<Result<ProfileList, Problem>> {
    let known = profile::all().iter().map(|known| (*known).into());
    ready(Ok(ProfileList {
        profiles: known.collect(),
        auth_modes: AuthMode::all().iter().map(|mode| (*mode).into()).collect(),
    }))
}
