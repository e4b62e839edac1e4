//! The shell: one document for every user and every page path. It is public, so it contains only six values.

use super::files;
use crate::app::App;
use crate::respond::Refusal;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use gatehouse_domain::Problem;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::json;

const PLACEHOLDER: &str = "__SHELL_DATA__";

pub(crate) fn shell(app: &App) -> Response {
    let facts = app.auth().facts();
    let services = app.services();
    let data = json!({
        "product": "Gatehouse",
        "vault_status": app.secrets().status().as_str(),
        "voice_enabled": services.build.voice,
        "has_passkeys": facts.has_passkeys,
        "setup_required": !facts.setup_complete,
        "auth_disabled": facts.auth_disabled,
    });
    let Some(document) = files::document() else {
        return Refusal(Problem::internal()).into_response();
    };
    let html = String::from_utf8_lossy(&document)
        .replace(PLACEHOLDER, &escape_attribute(&data.to_string()));
    let mut response = Response::new(Body::from(html));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Escapes text for use in an attribute or between tags.
pub(crate) fn escape_attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() * 2);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_has_one_place_for_the_facts() {
        for document in files::documents() {
            let text = String::from_utf8(document.into_owned()).unwrap();
            assert_eq!(text.matches(PLACEHOLDER).count(), 1);
            assert!(
                !text.contains("<script>"),
                "the policy allows no inline script"
            );
        }
    }

    #[test]
    fn an_attribute_cannot_be_left() {
        assert_eq!(
            escape_attribute(r#"{"a":"<'&>"}"#),
            "{&quot;a&quot;:&quot;&lt;&#39;&amp;&gt;&quot;}"
        );
    }
}
