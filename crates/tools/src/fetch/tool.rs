//! The tool `web_fetch`.

use super::{CHARACTERS, MAX_HEADER_CHARACTERS, MAX_HEADERS, MAX_URL_CHARACTERS, WebFetch};
use crate::secrets::names_secrets;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, Tool, ToolContext, ToolError};
use serde_json::{Value, json};
use url::Url;

/// Returns whether a request names secrets.
fn uses_secrets(input: &Value) -> bool {
    let headers = input.get("headers").and_then(Value::as_object);
    let values = headers.into_iter().flat_map(serde_json::Map::values);
    // Secrets are inserted into the parsed URL, because parsing removes and encodes characters.
    let url = input.get("url").and_then(Value::as_str);
    let url = url.and_then(|url| Url::parse(url.trim()).ok());
    let parts = url.iter().flat_map(|url| [Some(url.path()), url.query()]);
    let mut texts = values.filter_map(Value::as_str).chain(parts.flatten());
    texts.any(names_secrets)
}

impl Tool for WebFetch {
    fn name(&self) -> &'static str {
        "web_fetch"
    }

    fn description(&self) -> &'static str {
        "Fetches a page of the public web by its URL and returns its readable text. HTML is \
         converted to Markdown; the text of PDF and office documents is extracted; plain text, \
         JSON and XML are returned unchanged. A JPEG, PNG or WebP image is shown to you if you can \
         see pictures. A long text is returned in parts: call again with the next_offset of the \
         answer as offset. It cannot reach private addresses and sends no cookies or credentials \
         of its own."
    }

    fn parameters(&self) -> Value {
        let (min, default, max) = CHARACTERS;
        let mut schema = json!({
            "type": "object",
            "properties": {
                "url": {
                    "type": "string",
                    "description": "The complete URL, beginning with https:// or http://.",
                    "minLength": 1,
                    "maxLength": MAX_URL_CHARACTERS,
                },
                "max_chars": {
                    "type": "integer",
                    "description": "The maximum number of characters of text to return.",
                    "minimum": min,
                    "maximum": max,
                    "default": default,
                },
                "offset": {
                    "type": "integer",
                    "description": "The character of the text to begin with.",
                    "minimum": 0,
                    "default": 0,
                },
            },
            "required": ["url"],
            "additionalProperties": false,
        });
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        if let (Some(properties), Some(secrets)) = (properties, self.secrets.listed()) {
            let headers = json!({
                "type": "object",
                "description": format!(
                    "Additional request headers. In their values, and in the path and query of the \
                     URL, these stand for secrets that you cannot see: {secrets}."
                ),
                "maxProperties": MAX_HEADERS,
                "additionalProperties": { "type": "string", "maxLength": MAX_HEADER_CHARACTERS },
            });
            properties.insert("headers".to_owned(), headers);
        }
        schema
    }

    fn audience(&self) -> Audience {
        Audience::Public
    }

    fn returns_private(&self, input: &Value) -> bool {
        uses_secrets(input)
    }

    /// Returns the effect. A request with a secret has the rights of the secret's owner, so it may
    /// change something.
    fn effect(&self, input: &Value, has_private: bool) -> Effect {
        if uses_secrets(input) {
            Effect::Change
        } else if has_private {
            Effect::Reveal
        } else {
            Effect::None
        }
    }

    /// Returns the host, with its port if the URL has one.
    fn target(&self, input: &Value) -> Option<String> {
        let url = Url::parse(input.get("url")?.as_str()?.trim()).ok()?;
        let host = url.host_str()?;
        Some(match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        })
    }

    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(self.fetch(context, input))
    }
}
