//! `SearXNG`: <https://docs.searxng.org/dev/search_api.html>. Its JSON output must be enabled there.

use super::{Hit, Question, WebSearch, endpoint};
use gatehouse_agents::ToolError;
use gatehouse_config as config;
use gatehouse_outbound::AddressSource;
use serde::Deserialize;

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    results: Vec<SearchHit>,
}

#[derive(Deserialize)]
struct SearchHit {
    #[serde(default)]
    title: Option<String>,
    url: String,
    #[serde(default)]
    content: Option<String>,
}

pub(super) async fn search(
    tool: &WebSearch,
    settings: &config::WebSearch,
    question: &Question<'_>,
) -> Result<Vec<Hit>, ToolError> {
    let Some(base) = &settings.base_url else {
        return Err(ToolError::new(
            "web_search is not configured: searxng needs tools.web_search.base_url.",
        ));
    };
    let url = endpoint(settings, base.as_str(), "/search")?;
    let request = tool
        .outbound
        .client(AddressSource::Owner)
        .get(url)
        .query(&[("q", question.query), ("format", "json")]);
    let answer: Answer = tool.ask("SearXNG", request).await.map_err(|error| {
        if error.message.contains("status 403") {
            return ToolError::new(
                "The search at SearXNG failed: it refuses JSON. Add json to search.formats in its settings.",
            );
        }
        error
    })?;
    let hits = answer.results.into_iter().map(|found| Hit {
        title: found.title.unwrap_or_default(),
        url: found.url,
        snippet: found.content.unwrap_or_default(),
    });
    Ok(hits.collect())
}
