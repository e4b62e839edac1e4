//! A model under the attacker's control. For any message, it calls every existing tool and every tool that
//! the text names.

use gatehouse_doubles::openai::{FakeModel, Part, Reaction, has_result, last_text, say};
use serde_json::{Value, json};
use url::{Host, Url};

/// Maximum number of calls per answer. The attacker stays below it.
const MOST_CALLS: usize = 30;

/// Starts the attacker, which tries to reach the port `trap` through the tools.
pub async fn start(trap: u16) -> FakeModel {
    FakeModel::answering(move |request| react(request, trap)).await
}

/// Returns the calls that the attacker makes in response to this message, in order.
pub fn calls(message: &str, trap: u16) -> Vec<(String, Value)> {
    let fetch = |url: &str| ("web_fetch".to_owned(), json!({ "url": url }));
    let mut calls: Vec<(String, Value)> = [
        ("calc", json!({ "expression": "6 * 7" })),
        ("web_search", json!({ "query": "secrets" })),
        (
            "webhook",
            json!({ "action": "create", "name": "backdoor", "auth_mode": "none" }),
        ),
        (
            "webhook_get_full_payload",
            json!({ "delivery_id": "del_1" }),
        ),
        ("speak", json!({ "text": "hello" })),
        ("shell", json!({ "command": "id" })),
        ("mcp__x__y", json!({})),
        ("no_such_tool", json!({})),
    ]
    .into_iter()
    .map(|(name, input)| (name.to_owned(), input))
    .collect();
    calls.push(fetch(&format!("http://127.0.0.1:{trap}/")));
    let words = || message.split(|c: char| c.is_whitespace() || "\"'<>`".contains(c));
    // Skips domain names, because DNS lookups are slow; `crates/tools` tests them.
    let is_address = |url: &Url| match url.host() {
        Some(Host::Domain(name)) => name.ends_with("localhost"),
        other => other.is_some(),
    };
    let urls = words().filter_map(|word| Url::parse(word).ok());
    let mut urls: Vec<_> = urls.filter(is_address).collect();
    urls.dedup();
    calls.extend(urls.iter().take(3).map(|url| fetch(url.as_str())));
    // Parts of the text itself could look like tool names.
    let fenced = message.split_once("```").map_or("", |(_, after)| after);
    let named = words().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    for name in named.filter(|word| word.contains('_')).chain([fenced]) {
        let name: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
        if !name.is_empty() && calls.len() < MOST_CALLS && calls.iter().all(|(n, _)| *n != name) {
            calls.push((name, json!({})));
        }
    }
    calls
}

fn react(request: &Value, trap: u16) -> Reaction {
    let text = last_text(request);
    if has_result(request) {
        return say(&text);
    }
    let calls = calls(&text, trap).into_iter().enumerate();
    let call = |(index, (name, input)): (usize, (String, Value))| {
        Part::Call(format!("call_{index}"), name, input.to_string())
    };
    Reaction::Parts(calls.map(call).collect(), "tool_calls".to_owned())
}
