//! `channels`: outgoing messages, the inbox, and people who write to agents.

mod fields;
mod inbox;

use super::client::{Client, ClientError};
use super::globals::Globals;
use super::output::{Output, field, line, rows};
use super::usage;
use anyhow::Result;
use fields::{ask_for_secrets, fields_of};
use inbox::inbox;
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// `gatehouse channels …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the accounts
    List,
    /// List the types and their fields
    Types,
    /// Create an account; prompts for required secret fields that are omitted
    Create {
        /// The type, such as telegram; `channels types` lists all
        r#type: String,
        /// The display name
        #[arg(long)]
        label: Option<String>,
        /// The ID used in targets, as type:id; generated when omitted
        #[arg(long)]
        id: Option<String>,
        /// A field; may be repeated
        #[arg(long = "field", value_name = "NAME=VALUE")]
        fields: Vec<String>,
    },
    /// Change an account; omitted fields stay as they are, and NAME= clears one
    Update {
        /// The account's ID
        id: String,
        /// The display name
        #[arg(long)]
        label: Option<String>,
        /// Whether the account is enabled
        #[arg(long)]
        enabled: Option<bool>,
        /// A field; may be repeated
        #[arg(long = "field", value_name = "NAME=VALUE")]
        fields: Vec<String>,
    },
    /// Delete an account
    Delete {
        /// The account's ID
        id: String,
        /// Delete it even if deliveries wait for it or webhooks refer to it; those deliveries fail
        #[arg(long)]
        force: bool,
    },
    /// Send a test message
    Test {
        /// The account's ID
        id: String,
        /// The text to send
        #[arg(long)]
        text: Option<String>,
    },
    /// List the people who are paired with channels or wait for approval
    Pairings,
    /// Pair the person who got this code from a channel
    Approve {
        /// The code
        code: String,
        /// Treat the person's messages as the owner's, and let the person approve tool calls; needs operator.admin
        #[arg(long)]
        trusted: bool,
    },
    /// End a person's pairing, or refuse one that waits for approval
    Unpair {
        /// The ID shown by `channels pairings`
        id: String,
    },
    /// Show the inbox, newest first
    Inbox {
        /// Maximum number of messages
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
}

/// Runs a `channels` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::List => {
            let list = client.list("channels.list", "channels").await?;
            let fields = ["id", "type", "label", "enabled"];
            let rows = rows(&list, "channels", &fields);
            out.table(&list, &fields, rows, "No channels except the inbox.")?;
        }
        Command::Types => types(&client, out).await?,
        Command::Create {
            r#type,
            label,
            id,
            fields,
        } => {
            let mut fields = fields_of(&fields)?;
            ask_for_secrets(&client, &r#type, &mut fields).await?;
            let mut params = json!({
                "type": r#type, "label": label.unwrap_or_else(|| r#type.clone()), "fields": fields,
            });
            if let (Some(params), Some(id)) = (params.as_object_mut(), id) {
                params.insert("id".to_owned(), json!(id));
            }
            let made = client.rpc("channels.create", params).await?;
            out.record(&made, || {
                let (kind, id) = (field(&made, "type"), field(&made, "id"));
                line(format!("Created {id}. As a target: {kind}:{id}"));
            })?;
        }
        Command::Update {
            id,
            label,
            enabled,
            fields,
        } => {
            let mut params = Map::new();
            if !fields.is_empty() {
                params.insert("fields".to_owned(), Value::Object(fields_of(&fields)?));
            }
            for (name, value) in [
                ("label", label.map(Value::from)),
                ("enabled", enabled.map(Value::from)),
            ] {
                params.extend(value.map(|value| (name.to_owned(), value)));
            }
            usage::ensure(!params.is_empty(), usage::NO_CHANGES)?;
            params.insert("id".to_owned(), json!(id));
            let record = client.rpc("channels.update", Value::Object(params)).await?;
            out.record(&record, || line(format!("Changed {id}.")))?;
        }
        Command::Delete { id, force } => {
            let params = json!({ "id": id, "force": force });
            let deleted = client.rpc("channels.delete", params).await;
            let answer = deleted.map_err(with_force)?;
            out.record(&answer, || line(format!("Deleted {id}.")))?;
        }
        Command::Test { id, text } => {
            let mut params = json!({ "id": id });
            if let (Some(params), Some(text)) = (params.as_object_mut(), text) {
                params.insert("text".to_owned(), json!(text));
            }
            let answer = client.rpc("channels.test", params).await?;
            out.record(&answer, || line("Sent."))?;
        }
        Command::Pairings => pairings(&client, out).await?,
        Command::Approve { code, trusted } => approve(&client, out, &code, trusted).await?,
        Command::Unpair { id } => {
            let params = json!({ "id": id });
            let answer = client.rpc("pairing.unpair", params).await?;
            out.record(&answer, || line(format!("Unpaired {id}.")))?;
        }
        Command::Inbox { limit } => inbox(&client, out, limit).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn types(client: &Client, out: &Output) -> Result<()> {
    let list = client.rpc("channels.types", json!({})).await?;
    let items = list.get("types").and_then(Value::as_array);
    let shown = items.into_iter().flatten().map(|item| {
        let fields = item.get("fields").and_then(Value::as_array);
        let names = fields.into_iter().flatten().map(|one| {
            let needed = one.get("required") == Some(&Value::Bool(true));
            format!("{}{}", field(one, "name"), if needed { "*" } else { "" })
        });
        let names: Vec<String> = names.collect();
        vec![field(item, "type"), field(item, "label"), names.join(" ")]
    });
    let head = ["type", "label", "fields (* required)"];
    out.table(&list, &head, shown.collect(), "No channel types.")
}

async fn pairings(client: &Client, out: &Output) -> Result<()> {
    let list = client.list("pairing.people", "people").await?;
    let fields = ["id", "account", "name", "trusted", "code"];
    let rows = rows(&list, "people", &fields);
    out.table(&list, &fields, rows, "Nobody is paired with a channel.")
}

async fn approve(client: &Client, out: &Output, code: &str, trusted: bool) -> Result<()> {
    let params = json!({ "code": code, "trusted": trusted });
    let person = client.rpc("pairing.approve", params).await?;
    out.record(&person, || {
        let (name, account) = (field(&person, "name"), field(&person, "account"));
        line(format!("Paired {name} with {account}."));
    })
}

/// Adds to the refusal to delete a channel in use that `--force` deletes it.
fn with_force(error: ClientError) -> ClientError {
    match error {
        ClientError::Refused(mut refusal) if refusal.details.contains_key("webhooks") => {
            refusal
                .message
                .push_str(" Use --force to delete it anyway.");
            ClientError::Refused(refusal)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
