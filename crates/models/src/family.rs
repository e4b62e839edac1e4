//! The trait that both provider families implement: encoding requests, sending keys, decoding responses.

use crate::Limits;
use crate::chat::{ChatRequest, ReasoningEffort, ToolSpec};
use crate::decoder::Decoder;
use crate::learned::Learned;
use crate::listed::Listed;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::fmt;
use url::Url;

/// The input of a chat request.
pub(crate) struct ChatCall<'a> {
    pub(crate) base_url: &'a Url,
    pub(crate) model: &'a str,
    pub(crate) request: &'a ChatRequest,
    /// Parameters that the model does not accept.
    pub(crate) learned: Learned,
    /// The longest answer of the model in tokens, if known.
    pub(crate) max_output: Option<u64>,
}

impl ChatCall<'_> {
    /// Returns the tools to send.
    pub(crate) fn tools(&self) -> &[ToolSpec] {
        if self.learned.no_tools {
            &[]
        } else {
            &self.request.tools
        }
    }

    pub(crate) fn temperature(&self) -> Option<f64> {
        self.request
            .temperature
            .filter(|_| !self.learned.no_temperature)
    }

    pub(crate) fn effort(&self) -> Option<ReasoningEffort> {
        self.request.effort.filter(|_| !self.learned.no_effort)
    }
}

/// A provider family.
pub(crate) trait Family: Send + Sync + fmt::Debug {
    /// Returns the chat path below the base URL.
    fn chat_path(&self) -> &'static [&'static str];
    fn chat_body(&self, call: &ChatCall<'_>) -> Value;
    /// Returns the headers of every request. Returns `None` if the key is not a valid header value.
    fn headers(&self, key: Option<&str>) -> Option<HeaderMap>;
    /// Returns the query string for listing models.
    fn list_query(&self) -> Option<&'static str>;
    /// Parses one entry of a model list.
    fn listed(&self, entry: &Value) -> Option<Listed>;
    fn decoder(&self, limits: Limits) -> Box<dyn Decoder>;
    /// Returns the vendor's model to use when none is specified.
    fn default_model(&self) -> &'static str;
}

/// Appends a path to a base URL and keeps the base's query.
pub(crate) fn below(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// Inserts a header that is hidden from debug output.
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
}
