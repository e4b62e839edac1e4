//! `http`: JSON to a URL that the owner chooses. The JSON is an object with the text, or a body from the owner's
//! template. It is signed according to Standard Webhooks if the account has a secret.

use super::{About, Extra, Part, Sender};
use crate::error::Failure;
use crate::fields::{FieldKind, FieldSpec};
use crate::signature;
use crate::vendor::address;
use futures_util::future::BoxFuture;
use reqwest::RequestBuilder;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::{Map, Value};

#[derive(Debug)]
pub(crate) struct Http;

static ABOUT: About = About {
    kind: "http",
    label: "HTTP receiver",
    description: "Sends each message as a JSON POST to your URL, optionally signed.",
    noun: "the HTTP receiver",
    fields: &[
        FieldSpec::new(
            "url",
            "URL",
            FieldKind::Url,
            "The URL to send POST requests to. It may be in a private network. Redirects are not followed.",
        )
        .required(),
        FieldSpec::new(
            "secret",
            "Signing secret",
            FieldKind::SigningSecret,
            "A Standard Webhooks secret: whsec_ followed by Base64. Each message is signed with it.",
        )
        .secret(),
        FieldSpec::new(
            "headers",
            "Headers",
            FieldKind::Headers,
            "Lines such as Authorization: Bearer abc.",
        )
        .secret(),
    ],
    extra: &[Extra {
        name: "*",
        help: "Each key is added to the JSON object next to text, source and timestamp.",
    }],
    takes_json: true,
    built_in: false,
    calls_any_address: true,
};

impl Sender for Http {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let url = part
                .field("url")
                .ok_or_else(|| Failure::incomplete("url", "the channel has none"))?;
            let body = if part.message.is_json {
                part.text.as_bytes().to_vec()
            } else {
                body(&part).to_string().into_bytes()
            };
            let request = with_headers(part.client().post(address(url)?), &part);
            let id = format!("msg_{}", part.part_id());
            let request = signed(request, &part, &id, &body)?;
            let request = request
                .header("webhook-id", id)
                .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
                .body(body);
            let noun = part.noun();
            part.call(request).await?.check(&noun, None)
        })
    }
}

/// Returns the body for a text. The owner's extra values are added last and override the others.
fn body(part: &Part<'_>) -> Value {
    let message = part.message;
    let mut body = Map::new();
    body.insert("text".to_owned(), Value::from(part.text));
    body.insert("source".to_owned(), Value::from(message.source));
    body.insert("timestamp".to_owned(), Value::from(message.at.to_string()));
    for (name, value) in message.extra {
        body.insert(name.clone(), Value::from(value.as_str()));
    }
    Value::Object(body)
}

/// Adds the account's own headers, which were validated when they were set.
fn with_headers(mut request: RequestBuilder, part: &Part<'_>) -> RequestBuilder {
    let stored = part.secret("headers").unwrap_or("{}");
    let headers: Map<String, Value> = serde_json::from_str(stored).unwrap_or_default();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_str(value.as_str().unwrap_or_default());
        if let (Ok(name), Ok(mut value)) = (name, value) {
            value.set_sensitive(true);
            request = request.header(name, value);
        }
    }
    request
}

/// Signs the request. The timestamp is the time of the current attempt, as the standard requires.
fn signed(
    request: RequestBuilder,
    part: &Part<'_>,
    id: &str,
    body: &[u8],
) -> Result<RequestBuilder, Failure> {
    let Some(secret) = part.secret("secret") else {
        return Ok(request);
    };
    let seconds = part.inner.clock.now().as_millis().div_euclid(1000);
    let signature = signature::key(secret)
        .and_then(|key| signature::sign(&key, id, seconds, body))
        .ok_or_else(|| Failure::incomplete("secret", "it cannot sign"))?;
    Ok(request
        .header("webhook-timestamp", seconds.to_string())
        .header("webhook-signature", signature))
}
