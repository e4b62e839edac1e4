//! OpenClaw: `openclaw.json` (JSON5) and `.env` in `~/.openclaw` (docs.openclaw.ai, "Configuration reference").

use super::node::{Document, Node};
use super::plan::{Plan, id_of};
use serde_json::{Value, json};

/// Plans the import of the configuration. `variables` come from `.env`.
pub fn plan(plan: &mut Plan, document: &Document<'_>, variables: &dyn Fn(&str) -> Option<String>) {
    let root = &document.root;
    environment(plan, document);
    providers(plan, document, variables);
    if let Some(telegram) = root.at(&["channels", "telegram"]) {
        accounts(
            plan,
            document,
            "telegram",
            telegram,
            &[("botToken", "bot_token")],
            variables,
        );
    }
    if let Some(discord) = root.at(&["channels", "discord"]) {
        accounts(
            plan,
            document,
            "discord",
            discord,
            &[("token", "bot_token")],
            variables,
        );
    }
    if let Some(slack) = root.at(&["channels", "slack"]) {
        accounts(
            plan,
            document,
            "slack",
            slack,
            &[("botToken", "bot_token"), ("appToken", "app_token")],
            variables,
        );
    }
    for (name, node) in root.get("channels").map(Node::fields).unwrap_or_default() {
        if !matches!(
            name.as_str(),
            "telegram" | "discord" | "slack" | "defaults" | "modelByChannel"
        ) {
            let from = Plan::place(document.path, node.line);
            plan.leave(
                format!("channel {name}"),
                from,
                "Gatehouse has no such channel",
            );
        }
    }
    for agent in root
        .at(&["agents", "list"])
        .map(Node::items)
        .unwrap_or_default()
    {
        self::agent(plan, document, agent);
    }
    for (name, why) in [
        (
            "hooks",
            "create webhooks instead: `gatehouse webhooks create`",
        ),
        ("cron", "create webhooks with --schedule instead"),
        ("mcp", "add the servers on the MCP servers page"),
        (
            "gateway",
            "the gateway's own address and credentials are not imported",
        ),
    ] {
        if let Some(node) = root.get(name) {
            plan.leave(name, Plan::place(document.path, node.line), why);
        }
    }
}

/// `env`: variables, directly and below `vars`.
fn environment(plan: &mut Plan, document: &Document<'_>) {
    let env = document.root.get("env");
    let direct = env.map(Node::fields).unwrap_or_default();
    let vars = env
        .and_then(|env| env.get("vars"))
        .map(Node::fields)
        .unwrap_or_default();
    for (name, node) in direct.iter().chain(vars) {
        if let Some(value) = node.text().filter(|value| !value.is_empty()) {
            plan.variable_or_key(name, value, Plan::place(document.path, node.line));
        }
    }
}

fn providers(plan: &mut Plan, document: &Document<'_>, variables: &dyn Fn(&str) -> Option<String>) {
    let providers = document.root.at(&["models", "providers"]);
    for (id, provider) in providers.map(Node::fields).unwrap_or_default() {
        let Some(key) = provider.get("apiKey") else {
            continue;
        };
        let from = Plan::place(document.path, key.line);
        if let Some(key) = plan.secret(document, &format!("key of {id}"), key, variables) {
            plan.provider_key(id, &key, from);
        }
    }
}

/// Plans the account of a channel itself, and the accounts below `accounts`.
fn accounts(
    plan: &mut Plan,
    document: &Document<'_>,
    kind: &str,
    channel: &Node,
    secrets: &[(&str, &str)],
    variables: &dyn Fn(&str) -> Option<String>,
) {
    let named = channel
        .get("accounts")
        .map(Node::fields)
        .unwrap_or_default();
    let named = named.iter().map(|(name, node)| (name.as_str(), node));
    for (name, account) in std::iter::once(("default", channel)).chain(named) {
        let mut fields = serde_json::Map::new();
        for (theirs, ours) in secrets {
            let what = format!("{kind} {theirs}");
            let found = account.get(theirs);
            let found = found.and_then(|node| plan.secret(document, &what, node, variables));
            fields.extend(found.map(|secret| ((*ours).to_owned(), json!(secret))));
        }
        let from = Plan::place(document.path, account.line);
        if let Some(file) = account.get("tokenFile") {
            let place = Plan::place(document.path, file.line);
            plan.leave(
                format!("{kind} {name}"),
                place,
                "its token is in another file",
            );
        }
        if !fields.is_empty() {
            plan.channel(kind, "openclaw", name, &Value::Object(fields), from);
        }
    }
}

fn agent(plan: &mut Plan, document: &Document<'_>, agent: &Node) {
    let Some(id) = agent.text_of("id") else {
        let from = Plan::place(document.path, agent.line);
        return plan.leave("agent", from, "it has no id");
    };
    let name = agent.text_of("name").unwrap_or(id);
    let model = agent.text_of("model");
    let model = model.or_else(|| {
        agent
            .get("model")
            .and_then(|model| model.text_of("primary"))
    });
    let id = id_of(&format!("openclaw-{id}"));
    let theme = agent.at(&["identity", "theme"]).and_then(Node::text);
    let fields = [
        ("id", Some(id.as_str())),
        ("name", Some(name)),
        ("model", model),
        ("system_prompt", theme),
    ];
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    let params = Value::Object(fields.collect());
    plan.agent(&id, params, Plan::place(document.path, agent.line));
}
