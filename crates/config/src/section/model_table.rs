//! Values of `[models.providers.<id>.model."<name>"]` and `[models.providers.<id>.headers]`.

use super::proxy::check_header;
use crate::invalid_value::{InvalidValue, MAX_ENTRIES, check_line, check_secret};
use gatehouse_domain::{ModelFacts, is_connection_header};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The maximum number of tokens.
const MAX_TOKENS: u64 = 1_000_000_000;
/// The maximum price of a million tokens.
const MAX_PRICE: f64 = 1_000_000.0;

fn table(value: &Value) -> Result<&Map<String, Value>, InvalidValue> {
    let table = value.as_object();
    let table = table.ok_or_else(|| InvalidValue::new("expected a table"))?;
    if table.len() > MAX_ENTRIES {
        return Err(InvalidValue::new(format!(
            "more than {MAX_ENTRIES} entries"
        )));
    }
    Ok(table)
}

/// Validates the facts of models by name.
pub(crate) fn models(value: &Value) -> Result<Value, InvalidValue> {
    for (name, entry) in table(value)? {
        check_line(name)?;
        let facts = read(entry).ok_or_else(|| {
            InvalidValue::new(
                "expected context and max_output (numbers of tokens), tools, vision and reasoning \
                 (true or false), price_in, price_out and price_cached (prices per million tokens)",
            )
        })?;
        let mut tokens = [facts.context, facts.max_output].into_iter().flatten();
        if tokens.any(|tokens| !(1..=MAX_TOKENS).contains(&tokens)) {
            return Err(InvalidValue::new(format!(
                "expected from 1 to {MAX_TOKENS} tokens"
            )));
        }
        let prices = [facts.price_in, facts.price_out, facts.price_cached];
        if prices
            .into_iter()
            .flatten()
            .any(|price| !(0.0..=MAX_PRICE).contains(&price))
        {
            return Err(InvalidValue::new(format!(
                "expected a price from 0 to {MAX_PRICE}"
            )));
        }
    }
    Ok(value.clone())
}

fn read(value: &Value) -> Option<ModelFacts> {
    serde_json::from_value(value.clone()).ok()
}

/// Parses validated facts.
pub(crate) fn facts<'a>(
    entries: impl Iterator<Item = (&'a String, &'a Value)>,
) -> BTreeMap<String, ModelFacts> {
    entries
        .filter_map(|(name, entry)| Some((name.clone(), read(entry)?)))
        .collect()
}

/// Validates headers by name.
pub(crate) fn headers(value: &Value) -> Result<Value, InvalidValue> {
    let mut checked = Map::new();
    for (name, value) in table(value)? {
        let name = check_header(name)?;
        if name == "content-type" || is_connection_header(&name) {
            return Err(InvalidValue::new("this header cannot be set"));
        }
        let text = value
            .as_str()
            .ok_or_else(|| InvalidValue::new("expected a string"))?;
        checked.insert(name, check_secret(text)?.into());
    }
    Ok(Value::Object(checked))
}

/// Returns the JSON schema of the facts of models by name.
pub(crate) fn schema() -> Value {
    let tokens = json!({ "type": "integer", "minimum": 1, "maximum": MAX_TOKENS });
    let price = json!({ "type": "number", "minimum": 0, "maximum": MAX_PRICE });
    let flag = json!({ "type": "boolean" });
    json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "context": tokens, "max_output": tokens,
                "tools": flag, "vision": flag, "reasoning": flag,
                "price_in": price, "price_out": price, "price_cached": price,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_have_known_names_and_bounds() {
        for good in [
            json!({}),
            json!({"a/b:c": {"context": 1, "max_output": MAX_TOKENS, "tools": false}}),
            json!({"m": {"price_in": 0, "price_out": 12.5, "price_cached": MAX_PRICE}}),
        ] {
            assert_eq!(models(&good).as_ref(), Ok(&good));
        }
        for bad in [
            json!([]),
            json!({"": {}}),
            json!({"m": 1}),
            json!({"m": {"contextt": 1}}),
            json!({"m": {"context": 0}}),
            json!({"m": {"context": 1.5}}),
            json!({"m": {"max_output": MAX_TOKENS + 1}}),
            json!({"m": {"tools": "yes"}}),
            json!({"m": {"price_in": -0.1}}),
            json!({"m": {"price_out": MAX_PRICE * 2.0}}),
        ] {
            assert!(models(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn headers_have_a_name_and_one_line() {
        let good = headers(&json!({"X-Team": " ops "}));
        assert_eq!(good, Ok(json!({"x-team": "ops"})));
        for bad in [
            json!({"a b": "x"}),
            json!({"host": "x"}),
            json!({"x": "a\nb"}),
            json!({"x": 1}),
            json!({"Content-Length": "1"}),
        ] {
            assert!(headers(&bad).is_err(), "{bad}");
        }
    }
}
