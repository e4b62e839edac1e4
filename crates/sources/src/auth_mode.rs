//! The verification modes. Each one is a [`Mode`] in the folder of the vendor that defines it. The `verify` module
//! implements the checks.

mod known;

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Serialize, Serializer};

use crate::verify::scheme::{Algorithm, Method};

pub use known::UnknownAuthMode;

/// A verification mode, as data.
pub(crate) struct Mode {
    /// The name used in storage and in API responses.
    pub name: &'static str,
    /// The vendor's name for this mode, accepted on input.
    pub alias: Option<&'static str>,
    /// The name shown to people.
    pub label: &'static str,
    /// How the secret or signature is sent, for the API's schema.
    pub description: &'static str,
    /// How the secret or signature is sent, for a person or agent that configures a sender. `{header}` and `{secret}`
    /// are placeholders for the webhook's values.
    pub proof: &'static str,
    /// Whether the vendor generates the secret. The owner then copies it into the webhook.
    pub secret_from_sender: bool,
    pub method: Method,
}

/// How a webhook's deliveries are verified. Serialized with its own name. Also deserializes from the vendor's name.
#[derive(Clone, Copy)]
pub struct AuthMode(&'static Mode);

impl AuthMode {
    pub(crate) const fn of(mode: &'static Mode) -> Self {
        Self(mode)
    }

    /// Returns whether this crate can sign deliveries of the mode, for tests. In modes with a key pair, only the
    /// sender can.
    pub const fn can_sign(self) -> bool {
        match self.0.method {
            Method::Signature(scheme) => !matches!(scheme.algorithm, Algorithm::Ed25519),
            Method::Open | Method::OwnHeader | Method::Token(_) | Method::Bearer => true,
        }
    }

    /// Returns the name used in storage and in API responses.
    pub const fn as_str(self) -> &'static str {
        self.0.name
    }

    /// Returns the vendor's name for this mode, accepted on input.
    pub const fn alias(self) -> Option<&'static str> {
        self.0.alias
    }

    /// Returns the name shown to people.
    pub const fn label(self) -> &'static str {
        self.0.label
    }

    /// Returns how a sender proves its deliveries. `{header}` and `{secret}` are placeholders for the webhook's
    /// values.
    pub const fn proof(self) -> &'static str {
        self.0.proof
    }

    /// Returns whether the vendor generates the secret. The owner then copies it into the webhook.
    pub const fn secret_from_sender(self) -> bool {
        self.0.secret_from_sender
    }

    pub(crate) const fn method(self) -> Method {
        self.0.method
    }

    /// Returns whether this mode requires a secret.
    pub const fn needs_secret(self) -> bool {
        !matches!(self.0.method, Method::Open)
    }

    /// Returns whether no profile in use defines this mode. No request satisfies such a mode.
    pub const fn is_unknown(self) -> bool {
        matches!(self.0.method, Method::Token(headers) if headers.is_empty())
    }

    /// Returns whether the webhook configures the header that contains the secret.
    pub const fn takes_header(self) -> bool {
        matches!(self.0.method, Method::OwnHeader)
    }
}

impl PartialEq for AuthMode {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for AuthMode {}

impl Hash for AuthMode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for AuthMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for AuthMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for AuthMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
