//! Credentials of n8n, as provider keys, channels or variables.

use super::{Names, distinctions, required};
use crate::cli::import::{
    Malformed,
    node::{Content, Document, Node},
    plan::{FilePosition, Plan, channel_id},
};
use serde_json::json;
use std::iter;

/// Credential types with a single field that is the key of a provider: the type, its field, the
/// provider.
const PROVIDERS: [(&str, &str, &str); 5] = [
    ("openAiApi", "apiKey", "openai"),
    ("anthropicApi", "apiKey", "anthropic"),
    ("openRouterApi", "apiKey", "openrouter"),
    ("mistralCloudApi", "apiKey", "mistral"),
    ("groqApi", "apiKey", "groq"),
];

/// Credential types that are channels: the type, its field, the channel type and its field.
const CHANNELS: [(&str, &str, &str, &str); 4] = [
    ("telegramApi", "accessToken", "telegram", "bot_token"),
    ("slackApi", "accessToken", "slack", "bot_token"),
    ("discordBotApi", "botToken", "discord", "bot_token"),
    ("discordWebhookApi", "webhookUri", "discord", "webhook_url"),
];

pub(super) fn credential(
    plan: &mut Plan,
    document: &Document<'_>,
    node: &Node,
    names: &mut Names,
) -> Result<(), Malformed> {
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
    if let Some((_, field, provider)) = PROVIDERS.iter().find(|it| it.0 == kind)
        && names.take("provider key", provider)
    {
        let key = required(document, data, field)?;
        plan.in_clear(name, from.clone());
        plan.provider_key(provider, key, from);
    } else if let Some((_, field, channel, ours)) = CHANNELS.iter().find(|it| it.0 == kind) {
        let secret = required(document, data, field)?;
        // The unique part comes first, because a long name is cut.
        let others = distinctions(node).map(|it| format!("{it} {name}"));
        let mut accounts = iter::once(name.to_owned()).chain(others);
        let is_free =
            |account: &String| names.take("channel", &channel_id(channel, "n8n", account));
        if let Some(account) = accounts.find(is_free) {
            plan.in_clear(name, from.clone());
            plan.channel(channel, "n8n", &account, &json!({ *ours: secret }), from);
        }
    } else {
        // Any other credential, and a second key of a provider, becomes variables, one per field.
        let name = match variable_name(name) {
            name if name.is_empty() => "N8N".to_owned(),
            name => name,
        };
        let others = distinctions(node).map(|it| below(&name, &it));
        let mut prefixes = iter::once(name.clone()).chain(others);
        if let Some(prefix) = prefixes.find(|prefix| names.take("credential", prefix)) {
            variables(plan, &prefix, data, &from, names);
        }
    }
    Ok(())
}

/// Plans a variable for each value of a credential, including those inside other values:
/// `MAIL_OAUTH_TOKEN_DATA_ACCESS_TOKEN`.
fn variables(plan: &mut Plan, name: &str, node: &Node, from: &FilePosition, names: &mut Names) {
    let value = match &node.value {
        Content::Null => return,
        Content::Text(text) if text.is_empty() => return,
        Content::Text(text) => text.as_str(),
        Content::Flag(true) => "true",
        Content::Flag(false) => "false",
        Content::List(items) => {
            for (index, item) in items.iter().enumerate() {
                variables(plan, &format!("{name}_{}", index + 1), item, from, names);
            }
            return;
        }
        Content::Map(fields) => {
            for (field, value) in fields {
                variables(plan, &below(name, field), value, from, names);
            }
            return;
        }
    };
    let numbered = (2..=u32::MAX).map(|n| format!("{name}_{n}"));
    let mut keys = iter::once(name.to_owned()).chain(numbered);
    if let Some(key) = keys.find(|key| names.take("variable", key)) {
        plan.variable(&key, value, from.clone());
    }
}

/// Returns the name of a variable for a named part of a value.
fn below(name: &str, part: &str) -> String {
    match variable_name(part) {
        part if part.is_empty() => name.to_owned(),
        // The part may be a number. It is then not the beginning of the name.
        part => format!("{name}_{}", part.strip_prefix("N8N_").unwrap_or(&part)),
    }
}

/// Converts a text into the name of a variable.
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
