//! Audit rows for calls whose own crate writes none. The method table defines the row; it is written once
//! the call has succeeded.

use crate::method_entry::{Audit, Call, Method};
use gatehouse_auth::Auth;
use gatehouse_domain::Actor;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// A row to write if the call succeeds.
pub(crate) struct Note {
    auth: Auth,
    actor: Actor,
    kind: &'static str,
    detail: Map<String, Value>,
    result: &'static [&'static str],
}

impl Note {
    /// Collects what is known before the call: the actor, the named params, and the names of other params.
    pub(crate) fn of(method: &Method, call: &Call, params: Option<&RawValue>) -> Option<Self> {
        let Audit::Row {
            kind,
            params: named,
            result,
        } = method.audit
        else {
            return None;
        };
        let sent: Map<String, Value> = params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default();
        let mut detail = picked(&sent, named);
        let others: Vec<&String> = sent
            .keys()
            .filter(|name| !named.contains(&name.as_str()))
            .collect();
        if !others.is_empty() {
            detail.insert("sent".to_owned(), json!(others));
        }
        Some(Self {
            auth: call.services.auth.clone(),
            actor: call.actor(),
            kind,
            detail,
            result,
        })
    }

    /// Adds the named members of the result and writes the row.
    pub(crate) async fn write(mut self, result: &RawValue) {
        if !self.result.is_empty()
            && let Ok(made) = serde_json::from_str::<Map<String, Value>>(result.get())
        {
            let made = picked(&made, self.result);
            self.detail.insert("made".to_owned(), Value::Object(made));
        }
        let detail = Value::Object(self.detail);
        self.auth.note_change(self.kind, self.actor, detail).await;
    }
}

/// Returns the named members that exist.
fn picked(from: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let found = names.iter().filter_map(|name| from.get_key_value(*name));
    found
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
