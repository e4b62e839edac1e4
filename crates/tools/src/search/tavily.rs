//! Tavily: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use super::{Hit, Question, WebSearch, endpoint};
use gatehouse_agents::ToolError;
use gatehouse_config as config;
use gatehouse_outbound::AddressSource;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

/// The vendor's address.
pub(super) const OWN: &str = "https://api.tavily.com";

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    results: Vec<SearchHit>,
}

#[derive(Deserialize)]
struct SearchHit {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    content: String,
}

pub(super) async fn search(
    tool: &WebSearch,
    settings: &config::WebSearch,
    key: &SecretString,
    question: &Question<'_>,
) -> Result<Vec<Hit>, ToolError> {
    let url = endpoint(settings, OWN, "/search")?;
    let request = tool
        .outbound
        .client(AddressSource::Owner)
        .post(url)
        .bearer_auth(key.expose_secret())
        .json(&json!({
            "query": question.query,
            "max_results": question.count,
            "search_depth": "basic",
        }));
    let answer: Answer = tool.ask("Tavily", request).await?;
    let hits = answer.results.into_iter().map(|found| Hit {
        title: found.title,
        url: found.url,
        snippet: found.content,
    });
    Ok(hits.collect())
}
