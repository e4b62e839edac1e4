//! The permissions of an identity. `operator.admin` includes every scope; no other scope includes another one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// One permission of an API key.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Scope {
    /// View status, lists and history.
    #[serde(rename = "operator.read")]
    Read,
    /// Send messages, create jobs, change configuration.
    #[serde(rename = "operator.write")]
    Write,
    /// Everything.
    #[serde(rename = "operator.admin")]
    Admin,
    /// Answer approval requests.
    #[serde(rename = "operator.approvals")]
    Approvals,
    /// Pair devices and nodes.
    #[serde(rename = "operator.pairing")]
    Pairing,
}

impl Scope {
    /// Every scope, in the specification's order.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Write,
        Self::Admin,
        Self::Approvals,
        Self::Pairing,
    ];

    /// Returns the name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "operator.read",
            Self::Write => "operator.write",
            Self::Admin => "operator.admin",
            Self::Approvals => "operator.approvals",
            Self::Pairing => "operator.pairing",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The text is not a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`")]
pub struct UnknownScope(pub String);

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.name() == text)
            .ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// The scopes of an identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScopeSet(u8);

impl ScopeSet {
    /// Returns every scope, for sessions and loopback identities.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// Returns whether these scopes permit an action that requires `required`.
    pub const fn allows(self, required: Scope) -> bool {
        self.0 & (required.bit() | Scope::Admin.bit()) != 0
    }

    /// Returns whether an identity with these scopes may grant all of `wanted`.
    pub fn may_grant(self, wanted: Self) -> bool {
        wanted.iter().all(|scope| self.allows(scope))
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the scopes in the set, in the specification's order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL
            .into_iter()
            .filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// Returns the text form for the database: names separated by spaces.
    pub fn to_text(self) -> String {
        self.iter().map(Scope::name).collect::<Vec<_>>().join(" ")
    }

    /// Parses the output of [`ScopeSet::to_text`].
    pub fn from_text(text: &str) -> Result<Self, UnknownScope> {
        text.split_whitespace().map(Scope::from_str).collect()
    }
}

impl FromIterator<Scope> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl Serialize for ScopeSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for ScopeSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Scope>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

impl JsonSchema for ScopeSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ScopeSet".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<Scope>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(scopes: &[Scope]) -> ScopeSet {
        scopes.iter().copied().collect()
    }

    #[test]
    fn only_admin_contains_another_scope() {
        for held in Scope::ALL {
            for needed in Scope::ALL {
                let expected = held == needed || held == Scope::Admin;
                assert_eq!(
                    set(&[held]).allows(needed),
                    expected,
                    "{held:?} for {needed:?}"
                );
            }
        }
    }

    #[test]
    fn nobody_grants_what_they_do_not_hold() {
        assert!(!set(&[Scope::Write]).may_grant(set(&[Scope::Read])));
        assert!(!set(&[Scope::Read, Scope::Write]).may_grant(set(&[Scope::Admin])));
        assert!(set(&[Scope::Admin]).may_grant(ScopeSet::all()));
    }

    #[test]
    fn text_round_trips() {
        let scopes = set(&[Scope::Pairing, Scope::Read]);
        assert_eq!(scopes.to_text(), "operator.read operator.pairing");
        assert_eq!(ScopeSet::from_text(&scopes.to_text()), Ok(scopes));
        assert!(ScopeSet::from_text("operator.root").is_err());
    }
}
