//! The list of modes: from vendors' folders, and from profiles in files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};

use super::{AuthMode, Mode};
use crate::profile;
use crate::vendors::{self, generic, standard};
use crate::verify::scheme::Method;

/// The modes defined in code, in the vendors' folders.
static IN_CODE: LazyLock<Vec<AuthMode>> = LazyLock::new(|| {
    let modes = vendors::ALL.iter().flat_map(|vendor| vendor.modes);
    modes.copied().map(AuthMode).collect()
});

impl AuthMode {
    /// No verification; for testing only.
    pub const NONE: Self = Self(&generic::verification::NONE);
    /// The secret is sent in a header that the owner chooses.
    pub const STATIC_HEADER: Self = Self(&generic::verification::STATIC_HEADER);
    /// The secret is sent as `Authorization: Bearer <secret>`.
    pub const BEARER: Self = Self(&generic::verification::BEARER);
    /// Standard Webhooks: HMAC-SHA256 of the ID, timestamp and body.
    pub const STANDARD_WEBHOOKS: Self = Self(&standard::MODE);

    /// Returns every mode, in documentation order.
    pub fn all() -> &'static [Self] {
        &profile::lists().modes
    }

    /// Finds a mode that no file defines, by name or alias.
    pub(crate) fn built_in(name: &str) -> Option<Self> {
        find(&IN_CODE, name)
    }

    /// Deserializes a stored mode. If no profile in use defines the mode, it keeps its name, and no request
    /// satisfies it.
    pub fn stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        Ok(name.parse().unwrap_or_else(|UnknownAuthMode| gone(&name)))
    }
}

/// The error for an unknown auth mode name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an auth mode")]
pub struct UnknownAuthMode;

impl FromStr for AuthMode {
    type Err = UnknownAuthMode;

    fn from_str(name: &str) -> Result<Self, UnknownAuthMode> {
        find(Self::all(), name).ok_or(UnknownAuthMode)
    }
}

/// Returns a mode without headers, which no request satisfies. Each name has one such mode, because a mode is never
/// freed.
fn gone(name: &str) -> AuthMode {
    static GONE: Mutex<BTreeMap<String, AuthMode>> = Mutex::new(BTreeMap::new());
    let mut all = GONE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = || {
        AuthMode(Box::leak(Box::new(Mode {
            name: Box::leak(name.to_owned().into_boxed_str()),
            alias: None,
            label: "Unknown: the profile's file is missing or has a mistake",
            description: "The file of the profile is missing or has a mistake; no delivery is accepted.",
            proof: "The file of this profile is missing or has a mistake, so no delivery is accepted.",
            secret_from_sender: false,
            method: Method::Token(&[]),
        })))
    };
    *all.entry(name.to_owned()).or_insert_with(made)
}

fn find(modes: &[AuthMode], name: &str) -> Option<AuthMode> {
    modes
        .iter()
        .find(|mode| mode.as_str() == name || mode.alias() == Some(name))
        .copied()
}

impl<'de> Deserialize<'de> for AuthMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(|UnknownAuthMode| {
            let known: Vec<String> = Self::all()
                .iter()
                .flat_map(|mode| [Some(mode.as_str()), mode.alias()])
                .flatten()
                .map(|name| format!("`{name}`"))
                .collect();
            let known = known.join(", ");
            de::Error::custom(format!("unknown variant `{name}`, expected one of {known}"))
        })
    }
}

impl JsonSchema for AuthMode {
    fn schema_name() -> Cow<'static, str> {
        "AuthMode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let modes: Vec<Value> = Self::all()
            .iter()
            .map(|mode| json!({ "type": "string", "const": mode.as_str(), "description": mode.0.description }))
            .collect();
        json_schema!({
            "oneOf": modes,
            "description": "How a webhook's deliveries are verified. Serialized under its own name; also \
                deserializes from\nthe vendor's name.",
        })
    }
}
