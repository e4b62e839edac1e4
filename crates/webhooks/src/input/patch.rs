//! An input member that distinguishes absent from `null`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// A change of one input member.
#[derive(Clone, Debug, Default)]
pub enum Patch<T> {
    /// The member is absent: no change.
    #[default]
    Absent,
    /// The member is `null`: reset to the default.
    Clear,
    /// The member has a value.
    Set(T),
}

impl<T> Patch<T> {
    fn from_option(value: Option<T>) -> Self {
        value.map_or(Self::Clear, Self::Set)
    }

    /// Returns whether the member is present, including as `null`.
    pub const fn is_said(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Absent | Self::Clear => None,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from_option)
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Option::<T>::json_schema(generator)
    }
}
