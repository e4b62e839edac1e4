//! Provider keys in the form of the files.

use super::FileError;
use gatehouse_domain::KeyBinding;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use url::Url;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// One provider's key, in the form of the file. It is serialized only here.
#[derive(PartialEq, Eq, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct ProviderKey {
    pub(crate) key: String,
    /// The base URL that the key was entered for.
    pub(crate) base_url: String,
    /// The kind of service that the key was entered for; `None` in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
}

impl ProviderKey {
    /// Returns the text of a row. The text contains the service, so that a modified row cannot move the key to
    /// another service.
    pub(crate) fn to_text(&self) -> Result<SecretString, FileError> {
        // Allocates enough capacity at once: growing would leave copies of the key in memory.
        let bytes = 256 + 2 * (self.key.len() + self.base_url.len());
        let mut json = Zeroizing::new(Vec::with_capacity(bytes));
        serde_json::to_writer(&mut *json, self).map_err(io::Error::from)?;
        let text = str::from_utf8(&json).map_err(io::Error::other)?;
        Ok(SecretString::from(text))
    }

    /// Returns the service that the key is bound to; `None` if the file was edited and contains no valid URL.
    pub(crate) fn belongs_to(&self) -> Option<KeyBinding> {
        let url = Url::parse(&self.base_url).ok()?;
        Some(match &self.kind {
            Some(kind) => KeyBinding::of_url(kind, &url),
            None => KeyBinding::of_any_kind(&url),
        })
    }
}

/// All keys, by provider.
#[derive(Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ProviderKeys(pub(crate) BTreeMap<String, ProviderKey>);

impl ProviderKeys {
    pub(super) fn to_json(&self) -> Result<Zeroizing<Vec<u8>>, FileError> {
        // Allocates enough capacity at once: growing would leave copies of the keys in memory.
        let bytes: usize = self
            .0
            .values()
            .map(|k| k.key.len() + k.base_url.len())
            .sum();
        let mut json = Zeroizing::new(Vec::with_capacity(1024 + 2 * bytes + 256 * self.0.len()));
        serde_json::to_writer_pretty(&mut *json, self).map_err(io::Error::from)?;
        Ok(json)
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }
}
