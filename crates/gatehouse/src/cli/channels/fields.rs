//! Reads the fields of a channel from the command line and the terminal.

use crate::cli::{client::Client, output::field, prompt, usage};
use anyhow::Result;
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};

pub(super) fn fields_of(pairs: &[String]) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    for pair in pairs {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| usage::wrong(format!("--field {pair}: expected NAME=VALUE")))?;
        let value = if value.is_empty() {
            Value::Null
        } else {
            json!(value)
        };
        fields.insert(name.to_owned(), value);
    }
    Ok(fields)
}

/// Prompts for required secrets that are missing. Other users of the machine could see secrets on the command line.
pub(super) async fn ask_for_secrets(
    client: &Client,
    kind: &str,
    fields: &mut Map<String, Value>,
) -> Result<()> {
    let list = client.rpc("channels.types", json!({})).await?;
    let types = list.get("types").and_then(Value::as_array);
    let mut types = types.into_iter().flatten();
    let Some(found) = types.find(|item| field(item, "type") == kind) else {
        return Ok(());
    };
    let wanted = found.get("fields").and_then(Value::as_array);
    for one in wanted.into_iter().flatten() {
        let is = |name: &str| one.get(name) == Some(&Value::Bool(true));
        let name = field(one, "name");
        if is("secret") && is("required") && !fields.contains_key(&name) {
            let secret = prompt::secret(&field(one, "label"))?;
            fields.insert(name, json!(secret.expose_secret()));
        }
    }
    Ok(())
}
