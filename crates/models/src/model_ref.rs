//! The name of a model.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A model of a provider. Whether they exist is checked only at use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    pub provider: String,
    /// The provider's name for the model; may contain slashes.
    pub model: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}
