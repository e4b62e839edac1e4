//! `[vault]`: how secrets are stored while the vault is sealed, and whether provider keys stay in
//! plaintext.

use crate::key::{Change, Guard, Initial, KeySpec, Kind};
use crate::merge::{Bad, Reader};

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "vault.plaintext_while_sealed",
        kind: Kind::Flag,
        default: Initial::Flag(true),
        doc: "While the vault is sealed, store new secrets as plaintext until the next unseal; \
              false refuses them.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "vault.keep_plaintext_provider_keys",
        kind: Kind::Flag,
        default: Initial::Flag(true),
        doc: "Keep the plaintext file of provider keys next to its encrypted copy.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// `[vault]`
#[derive(Clone, Debug)]
pub struct Vault {
    /// Whether new secrets are stored as plaintext while the vault is sealed; otherwise they are
    /// refused.
    pub plaintext_while_sealed: bool,
    /// Whether the plaintext file of provider keys is kept.
    pub keep_plaintext_provider_keys: bool,
}

impl Vault {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, Bad> {
        Ok(Self {
            plaintext_while_sealed: reader.flag("vault.plaintext_while_sealed")?,
            keep_plaintext_provider_keys: reader.flag("vault.keep_plaintext_provider_keys")?,
        })
    }
}
