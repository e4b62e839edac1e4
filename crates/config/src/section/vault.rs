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
        /// While the vault is sealed, accept deliveries and store them encrypted; they are verified
        /// and processed after the next unseal. At most 1,000 deliveries or 64 MiB for each webhook.
        hold_while_sealed: bool = flag(false), StepUp, Live;
        /// Keep the plaintext file of provider keys next to its encrypted copy.
        keep_plaintext_provider_keys: bool = flag(true), StepUp, Live;
    }
}
