//! The table of signature schemes. If headers have a neutral and a vendor name, the neutral name comes
//! first and wins.

use crate::auth_mode::AuthMode;

/// How a mode is verified.
pub(super) enum Method {
    Open,
    /// The secret itself, in a header that the owner configures.
    OwnHeader,
    /// The secret itself, in one of these headers.
    Token(&'static [&'static str]),
    /// The secret itself, in `Authorization`.
    Bearer,
    Signature(&'static Scheme),
}

/// How a vendor signs deliveries.
pub(super) struct Scheme {
    /// Headers that contain the signatures.
    pub headers: &'static [&'static str],
    pub algorithm: Algorithm,
    pub encoding: Encoding,
    /// Prefixes that a signature can have.
    pub prefixes: &'static [&'static str],
    /// Whether a signature without a prefix is accepted.
    pub bare: bool,
    /// The prefix that the vendor sends.
    pub sends: &'static str,
    /// Separator of the items in a header. `None` if the header is a single item.
    pub separator: Option<char>,
    pub key: Key,
    /// The signed parts, concatenated.
    pub signed: &'static [Part],
    /// Headers that contain the delivery id, if the id is signed.
    pub id_headers: &'static [&'static str],
    pub time: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Sha256,
    Sha1,
}

impl Algorithm {
    /// The length of a signature in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha1 => 20,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Upper or lower case.
    Hex,
    Base64,
}

/// How the key is derived from the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The bytes of the secret.
    Text,
    /// The secret, Base64-decoded, with or without the prefix `whsec_`.
    Whsec,
}

/// A part of the signed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(&'static str),
    Id,
    /// As the sender wrote it.
    Timestamp,
    Body,
    /// The URL, then the form's names and values, sorted by name.
    UrlAndForm,
}

/// Where the timestamp is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    Unsigned,
    /// In seconds, in the signature header, after this prefix.
    Item(&'static str),
    /// In seconds, in one of these headers.
    Headers(&'static [&'static str]),
    /// In milliseconds, in this field of the body, if present. The tolerance is a setting.
    Body(&'static str),
}

/// HMAC-SHA256 of the body in hex, the base of most schemes.
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

/// <https://docs.stripe.com/webhooks#verify-manually>. The test scheme `v0` is ignored.
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

/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>. The
/// alternative header names are from Svix, where the scheme originated.
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

/// <https://shopify.dev/docs/apps/build/webhooks/verify-deliveries>. The second name is used by Shopify's
/// newer "events"; see `ShopifyEventsHeader` in its Node library.
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
