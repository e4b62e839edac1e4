//! The one trait of both families: how a conversation is written, how a key is sent, how an answer is read.

use crate::anthropic::Anthropic;
use crate::chat::ChatRequest;
use crate::listing::Listed;
use crate::openai::Openai;
use crate::reply_reader::Decoder;
use crate::{Limits, ProviderKind};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::fmt;
use url::Url;

/// What is sent for a chat.
pub(crate) struct ChatCall<'a> {
    pub(crate) base_url: &'a Url,
    pub(crate) model: &'a str,
    pub(crate) request: &'a ChatRequest,
    /// Whether to ask for the count of tokens. Servers that do not know the question are asked again
    /// without it.
    pub(crate) ask_usage: bool,
}

/// A family of providers.
pub(crate) trait Family: Send + Sync + fmt::Debug {
    /// Where chats go, below the base.
    fn chat_path(&self) -> &'static [&'static str];
    /// The body of a chat.
    fn chat_body(&self, call: &ChatCall<'_>) -> Value;
    /// The headers that every request carries. `None` when the key cannot stand in a header.
    fn headers(&self, key: Option<&str>) -> Option<HeaderMap>;
    /// The parameters of a list of models.
    fn list_query(&self) -> Option<&'static str>;
    /// One entry of a list of models.
    fn listed(&self, entry: &Value) -> Option<Listed>;
    /// What reads an answer.
    fn decoder(&self, limits: Limits) -> Box<dyn Decoder>;
    /// The vendor's model to take when nothing is said.
    fn default_model(&self) -> &'static str;
}

pub(crate) fn family(kind: ProviderKind) -> &'static dyn Family {
    match kind {
        ProviderKind::Openai => &Openai,
        ProviderKind::Anthropic => &Anthropic,
    }
}

/// A path below a base URL; the base's own query stays.
pub(crate) fn below(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// A header that is never printed.
pub(crate) fn secret_header(headers: &mut HeaderMap, name: HeaderName, value: &str) -> Option<()> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_below_its_base() {
        for (base, url) in [
            ("http://h/v1", "http://h/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            ("http://h/a/b?v=1", "http://h/a/b/chat/completions?v=1"),
        ] {
            let base = Url::parse(base).unwrap();
            assert_eq!(below(&base, &["chat", "completions"]).as_str(), url);
        }
    }

    #[test]
    fn keys_are_not_printed() {
        for kind in [ProviderKind::Openai, ProviderKind::Anthropic] {
            let headers = family(kind).headers(Some("sk-secret")).unwrap();
            assert!(!format!("{headers:?}").contains("sk-secret"));
            assert!(family(kind).headers(Some("a\nb")).is_none());
        }
    }
}
