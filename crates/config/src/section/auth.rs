//! `[auth]`: access to the service.

use super::declare::settings;
use crate::invalid_value::InvalidValue;
use crate::key::Change::{Elsewhere, Live, Restart};
use std::str::FromStr;

const SCOPES: &[&str] = &["all", "local"];

settings! {
    /// The section `[auth]`.
    auth Auth {
        /// Encrypt stored secrets with a key protected by the password; changed by vault
        /// disable and enable.
        vault_enabled: bool = flag(true), StepUp, Elsewhere("use vault disable or vault enable");
        /// Who has access after all authentication was removed: everyone (all), or only local
        /// connections (local).
        disabled_scope: DisabledScope = one_of(SCOPES, "all", DisabledScope::All), StepUp, Live;
        /// Require the password or a passkey again for dangerous changes if the last confirmation was more than 15
        /// minutes ago.
        step_up: bool = flag(true), StepUp, Live;
        /// Refuse API keys and devices, even with operator.admin, when an operation needs the
        /// password or a passkey again.
        step_up_for_keys: bool = flag(false), StepUp, Live;
        /// Password hashes computed at the same time; each uses one core and 64 MiB.
        kdf_concurrency: usize = whole(1, 2, 64), StepUp, Restart;
        /// Require the setup code from local connections too.
        local_setup_code: bool = flag(false), StepUp, Live;
    }
}

/// Which callers are admitted while authentication is disabled (`auth_disabled`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DisabledScope {
    /// Everyone.
    #[default]
    All,
    /// Local connections only.
    Local,
}

impl FromStr for DisabledScope {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "all" => Ok(Self::All),
            "local" => Ok(Self::Local),
            _ => Err(InvalidValue::expected_one_of(SCOPES)),
        }
    }
}
