//! `[vault]`: how secrets are stored while the vault is sealed, and whether provider keys stay in
//! plaintext.

use super::declare::settings;
use crate::key::Change::Live;

settings! {
    /// The section `[vault]`.
    vault Vault {
        /// While the vault is sealed, store new secrets as plaintext until the next unseal;
        /// false refuses them.
        plaintext_while_sealed: bool = flag(true), StepUp, Live;
        /// Keep the plaintext file of provider keys next to its encrypted copy.
        keep_plaintext_provider_keys: bool = flag(true), StepUp, Live;
    }
}
