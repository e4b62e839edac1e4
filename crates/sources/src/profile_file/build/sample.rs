//! The sample of a profile: from the file, or generated so that its event and its ID can be read.

use super::super::check::leak;
use super::super::raw::Raw;
use super::super::{Mistake, mistake};
use crate::profile::{EventSource, KeySource};
use serde_json::{Map, Value, json};

pub(super) fn text(
    raw: &Raw,
    event: &EventSource,
    keys: &[KeySource],
    file: Option<&str>,
) -> Result<&'static str, Mistake> {
    if let Some(file) = file {
        return Ok(leak(file));
    }
    let body = match &raw.sample {
        Some(body @ Value::Object(_)) => body.clone(),
        Some(_) => return mistake("sample", "expected a table"),
        None => made(event, keys),
    };
    Ok(leak(json!({ "bodies": [{ "merge": [body] }] }).to_string()))
}

fn made(event: &EventSource, keys: &[KeySource]) -> Value {
    let mut body = Value::Object(Map::new());
    let has_detail = !event.detail.is_empty();
    if let Some(place) = event.body.first() {
        let word = if has_detail { "{family}" } else { "{event}" };
        set(&mut body, place.path, word);
    }
    if let Some(detail) = event.detail.first() {
        set(&mut body, detail.path, "{action}");
    }
    for key in keys {
        if let KeySource::Body(path) = key {
            set(&mut body, path, "{id}");
        }
    }
    set(&mut body, "gatehouse_test", "{id}");
    body
}

/// Sets the member at a path. A number is also a key, because a sample needs no arrays.
fn set(body: &mut Value, path: &str, word: &str) {
    let mut place = body;
    for part in path.split('.') {
        if part == "0" {
            if !place.is_array() {
                *place = json!([{}]);
            }
            match place.get_mut(0) {
                Some(first) => place = first,
                None => return,
            }
            continue;
        }
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Some(members) = place.as_object_mut() else {
            return;
        };
        place = members.entry(part).or_insert(Value::Null);
    }
    *place = Value::from(word);
}
