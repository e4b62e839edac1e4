//! Hermes Agent: `config.yaml`, `.env` and `SOUL.md` in `~/.hermes` (hermes-agent.nousresearch.com/docs,
//! "Configuration" and "Webhooks").

use super::node::{Document, Node};
use super::plan::{Plan, id_of};
use serde_json::{Map, Value, json};

/// Variables of `.env` that are the credential of a channel: the variable, the channel type and its
/// field.
const CHANNELS: [(&str, &str, &str); 3] = [
    ("TELEGRAM_BOT_TOKEN", "telegram", "bot_token"),
    ("DISCORD_BOT_TOKEN", "discord", "bot_token"),
    ("SLACK_BOT_TOKEN", "slack", "bot_token"),
];

/// Plans the contents of `.env`.
pub fn plan_env(plan: &mut Plan, document: &Document<'_>) {
    for (name, node) in document.root.fields() {
        let Some(value) = node.text().filter(|value| !value.is_empty()) else {
            continue;
        };
        let from = Plan::place(document.path, node.line);
        if let Some((_, kind, field)) = CHANNELS.iter().find(|(known, _, _)| known == name) {
            plan.in_clear(name, from.clone());
            plan.channel(kind, "hermes", "default", &json!({ *field: value }), from);
        } else {
            plan.variable_or_key(name, value, from);
        }
    }
}

/// Plans the contents of `config.yaml`.
pub fn plan_config(
    plan: &mut Plan,
    document: &Document<'_>,
    variables: &dyn Fn(&str) -> Option<String>,
) {
    let root = &document.root;
    let providers = root.get("providers").map(Node::fields).unwrap_or_default();
    let providers = providers.iter().map(|(id, node)| (id.as_str(), node));
    let custom = root
        .get("custom_providers")
        .map(Node::items)
        .unwrap_or_default();
    let custom = custom
        .iter()
        .filter_map(|node| Some((node.text_of("name")?, node)));
    for (id, provider) in providers.chain(custom) {
        let Some(key) = provider.get("api_key") else {
            continue;
        };
        let from = Plan::place(document.path, key.line);
        if let Some(key) = plan.secret(document, &format!("key of {id}"), key, variables) {
            plan.provider_key(id, &key, from);
        }
    }
    let webhook = root.at(&["platforms", "webhook", "extra"]);
    let shared = webhook.and_then(|extra| extra.get("secret"));
    let routes = webhook.and_then(|extra| extra.get("routes"));
    for (name, route) in routes.map(Node::fields).unwrap_or_default() {
        let mut params = Map::new();
        let node = route.get("secret").or(shared);
        let what = format!("secret of webhook {name}");
        let secret = node.and_then(|node| plan.secret(document, &what, node, variables));
        let Some(secret) = secret else {
            // `plan.secret` itself reports secrets that cannot be used.
            if node.is_none() {
                let why = "neither the route nor the platform has a secret in this file";
                let from = Plan::place(document.path, route.line);
                plan.leave(format!("webhook {name}"), from, why);
            }
            continue;
        };
        params.insert("auth_mode".to_owned(), json!("codehost_a_hmac_sha256"));
        params.insert("source_profile".to_owned(), json!("codehost_a"));
        params.insert("secret".to_owned(), json!(secret));
        let events: Vec<&str> = route
            .get("events")
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::text)
            .collect();
        if !events.is_empty() {
            params.insert("events".to_owned(), json!(events));
        }
        if let Some(prompt) = route.text_of("prompt") {
            params.insert("system_prompt_suffix".to_owned(), json!(prompt));
        }
        let from = Plan::place(document.path, route.line);
        plan.webhook(&format!("hermes {name}"), params, from);
    }
    if let Some(servers) = root.get("mcp_servers") {
        let from = Plan::place(document.path, servers.line);
        plan.leave(
            "mcp_servers",
            from,
            "add the servers on the MCP servers page",
        );
    }
}

/// Plans the agent: the persona of `SOUL.md` and the default model.
pub fn plan_agent(plan: &mut Plan, soul: &Document<'_>, model: Option<&str>) {
    let Some(text) = soul
        .root
        .text()
        .map(str::trim)
        .filter(|text| !text.is_empty())
    else {
        return;
    };
    let id = id_of("hermes");
    let mut params = json!({ "id": id, "name": "Hermes", "system_prompt": text });
    if let (Some(model), Value::Object(params)) = (model, &mut params) {
        params.insert("model".to_owned(), json!(model));
    }
    plan.agent(&id, params, Plan::place(soul.path, 1));
}

/// Returns the default model of `config.yaml`.
pub fn model(root: &Node) -> Option<&str> {
    root.text_of("model")
        .or_else(|| root.at(&["model", "default"]).and_then(Node::text))
}
