//! `[vault]`: how secrets are stored while the vault is sealed, whether provider keys stay in
//! plaintext, and whether nodes share the data key.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use secrecy::SecretString;

const fn flag(key: &'static str, default: bool, doc: &'static str) -> KeySpec {
    KeySpec {
        key,
        kind: Kind::Flag,
        default: Initial::Flag(default),
        doc,
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    }
}

pub(crate) const KEYS: &[KeySpec] = &[
    flag(
        "vault.plaintext_while_sealed",
        true,
        "While the vault is sealed, store new secrets as plaintext until the next unseal; false refuses them.",
    ),
    flag(
        "vault.hold_while_sealed",
        false,
        "While the vault is sealed, accept deliveries and store them encrypted; they are verified and processed \
         after the next unseal. At most 1,000 deliveries or 64 MiB for each webhook.",
    ),
    flag(
        "vault.keep_plaintext_provider_keys",
        true,
        "Keep the plaintext file of provider keys next to its encrypted copy.",
    ),
    flag(
        "vault.share_unseal",
        true,
        "With vault.cluster_secret on PostgreSQL: a node that is unlocked unlocks the other nodes, and a rotation \
         does not seal them.",
    ),
    KeySpec {
        key: "vault.cluster_secret",
        kind: Kind::Text(Rule::Secret),
        default: Initial::Unset,
        doc: "A random text of at least 32 characters, the same on all nodes. It protects the vault's key while \
              nodes exchange it through the database.",
        example: "\"…\"",
        guard: Guard::StepUp,
        change: Change::Never(
            "the database must not contain the cluster secret; set it in the file or the environment",
        ),
    },
];

/// The section `[vault]`.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate setting; together they do not form a state"
)]
pub struct Vault {
    /// Store secrets as plaintext while the vault is sealed, instead of refusing them.
    pub plaintext_while_sealed: bool,
    /// Accept deliveries while the vault is sealed.
    pub hold_while_sealed: bool,
    /// Keep the plaintext file of provider keys.
    pub keep_plaintext_provider_keys: bool,
    /// Share the data key with the nodes that have the same cluster secret.
    pub share_unseal: bool,
    /// The secret of the nodes that share the data key.
    pub cluster_secret: Option<SecretString>,
}

impl Vault {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            plaintext_while_sealed: reader.flag("vault.plaintext_while_sealed")?,
            hold_while_sealed: reader.flag("vault.hold_while_sealed")?,
            keep_plaintext_provider_keys: reader.flag("vault.keep_plaintext_provider_keys")?,
            share_unseal: reader.flag("vault.share_unseal")?,
            cluster_secret: reader.text("vault.cluster_secret").map(SecretString::from),
        })
    }
}
