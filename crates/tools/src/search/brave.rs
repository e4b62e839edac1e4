//! Brave Search: <https://api-dashboard.search.brave.com/app/documentation/web-search/get-started>.

use super::{Hit, Question, WebSearch, endpoint};
use gatehouse_agents::ToolError;
use gatehouse_config as config;
use gatehouse_outbound::AddressSource;
use reqwest::header::ACCEPT;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

/// The vendor's address.
pub(super) const OWN: &str = "https://api.search.brave.com/res/v1";

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    web: Web,
}

#[derive(Default, Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<SearchHit>,
}

#[derive(Deserialize)]
struct SearchHit {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
}

pub(super) async fn search(
    tool: &WebSearch,
    settings: &config::WebSearch,
    key: &SecretString,
    question: &Question<'_>,
) -> Result<Vec<Hit>, ToolError> {
    let url = endpoint(settings, OWN, "/web/search")?;
    let request = tool
        .outbound
        .client(AddressSource::Owner)
        .get(url)
        .query(&[
            ("q", question.query),
            ("count", &question.count.to_string()),
        ])
        .header(ACCEPT, "application/json")
        .header("X-Subscription-Token", key.expose_secret());
    let answer: Answer = tool.ask("Brave", request).await?;
    let hits = answer.web.results.into_iter().map(|found| Hit {
        title: found.title,
        url: found.url,
        snippet: found.description,
    });
    Ok(hits.collect())
}
