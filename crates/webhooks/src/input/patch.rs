//! A member of the input that may be absent, `null` or there.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// A member of the input: absent, `null`, or a value.
#[derive(Clone, Debug, Default)]
pub enum Patch<T> {
    /// It is not there: nothing changes.
    #[default]
    Absent,
    /// It is `null`: back to what it is without a word.
    Clear,
    /// It is this.
    Set(T),
}

impl<T> Patch<T> {
    fn from_option(value: Option<T>) -> Self {
        value.map_or(Self::Clear, Self::Set)
    }

    /// Whether something is said at all.
    pub const fn is_said(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// The value, if there is one.
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
