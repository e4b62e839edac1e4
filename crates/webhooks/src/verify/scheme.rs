//! The table of schemes. A pair of headers that carry the same thing stands neutral first, and the
//! neutral one wins.

use crate::auth_mode::AuthMode;

/// How a mode is verified.
pub(super) enum Method {
    /// Not at all.
    Open,
    /// The secret itself, in a header of the owner's choice.
    OwnHeader,
    /// The secret itself, in one of these headers.
    Token(&'static [&'static str]),
    /// The secret itself, in `Authorization`.
    Bearer,
    /// A signature.
    Signature(&'static Scheme),
}

/// How a vendor signs.
pub(super) struct Scheme {
    /// Headers with the signatures.
    pub headers: &'static [&'static str],
    pub algorithm: Algorithm,
    pub encoding: Encoding,
    /// What may stand before a signature.
    pub prefixes: &'static [&'static str],
    /// Whether a signature may also stand alone.
    pub bare: bool,
    /// What the vendor puts before a signature.
    pub sends: &'static str,
    /// Between the items of the header; none: the header is one item.
    pub separator: Option<char>,
    pub key: Key,
    /// What is signed, one behind the other.
    pub signed: &'static [Part],
    /// Headers with the delivery's id, if that is signed.
    pub id_headers: &'static [&'static str],
    pub time: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Sha256,
    Sha1,
}

impl Algorithm {
    /// The length of a signature.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha1 => 20,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Either case.
    Hex,
    Base64,
}

/// What of the secret is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Its bytes as they are.
    Text,
    /// What it says in Base64, with or without `whsec_` before.
    Whsec,
}

/// A piece of what is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(&'static str),
    Id,
    /// As the sender wrote it.
    Timestamp,
    Body,
    /// The address, then the form's names and values by name.
    UrlAndForm,
}

/// Where the time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// There is none.
    Unsigned,
    /// Seconds, in the signatures' header, behind this.
    Item(&'static str),
    /// Seconds, in one of these headers.
    Headers(&'static [&'static str]),
    /// Milliseconds, in this field of the body, where it is present. The setting has the tolerance.
    Body(&'static str),
}

/// An HMAC-SHA256 of the body in hex: what most begin with.
const BODY: Scheme = Scheme {
    headers: &[],
    algorithm: Algorithm::Sha256,
    encoding: Encoding::Hex,
    prefixes: &["sha256=", "v1="],
    bare: true,
    sends: "",
    separator: Some(','),
    key: Key::Text,
    signed: &[Part::Body],
    id_headers: &[],
    time: Time::Unsigned,
};

/// <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>
static CODEHOST_A: Scheme = Scheme {
    headers: &["x-hub-signature-256"],
    sends: "sha256=",
    ..BODY
};

/// <https://docs.stripe.com/webhooks#verify-manually>; its test scheme `v0` is ignored.
static PAYMENTS: Scheme = Scheme {
    headers: &["payments-signature", "stripe-signature"],
    sends: "v1=",
    signed: &[Part::Timestamp, Part::Text("."), Part::Body],
    time: Time::Item("t="),
    ..BODY
};

/// <https://linear.app/developers/webhooks#securing-webhooks>
static TRACKER_A: Scheme = Scheme {
    headers: &["tracker-a-signature", "linear-signature"],
    time: Time::Body("webhookTimestamp"),
    ..BODY
};

/// <https://docs.pagerduty.com/developer/verifying-webhook-signatures>
static INCIDENT: Scheme = Scheme {
    headers: &["x-incident-signature", "x-pagerduty-signature"],
    sends: "v1=",
    ..BODY
};

/// <https://docs.sentry.io/organization/integrations/integration-platform/webhooks/>
static ERRORS: Scheme = Scheme {
    headers: &["errors-hook-signature", "sentry-hook-signature"],
    ..BODY
};

/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>; the
/// second names are those of Svix, whose scheme it was.
static STANDARD: Scheme = Scheme {
    headers: &["webhook-signature", "svix-signature"],
    encoding: Encoding::Base64,
    prefixes: &["v1,"],
    bare: false,
    sends: "v1,",
    separator: Some(' '),
    key: Key::Whsec,
    signed: &[
        Part::Id,
        Part::Text("."),
        Part::Timestamp,
        Part::Text("."),
        Part::Body,
    ],
    id_headers: &["webhook-id", "svix-id"],
    time: Time::Headers(&["webhook-timestamp", "svix-timestamp"]),
    ..BODY
};

/// <https://docs.slack.dev/authentication/verifying-requests-from-slack>
static SLACK: Scheme = Scheme {
    headers: &["x-slack-signature"],
    prefixes: &["v0="],
    sends: "v0=",
    signed: &[
        Part::Text("v0:"),
        Part::Timestamp,
        Part::Text(":"),
        Part::Body,
    ],
    time: Time::Headers(&["x-slack-request-timestamp"]),
    ..BODY
};

/// <https://shopify.dev/docs/apps/build/webhooks/verify-deliveries>; the second name is that of its newer
/// "events", as in `ShopifyEventsHeader` of its Node library.
static SHOPIFY: Scheme = Scheme {
    headers: &["x-shopify-hmac-sha256", "shopify-hmac-sha256"],
    encoding: Encoding::Base64,
    prefixes: &[],
    separator: None,
    ..BODY
};

/// <https://www.twilio.com/docs/usage/security#validating-requests>
static TWILIO: Scheme = Scheme {
    headers: &["x-twilio-signature"],
    algorithm: Algorithm::Sha1,
    encoding: Encoding::Base64,
    prefixes: &[],
    separator: None,
    signed: &[Part::UrlAndForm],
    ..BODY
};

/// How a mode is verified.
pub(super) const fn method(mode: AuthMode) -> Method {
    match mode {
        AuthMode::None => Method::Open,
        AuthMode::StaticHeader => Method::OwnHeader,
        AuthMode::Bearer => Method::Bearer,
        AuthMode::CodehostBToken => Method::Token(&["x-codehost-b-token", "x-gitlab-token"]),
        AuthMode::CodehostAHmacSha256 => Method::Signature(&CODEHOST_A),
        AuthMode::PaymentsWebhookSignature => Method::Signature(&PAYMENTS),
        AuthMode::TrackerAWebhookSignature => Method::Signature(&TRACKER_A),
        AuthMode::IncidentV2Signature => Method::Signature(&INCIDENT),
        AuthMode::ErrorsWebhookSignature => Method::Signature(&ERRORS),
        AuthMode::StandardWebhooks => Method::Signature(&STANDARD),
        AuthMode::SlackSignature => Method::Signature(&SLACK),
        AuthMode::ShopifyHmacSha256 => Method::Signature(&SHOPIFY),
        AuthMode::TwilioSignature => Method::Signature(&TWILIO),
    }
}
