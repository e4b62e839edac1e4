//! Compares a plan with the server, and carries it out.

use super::super::client::{Client, ClientError};
use super::super::output::field;
use super::plan::{Item, Planned};
use anyhow::{Context, Result};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The existing items of the server.
#[derive(Debug, Default)]
pub struct Existing {
    known: HashSet<(&'static str, String)>,
}

impl Existing {
    pub async fn read(client: &Client) -> Result<Self> {
        let mut known = HashSet::new();
        for (kind, method, list, name) in [
            ("variable", "env.list", "env_variables", "key"),
            ("SSH key", "ssh_keys.list", "ssh_keys", "name"),
            ("agent", "agents.list", "agents", "id"),
            ("channel", "channels.list", "channels", "id"),
            ("webhook", "webhooks.list", "webhooks", "name"),
        ] {
            let found = client.list(method, list).await?;
            let items = found.get(list).and_then(Value::as_array);
            known.extend(
                items
                    .into_iter()
                    .flatten()
                    .map(|item| (kind, field(item, name))),
            );
        }
        let providers = client.list("providers.list", "providers").await?;
        let items = providers.get("providers").and_then(Value::as_array);
        let with_key = items
            .into_iter()
            .flatten()
            .filter(|item| item.get("key_hint").is_some_and(Value::is_string));
        known.extend(with_key.map(|item| ("provider key", field(item, "id"))));
        Ok(Self { known })
    }

    pub fn has(&self, item: &Item) -> bool {
        let (kind, name) = item.describe();
        self.known.contains(&(kind, name.to_owned()))
    }

    /// Records a created item. No second item with the same name is then created.
    pub fn add(&mut self, item: &Item) {
        let (kind, name) = item.describe();
        self.known.insert((kind, name.to_owned()));
    }
}

/// Returns whether the server refused one item because of its content, such as a reserved name.
pub fn concerns_item(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(ClientError::Refused(refusal))
            if ["INVALID_PARAMS", "CONFLICT", "PAYLOAD_TOO_LARGE"].contains(&refusal.code.as_str())
    )
}

/// Creates an item. Returns the note for the report.
pub async fn make(client: &Client, planned: &Planned) -> Result<Option<String>> {
    let call = match &planned.item {
        Item::Variable { key, value } => {
            let params = json!({ "key": key, "value": value.expose_secret() });
            client.rpc("env.set", params).await
        }
        Item::ProviderKey { id, key } => {
            let params = json!({ "id": id, "key": key.expose_secret() });
            match client.rpc("providers.set_key", params).await {
                Err(ClientError::Refused(refusal)) if refusal.concerns("id") => {
                    let key = format!("models.providers.{id}.base_url");
                    return Ok(Some(format!(
                        "not created: no such provider; set {key} and run the import again"
                    )));
                }
                other => other,
            }
        }
        Item::SshKey { name, private_key } => {
            let params = json!({ "name": name, "private_key": private_key.expose_secret() });
            client.rpc("ssh_keys.import", params).await
        }
        Item::Agent { params, .. } => {
            client
                .rpc("agents.create", Value::Object(params.clone()))
                .await
        }
        Item::Channel { params, .. } => {
            client
                .rpc("channels.create", Value::Object(params.clone()))
                .await
        }
        Item::Webhook { params, .. } => {
            client
                .rpc("webhooks.create", Value::Object(params.clone()))
                .await
        }
    };
    let (kind, name) = planned.item.describe();
    call.with_context(|| format!("{}: cannot create the {kind} {name}", planned.from))?;
    if let Item::Webhook { name, params } = &planned.item
        && params.get("auth_mode") == Some(&json!("bearer"))
    {
        let how = format!(
            "created, turned off; to get its secret: gatehouse webhooks rotate-secret {name:?}"
        );
        return Ok(Some(how));
    }
    let is_webhook = matches!(planned.item, Item::Webhook { .. });
    Ok(is_webhook.then(|| "created, turned off".to_owned()))
}

/// Fails unless secrets would be encrypted.
pub async fn require_open_vault(client: &Client) -> Result<()> {
    let status = client.get("/api/auth/vault/status").await?;
    let state = field(&status, "status");
    anyhow::ensure!(
        state == "unsealed",
        "the vault is {state}, and imported secrets would be stored in clear text; run `gatehouse vault unlock` or set \
         a password first"
    );
    Ok(())
}
