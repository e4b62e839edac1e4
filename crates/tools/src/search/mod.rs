//! `web_search`: queries the configured search service. The tool is always registered, so an agent without a service
//! can explain what to configure.

mod brave;
mod key;
mod searxng;
mod tavily;
mod tool;

use crate::html;
use crate::input;
use crate::text;
use arc_swap::ArcSwap;
use gatehouse_agents::ToolError;
use gatehouse_config::{self as config, SearchProvider};
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, read_capped};
use gatehouse_secrets::{KeyOfService, Secrets, SecretsError};
pub use key::key_binding;
use key::variable;
pub(crate) use key::{bind_key, service_of_variable};
use reqwest::{RequestBuilder, StatusCode};
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Brave's limit on the length of a query.
const MAX_QUERY_CHARACTERS: usize = 400;
/// Number of results: minimum, default, maximum.
const RESULTS: (usize, usize, usize) = (1, 5, 20);
/// The time limit for a search.
const TIME: Duration = Duration::from_secs(20);
/// The maximum number of bytes of a response that are read.
const MAX_ANSWER_BYTES: usize = 2 << 20;
/// Returned when no service is configured.
const NOT_CONFIGURED: &str = "web_search is not configured: set tools.web_search.provider to brave, \
    tavily or searxng, and its API key (environment variable BRAVE_API_KEY or TAVILY_API_KEY in the \
    vault) or, for searxng, tools.web_search.base_url.";

/// One result.
struct Hit {
    title: String,
    url: String,
    snippet: String,
}

/// The `web_search` tool.
#[derive(Debug)]
pub(crate) struct WebSearch {
    outbound: Outbound,
    secrets: Secrets,
    settings: Arc<ArcSwap<config::WebSearch>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    query: String,
    count: Option<u64>,
}

/// The parameters of a search.
struct Question<'q> {
    query: &'q str,
    count: usize,
}

impl WebSearch {
    pub(crate) fn new(
        outbound: Outbound,
        secrets: Secrets,
        settings: Arc<ArcSwap<config::WebSearch>>,
    ) -> Self {
        Self {
            outbound,
            secrets,
            settings,
        }
    }

    async fn search(&self, input: Value) -> Result<String, ToolError> {
        let Input { query, count } = input::read(input)?;
        let question = Question {
            query: input::line("query", &query, MAX_QUERY_CHARACTERS)?,
            count: input::within("count", count, RESULTS)?,
        };
        let settings = self.settings.load_full();
        let provider = settings
            .provider
            .ok_or_else(|| ToolError::new(NOT_CONFIGURED))?;
        let hits = match provider {
            SearchProvider::Brave => {
                let key = self.key(&settings, provider).await?;
                brave::search(self, &settings, &key, &question).await
            }
            SearchProvider::Tavily => {
                let key = self.key(&settings, provider).await?;
                tavily::search(self, &settings, &key, &question).await
            }
            SearchProvider::Searxng => searxng::search(self, &settings, &question).await,
        }?;
        Ok(present(&hits, question.count))
    }

    /// Returns the key from the settings. Otherwise, returns the vault variable if it is bound to
    /// this service.
    async fn key(
        &self,
        settings: &config::WebSearch,
        provider: SearchProvider,
    ) -> Result<SecretString, ToolError> {
        if let Some(key) = &settings.api_key {
            return Ok(key.clone());
        }
        let service = key_binding(provider, settings.base_url.as_ref());
        let (Some(variable), Some(service)) = (variable(provider), service) else {
            return Err(ToolError::new(NOT_CONFIGURED));
        };
        match self.secrets.key_of_service(variable, &service).await {
            Ok(KeyOfService::Key(key)) => Ok(key),
            Ok(KeyOfService::Absent) => Err(ToolError::new(format!(
                "web_search is not configured: it has no API key for this provider and address. Set the \
                 environment variable {variable} in the vault, or tools.web_search.api_key next to \
                 tools.web_search.provider."
            ))),
            Ok(KeyOfService::Elsewhere(origin)) => Err(ToolError::new(format!(
                "web_search is not configured: {variable} was entered for {origin}. Set it again \
                 with env.set for the current tools.web_search.base_url."
            ))),
            Err(SecretsError::Sealed) => Err(ToolError::new(
                "web_search cannot run while the vault is sealed, because its API key is in the \
                 vault.",
            )),
            Err(error) => {
                tracing::error!(%error, "the key of web_search cannot be read");
                Err(ToolError::new("The key of web_search cannot be read."))
            }
        }
    }

    /// Sends a request and parses the JSON response.
    async fn ask<T: DeserializeOwned>(
        &self,
        provider: &str,
        request: RequestBuilder,
    ) -> Result<T, ToolError> {
        let failed =
            |what: &str| ToolError::new(format!("The search at {provider} failed: {what}."));
        let unreachable = |error: OutboundError| failed(&error.to_string());
        let request = request.timeout(TIME).build();
        let request = request.map_err(|error| unreachable(error.into()))?;
        let response = self.outbound.send(AddressSource::Owner, request).await;
        let response = response.map_err(unreachable)?;
        match response.status() {
            status if status.is_success() => {}
            StatusCode::UNAUTHORIZED => return Err(failed("it rejected the API key")),
            StatusCode::TOO_MANY_REQUESTS => {
                return Err(failed("it received too many requests; try again later"));
            }
            status => {
                return Err(failed(&format!(
                    "it responded with status {}",
                    status.as_u16()
                )));
            }
        }
        let (body, truncated) = read_capped(response, MAX_ANSWER_BYTES)
            .await
            .map_err(unreachable)?;
        match serde_json::from_slice(&body) {
            Ok(answer) if !truncated => Ok(answer),
            _ => Err(failed("its response cannot be read")),
        }
    }
}

/// Returns the service's URL with `path` appended. `own` is the vendor's URL. Its path also applies to a `base_url`
/// without a path.
fn endpoint(settings: &config::WebSearch, own: &str, path: &str) -> Result<Url, ToolError> {
    let broken = |_| ToolError::new("tools.web_search.base_url cannot be used.");
    let own = Url::parse(own).map_err(broken)?;
    let mut url = match &settings.base_url {
        Some(base) if base.path() == "/" => base.join(own.path()).map_err(broken)?,
        Some(base) => base.clone(),
        None => own,
    };
    url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
    Ok(url)
}

/// Formats the results as text.
fn present(hits: &[Hit], count: usize) -> String {
    let mut answer = String::new();
    let usable = hits.iter().filter(|hit| !hit.url.is_empty());
    for (index, hit) in usable.take(count).enumerate() {
        let title = html::one_line(&hit.title, 200);
        let url = text::one_line(&hit.url, 2000);
        let snippet = html::one_line(&hit.snippet, 500);
        let _ = write!(answer, "{}. {title}\n   {url}\n   {snippet}\n", index + 1);
    }
    if answer.is_empty() {
        "No results.".to_owned()
    } else {
        answer.trim_end().to_owned()
    }
}
