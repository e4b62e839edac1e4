//! `[auth]`: access to the service.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{Bad, Reader};
use crate::value::InvalidValue;
use std::str::FromStr;

const SCOPES: &[&str] = &["all", "local"];

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "auth.vault_enabled",
        kind: Kind::Flag,
        default: Initial::Flag(true),
        doc: "Encrypt stored secrets with a key protected by the password; changed by vault \
              disable and enable.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Elsewhere("use vault disable or vault enable"),
    },
    KeySpec {
        key: "auth.disabled_scope",
        kind: Kind::Text(Rule::OneOf(SCOPES)),
        default: Initial::Text("all"),
        doc: "Who has access after 'Remove all auth': everyone (all), or only local connections \
              (local).",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "auth.step_up",
        kind: Kind::Flag,
        default: Initial::Flag(true),
        doc: "Require the password or a passkey again for dangerous changes, 15 minutes after \
              the last time.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "auth.step_up_for_keys",
        kind: Kind::Flag,
        default: Initial::Flag(false),
        doc: "Refuse API keys and devices, even with operator.admin, when an operation needs the \
              password or a passkey again.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "auth.kdf_concurrency",
        kind: Kind::Whole { min: 1, max: 64 },
        default: Initial::Whole(2),
        doc: "Password hashes computed at a time; each uses one core and 64 MiB.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Restart,
    },
    KeySpec {
        key: "auth.local_setup_code",
        kind: Kind::Flag,
        default: Initial::Flag(false),
        doc: "Require the setup code from local connections too.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// `[auth]`
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own; they make no states together"
)]
pub struct Auth {
    /// Whether stored secrets are encrypted.
    pub vault_enabled: bool,
    /// Which callers are admitted while authentication is disabled.
    pub disabled_scope: DisabledScope,
    /// Whether dangerous changes require a recent confirmation.
    pub step_up: bool,
    /// Whether API keys and devices are refused operations that require a recent confirmation.
    pub step_up_for_keys: bool,
    /// How many password hashes run concurrently.
    pub kdf_concurrency: usize,
    /// Whether local connections need the setup code too.
    pub local_setup_code: bool,
}

impl Auth {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            vault_enabled: reader.flag("auth.vault_enabled")?,
            disabled_scope: reader.required("auth.disabled_scope")?,
            step_up: reader.flag("auth.step_up")?,
            step_up_for_keys: reader.flag("auth.step_up_for_keys")?,
            kdf_concurrency: reader.whole("auth.kdf_concurrency")?,
            local_setup_code: reader.flag("auth.local_setup_code")?,
        })
    }
}

/// Which callers are admitted while authentication is disabled (`auth_disabled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisabledScope {
    /// Everyone.
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
