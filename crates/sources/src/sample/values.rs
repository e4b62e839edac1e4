//! The values of a sample.

use super::family;
use gatehouse_domain::Timestamp;
use serde_json::Value;

/// The values of the placeholders.
pub(super) struct Values<'a> {
    pub(super) event: &'a str,
    pub(super) id: &'a str,
    pub(super) now_ms: i64,
}

impl Values<'_> {
    /// Replaces the placeholders. Returns `None` for a string that is a placeholder without a value.
    pub(super) fn fill(&self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::String(text) => return self.fill_text(text),
            Value::Array(items) => items.iter().filter_map(|item| self.fill(item)).collect(),
            Value::Object(members) => members
                .iter()
                .filter_map(|(name, member)| Some((name.clone(), self.fill(member)?)))
                .collect(),
            other => other.clone(),
        })
    }

    fn fill_text(&self, text: &str) -> Option<Value> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, (choice, after))) = rest
            .split_once('{')
            .and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            let value = choice.split('|').find_map(|name| self.named(name))?;
            if before.is_empty() && after.is_empty() && filled.is_empty() {
                return Some(value);
            }
            filled.push_str(before);
            match value {
                Value::String(text) => filled.push_str(&text),
                other => filled.push_str(&other.to_string()),
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(Value::from(filled))
    }

    pub(super) fn named(&self, name: &str) -> Option<Value> {
        if let Some(literal) = name.strip_prefix('\'') {
            return Some(Value::from(literal.trim_end_matches('\'')));
        }
        Some(match name {
            "id" => Value::from(self.id),
            "id32" => Value::from(format!("{:0>32.32}", self.id)),
            "event" => Value::from(self.event),
            "family" => Value::from(family(self.event)),
            "action" => Value::from(self.event.split_once('.')?.1),
            "time" => Value::from(Timestamp::from_millis(self.now_ms).to_string()),
            "millis" => Value::from(self.now_ms),
            _ => {
                let later = name.strip_prefix("seconds")?.strip_prefix('+');
                let later: i64 = later.unwrap_or("0").parse().ok()?;
                Value::from(self.now_ms / 1000 + later)
            }
        })
    }
}
