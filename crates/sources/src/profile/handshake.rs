//! How a sender verifies that the endpoint accepts its requests.

/// A request that only verifies the endpoint.
#[derive(Debug)]
pub enum Handshake {
    /// A verified request. The response repeats a part of it.
    Verified { when: When, answer: Echo },
    /// A GET request of a `WebSub` hub with a challenge and the webhook's verify token. Meta sends such requests:
    /// <https://developers.facebook.com/docs/graph-api/webhooks/getting-started>
    Hub,
}

/// The condition that identifies a handshake or a notice.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// A path of the body, and the text or number there.
    Body(&'static str, &'static str),
    /// A header, lower case, and its value.
    Header(&'static str, &'static str),
}

impl When {
    /// Returns the name of the header, in lower case.
    pub(crate) const fn header(self) -> Option<&'static str> {
        match self {
            Self::Header(name, _) => Some(name),
            Self::Body(..) => None,
        }
    }
}

/// The response to a handshake. `{path}` is a text of the body, `{hmac:path}` its HMAC-SHA256 in hex with the secret.
#[derive(Clone, Copy, Debug)]
pub enum Echo {
    Text(&'static str),
    /// JSON whose texts have placeholders.
    Json(&'static str),
}

/// A response to an accepted delivery that replaces our own.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub event: &'static str,
    /// JSON.
    pub json: &'static str,
}
