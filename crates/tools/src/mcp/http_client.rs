//! The HTTP client of MCP servers. It inserts secrets into each request and removes them from the answers. It also
//! answers a call whose answer is too large. The MCP library would end the stream without the reason, or report that
//! the request could not be sent.

mod clean;
mod token;
mod transport;
mod written;

use super::bearer::Bearer;
use crate::secrets::{Redactor, Request, RequestSecrets};
use arc_swap::ArcSwap;
use futures_util::stream::BoxStream;
use gatehouse_agents::Audience;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use secrecy::SecretString;
use sse_stream::{Error as SseError, Sse};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use url::Url;
use written::written_secrets;

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Failure = StreamableHttpError<reqwest::Error>;

/// A client that limits the size of answers.
#[derive(Clone)]
pub(super) struct HttpClient {
    inner: reqwest::Client,
    /// The largest event of a stream.
    max_event_bytes: usize,
    /// The server's additional headers. They may name secrets.
    headers: Arc<BTreeMap<String, String>>,
    secrets: RequestSecrets,
    /// The source of tokens for requests without a fixed token.
    bearer: Bearer,
    /// The tokens that were sent, newest first.
    tokens: Arc<ArcSwap<Vec<(String, SecretString)>>>,
    /// Removes the secrets in the headers of the settings, and every other secret that was sent. A server may return a
    /// secret later, or in another stream.
    sent: Arc<ArcSwap<Redactor>>,
}

/// A request with its secrets.
struct Prepared {
    uri: Arc<str>,
    headers: Headers,
}

impl HttpClient {
    pub(super) fn new(
        inner: reqwest::Client,
        max_event_bytes: usize,
        headers: BTreeMap<String, String>,
        secrets: RequestSecrets,
        bearer: Bearer,
    ) -> Self {
        Self {
            inner,
            bearer,
            max_event_bytes,
            sent: Arc::new(ArcSwap::from_pointee(written_secrets(&headers))),
            headers: Arc::new(headers),
            secrets,
            tokens: Arc::default(),
        }
    }

    /// Inserts the secrets. The error is for people and models, and contains no secret.
    async fn prepare(&self, uri: &str, mut headers: Headers) -> Result<Prepared, String> {
        let url = Url::parse(uri).map_err(|_| "The URL cannot be parsed.".to_owned())?;
        let request = Request {
            url,
            headers: &self.headers,
        };
        // The owner wrote the headers and the URL, so they are trusted.
        let filled = self.secrets.fill(request, Audience::Trusted).await;
        let filled = filled.map_err(|error| error.message)?;
        if filled.redactor.is_needed() {
            self.sent.rcu(|sent| sent.and(&filled.redactor));
        }
        for (name, value) in filled.headers {
            if let Some(name) = name {
                headers.entry(name).or_insert(value);
            }
        }
        Ok(Prepared {
            uri: Arc::from(filled.url.as_str()),
            headers,
        })
    }

    /// Checks that the secrets of the URL and the headers can be sent.
    pub(super) async fn check(&self, url: &Url) -> Result<(), String> {
        let prepared = self.prepare(url.as_str(), Headers::new());
        prepared.await.map(drop)
    }
}
