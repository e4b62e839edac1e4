//! The fields of a request before they are parsed: at the top level or under `persona`, with any accepted
//! name of the ID.

use gatehouse_domain::{Problem, input};
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;

/// The accepted names of the ID. `persona` is also accepted if its value is a string.
const ID_NAMES: [&str; 3] = ["id", "persona_id", "personaId"];

/// The fields of an object, without duplicates.
#[derive(Debug)]
pub(super) struct Members(Map<String, Value>);

/// An invalid field, with the reason.
pub(super) struct Refusal {
    pub(super) field: String,
    pub(super) reason: String,
}

impl Refusal {
    fn new(field: &str, reason: &str) -> Self {
        Self {
            field: field.to_owned(),
            reason: reason.to_owned(),
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        let detail = |name: &str| {
            let text = problem.details.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Self {
            field: detail("field"),
            reason: detail("reason"),
        }
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Map::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if members.contains_key(&name) {
                        return Err(A::Error::custom(format!("duplicate field `{name}`")));
                    }
                    members.insert(name, value);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

impl Members {
    /// Returns the ID, if present, and the parsed fields. An unknown field is reported before any other error.
    pub(super) fn read<T: DeserializeOwned>(self) -> Result<(Option<String>, T), Refusal> {
        let mut members = self.0;
        let mut ids = Vec::new();
        match members.remove("persona") {
            None | Some(Value::Null) => {}
            Some(Value::Object(nested)) => {
                take_ids(&mut members, &mut ids);
                for (name, value) in nested {
                    if members.contains_key(&name) {
                        return Err(Refusal::new(&name, "given twice"));
                    }
                    members.insert(name, value);
                }
            }
            Some(id) => ids.push(id),
        }
        take_ids(&mut members, &mut ids);
        let rest = input::from_value(Value::Object(members))?;
        Ok((one_id(ids)?, rest))
    }
}

fn take_ids(members: &mut Map<String, Value>, ids: &mut Vec<Value>) {
    let found = ID_NAMES.iter().filter_map(|name| members.remove(*name));
    ids.extend(found.filter(|id| !id.is_null()));
}

fn one_id(ids: Vec<Value>) -> Result<Option<String>, Refusal> {
    let mut one = None;
    for id in ids {
        let Value::String(id) = id else {
            return Err(Refusal::new("id", "expected a string"));
        };
        if one.as_ref().is_some_and(|one| *one != id) {
            return Err(Refusal::new("id", "given twice"));
        }
        one = Some(id);
    }
    Ok(one)
}
