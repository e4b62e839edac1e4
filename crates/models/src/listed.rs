//! An entry of a provider's model list.

use gatehouse_domain::ModelFacts;

/// An entry of a provider's model list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) facts: ModelFacts,
}
