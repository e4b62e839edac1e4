//! n8n: files of `n8n export:workflow` and `n8n export:credentials --decrypted` (docs.n8n.io, "CLI commands").

use super::Malformed;
use super::node::{Content, Document, Node};
use super::plan::Plan;
use serde_json::{Map, Value, json};

/// Credential types whose one field is the key of a provider: the type, its field, the provider.
const PROVIDERS: [(&str, &str, &str); 5] = [
    ("openAiApi", "apiKey", "openai"),
    ("anthropicApi", "apiKey", "anthropic"),
    ("openRouterApi", "apiKey", "openrouter"),
    ("mistralCloudApi", "apiKey", "mistral"),
    ("groqApi", "apiKey", "groq"),
];
/// Credential types that are channels: the type, its field, the channel, its field.
const CHANNELS: [(&str, &str, &str, &str); 4] = [
    ("telegramApi", "accessToken", "telegram", "bot_token"),
    ("slackApi", "accessToken", "slack", "bot_token"),
    ("discordBotApi", "botToken", "discord", "bot_token"),
    ("discordWebhookApi", "webhookUri", "discord", "webhook_url"),
];

/// Plans a file, which contains workflows or credentials: one, or a list.
pub fn plan(plan: &mut Plan, document: &Document<'_>) -> Result<(), Malformed> {
    let one = std::slice::from_ref(&document.root);
    let items = match &document.root.value {
        Content::List(items) => items.as_slice(),
        _ => one,
    };
    // Header credentials first, because webhooks of the same file do not occur.
    for item in items {
        if item.get("nodes").is_some() {
            workflow(plan, document, item)?;
        } else if item.get("type").is_some() && item.get("data").is_some() {
            credential(plan, document, item)?;
        } else {
            return Err(document.wrong(
                item,
                "expected a workflow with `nodes`, or a credential with `type` and `data`",
            ));
        }
    }
    Ok(())
}

fn required<'n>(document: &Document<'_>, node: &'n Node, name: &str) -> Result<&'n str, Malformed> {
    node.text_of(name)
        .ok_or_else(|| document.wrong(node, format!("`{name}` is missing")))
}

fn credential(plan: &mut Plan, document: &Document<'_>, node: &Node) -> Result<(), Malformed> {
    let kind = required(document, node, "type")?;
    let name = required(document, node, "name")?;
    let from = Plan::place(document.path, node.line);
    let Some(data) = node.get("data") else {
        return Ok(());
    };
    if let Content::Text(_) = data.value {
        let why = "it is encrypted; export it with --decrypted";
        plan.leave(format!("credential {name}"), from, why);
        return Ok(());
    }
    if let Some((_, field, provider)) = PROVIDERS.iter().find(|(known, _, _)| *known == kind) {
        let key = required(document, data, field)?;
        plan.in_clear(name, from.clone());
        plan.provider_key(provider, key, from);
    } else if let Some((_, field, channel, ours)) = CHANNELS.iter().find(|it| it.0 == kind) {
        let secret = required(document, data, field)?;
        plan.in_clear(name, from.clone());
        plan.channel(channel, "n8n", name, &json!({ *ours: secret }), from);
    } else {
        // Every other credential becomes variables, one for each field.
        let prefix = variable_name(name);
        for (field, value) in data.fields() {
            if let Some(value) = value.text().filter(|value| !value.is_empty()) {
                let key = format!("{prefix}_{}", variable_name(field));
                plan.variable(&key, value, from.clone());
            }
        }
    }
    Ok(())
}

/// Makes the name of a variable.
fn variable_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && name.ends_with(|last: char| last.is_ascii_lowercase()) {
                name.push('_');
            }
            name.push(c);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_matches('_').to_ascii_uppercase();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("N8N_{name}")
    } else {
        name
    }
}

fn workflow(plan: &mut Plan, document: &Document<'_>, node: &Node) -> Result<(), Malformed> {
    let workflow = required(document, node, "name")?;
    for step in node.get("nodes").map(Node::items).unwrap_or_default() {
        let kind = required(document, step, "type")?;
        let from = Plan::place(document.path, step.line);
        match kind {
            "n8n-nodes-base.webhook" => {
                let name = required(document, step, "name")?;
                let parameters = step.get("parameters");
                let how = parameters.and_then(|it| it.text_of("authentication"));
                if !matches!(how, None | Some("none")) {
                    let why =
                        "its secret is in a credential, which Gatehouse replaces by a new one";
                    plan.leave(format!("secret of {workflow} / {name}"), from.clone(), why);
                }
                let mut params = Map::from_iter([("source_profile".to_owned(), json!("generic"))]);
                params.insert("auth_mode".to_owned(), json!("bearer"));
                plan.webhook(&format!("{workflow} / {name}"), params, from);
            }
            "n8n-nodes-base.scheduleTrigger" => schedule(plan, workflow, step, &from),
            "n8n-nodes-base.telegramTrigger" | "n8n-nodes-base.slackTrigger" => {
                let why = "set `inbound` on the channel to receive messages";
                plan.leave(format!("{workflow}: {kind}"), from, why);
            }
            _ => {}
        }
    }
    let from = Plan::place(document.path, node.line);
    let why = "an agent does the work in Gatehouse; describe it in the prompt of its webhook";
    plan.leave(format!("steps of {workflow}"), from, why);
    Ok(())
}

fn schedule(plan: &mut Plan, workflow: &str, step: &Node, from: &super::plan::Place) {
    let rules = step.at(&["parameters", "rule", "interval"]);
    for (index, rule) in rules
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        let name = step.text_of("name").unwrap_or("schedule");
        let name = match index {
            0 => format!("{workflow} / {name}"),
            _ => format!("{workflow} / {name} {}", index + 1),
        };
        match rule
            .text_of("expression")
            .filter(|_| rule.text_of("field") == Some("cronExpression"))
        {
            Some(cron) => {
                let params = json!({ "source_profile": "schedule", "schedule": { "cron": cron } });
                if let Value::Object(params) = params {
                    plan.webhook(&name, params, from.clone());
                }
            }
            None => plan.leave(name, from.clone(), "only cron expressions are taken over"),
        }
    }
}
