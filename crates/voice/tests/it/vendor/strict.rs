//! Strict checks of requests: method, path, headers, and JSON without unknown fields.

use super::fake_server::{ReceivedRequest, Verdict};
use serde_json::{Map, Value};

/// The result of a check; the error is the rejection.
pub type Look<T> = Result<T, Verdict>;

/// Returns a rejection.
pub fn no<T>(status: u16, why: impl Into<String>) -> Look<T> {
    Err(Verdict::refused(status, why))
}

/// Merges both cases into one verdict.
pub fn verdict(look: Look<Verdict>) -> Verdict {
    look.unwrap_or_else(|refused| refused)
}

/// Checks method and path.
pub fn route(seen: &ReceivedRequest, method: &str, path: &str) -> Look<()> {
    if seen.path != path {
        return no(404, format!("there is no {}", seen.path));
    }
    if seen.method != method {
        return no(405, format!("{} instead of {method}", seen.method));
    }
    Ok(())
}

/// Checks the value of a header; rejects with `status`.
pub fn header(seen: &ReceivedRequest, name: &str, value: &str, status: u16) -> Look<()> {
    match seen.header(name) {
        Some(it) if it == value => Ok(()),
        Some(_) => no(status, format!("the header {name} is another")),
        None => no(status, format!("the header {name} is missing")),
    }
}

/// Checks that the query contains only these parameters, each at most once.
pub fn query(seen: &ReceivedRequest, names: &[&str], status: u16) -> Look<()> {
    for (index, (name, _)) in seen.query.iter().enumerate() {
        let is_again = seen.query.iter().take(index).any(|(it, _)| it == name);
        if is_again || !names.contains(&name.as_str()) {
            return no(
                status,
                format!("the parameter {name} is not known, or twice"),
            );
        }
    }
    Ok(())
}

/// Returns a query parameter.
pub fn parameter<'a>(seen: &'a ReceivedRequest, name: &str) -> Option<&'a str> {
    let found = seen.query.iter().find(|(it, _)| it == name);
    found.map(|(_, value)| value.as_str())
}

/// A JSON object, and the status for errors in it.
pub struct Object<'a> {
    pub fields: &'a Map<String, Value>,
    pub status: u16,
}

/// Checks that the body is declared as JSON and is an object.
pub fn body<'a>(seen: &ReceivedRequest, value: &'a Value, status: u16) -> Look<Object<'a>> {
    header(seen, "content-type", "application/json", status)?;
    match value.as_object() {
        Some(fields) => Ok(Object { fields, status }),
        None => no(status, "the body is no object"),
    }
}

impl<'a> Object<'a> {
    /// Checks that the object contains only these fields.
    pub fn knows(&self, names: &[&str]) -> Look<()> {
        match self.fields.keys().find(|it| !names.contains(&it.as_str())) {
            Some(name) => no(self.status, format!("the field {name} is not known")),
            None => Ok(()),
        }
    }

    pub fn text(&self, name: &str) -> Look<Option<&'a str>> {
        match self.fields.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => no(self.status, format!("the field {name} is no string")),
        }
    }

    /// Returns a required non-empty string.
    pub fn needed(&self, name: &str) -> Look<&'a str> {
        match self.text(name)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => no(self.status, format!("the field {name} is missing or empty")),
        }
    }

    pub fn number(&self, name: &str, range: std::ops::RangeInclusive<f64>) -> Look<Option<f64>> {
        let Some(value) = self.fields.get(name) else {
            return Ok(None);
        };
        match value.as_f64() {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            _ => no(self.status, format!("the field {name} is not in {range:?}")),
        }
    }

    /// Returns a nested object.
    pub fn object(&self, name: &str) -> Look<Option<Object<'a>>> {
        match self.fields.get(name) {
            None => Ok(None),
            Some(Value::Object(fields)) => Ok(Some(Object {
                fields,
                status: self.status,
            })),
            Some(_) => no(self.status, format!("the field {name} is no object")),
        }
    }
}
