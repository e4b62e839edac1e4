//! `webhooks`: manage webhooks and their deliveries.

mod check_profile;
mod command;
mod deliveries;
mod fields;
mod forward;
mod proposal;
mod replay;
mod tail;

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, field, line, note, precious, rows, until_closed, warn};
use super::{prompt, usage};
use anyhow::Result;
pub use command::Command;
use deliveries::{cancel, deliveries, release, retry, show_delivery};
use replay::{replay_many, replay_one};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// Runs a `webhooks` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::List => list(&client, out).await?,
        Command::Create {
            name,
            source_profile,
            fields,
        } => {
            let mut params = fields.into_params()?;
            params.insert("name".to_owned(), json!(name));
            let is_schedule = params.contains_key("schedule");
            let clock = || is_schedule.then(|| "schedule".to_owned());
            if let Some(profile) = source_profile.or_else(clock) {
                params.insert("source_profile".to_owned(), json!(profile));
            }
            create(&client, out, params).await?;
        }
        Command::Show { id } => {
            let record = client.rpc("webhooks.get", json!({ "id": id })).await?;
            out.record(&record, || show(&record))?;
        }
        Command::Update {
            id,
            name,
            source_profile,
            fields,
        } => {
            let more = [("name", name), ("source_profile", source_profile)];
            update(&client, out, &id, fields.into_params()?, more).await?;
        }
        Command::Delete { id, yes } => delete(&client, out, &id, yes).await?,
        Command::Enable { id } => switch(&client, out, &id, true).await?,
        Command::Disable { id } => switch(&client, out, &id, false).await?,
        Command::Pause { id } => pause(&client, out, &id, true).await?,
        Command::Resume { id } => pause(&client, out, &id, false).await?,
        Command::RotateSecret {
            id,
            overlap_seconds,
        } => rotate(&client, out, &id, overlap_seconds).await?,
        Command::Deliveries {
            id,
            status,
            event,
            limit,
        } => {
            let wanted = [
                ("id", id.map(Value::from)),
                ("status", status.map(Value::from)),
                ("event", event.map(Value::from)),
                ("limit", Some(json!(limit))),
            ];
            deliveries(&client, out, given(wanted), limit).await?;
        }
        Command::ShowDelivery { id, payload } => {
            show_delivery(&client, out, &id, payload).await?;
        }
        Command::Replay {
            id: Some(id), edit, ..
        } => replay_one(&client, out, id, edit).await?,
        Command::Replay { id: None, many, .. } => replay_many(&client, out, many).await?,
        Command::Cancel { id } => cancel(&client, out, &id).await?,
        Command::Retry { id } => retry(&client, out, &id).await?,
        Command::Release => release(&client, out).await?,
        Command::Test { id, event } => {
            let wanted = [("id", Some(json!(id))), ("event", event.map(Value::from))];
            let sent = client.rpc("webhooks.test", given(wanted)).await?;
            out.record(&sent, || {
                let (id, status) = (field(&sent, "delivery_id"), field(&sent, "status"));
                line(format!("Delivery {id}: {status}."));
            })?;
        }
        Command::Tail { id } => until_closed(tail::run(&client, out, id.as_deref()).await)?,
        Command::Forward(flags) => forward::run(&client, out, flags).await?,
        Command::CheckProfile(flags) => return check_profile::run(out, &flags).await,
    }
    Ok(ExitCode::SUCCESS)
}

fn given<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let fields = fields.into_iter();
    Value::Object(
        fields
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect(),
    )
}

async fn list(client: &Client, out: &Output) -> Result<()> {
    let list = client.list("webhooks.list", "webhooks").await?;
    let fields = [
        "id",
        "name",
        "source_profile",
        "enabled",
        "delivery_count",
        "last_delivery_at",
    ];
    let nothing = "No webhooks. Create one: gatehouse webhooks create --name NAME";
    out.table(&list, &fields, rows(&list, "webhooks", &fields), nothing)
}

async fn create(client: &Client, out: &Output, mut params: Map<String, Value>) -> Result<()> {
    clear_empty_policy(&mut params);
    let why = proposal::add(client, &mut params).await?;
    let made = client.rpc("webhooks.create", Value::Object(params)).await?;
    out.record(&made, || {
        show(&made);
        if made.get("secret").is_some() {
            line(format!("secret: {}", precious(&field(&made, "secret"))));
            note("The secret is shown only once. Give the URL and the secret to the sender.");
        }
    })?;
    if let Some(why) = why {
        note(why);
    }
    if made.get("warning").is_some() {
        warn(field(&made, "warning"));
    }
    Ok(())
}

async fn update(
    client: &Client,
    out: &Output,
    id: &str,
    mut params: Map<String, Value>,
    more: [(&str, Option<String>); 2],
) -> Result<()> {
    for (key, text) in more {
        if let Some(text) = text {
            params.insert(key.to_owned(), json!(text));
        }
    }
    usage::ensure(!params.is_empty(), usage::NO_CHANGES)?;
    add_omitted_lists(client, id, &mut params).await?;
    clear_empty_policy(&mut params);
    params.insert("id".to_owned(), json!(id));
    let record = client.rpc("webhooks.update", Value::Object(params)).await?;
    out.record(&record, || show(&record))?;
    if record.get("warning").is_some() {
        warn(field(&record, "warning"));
    }
    Ok(())
}

/// Adds the allow or deny list that the command omits: the gateway replaces both lists of a field together.
async fn add_omitted_lists(
    client: &Client,
    id: &str,
    params: &mut Map<String, Value>,
) -> Result<()> {
    const FIELDS: [&str; 2] = ["events", "toolPolicy"];
    let lacks_one = |field: &Value| field.as_object().is_some_and(|lists| lists.len() == 1);
    let is_complete = !FIELDS
        .iter()
        .any(|field| params.get(*field).is_some_and(lacks_one));
    if is_complete {
        return Ok(());
    }
    let record = client.rpc("webhooks.get", json!({ "id": id })).await?;
    for field in FIELDS {
        let stored = record.get(field).and_then(Value::as_object);
        let given = params.get_mut(field).and_then(Value::as_object_mut);
        if let (Some(given), Some(stored)) = (given, stored) {
            for (list, entries) in stored {
                given.entry(list).or_insert_with(|| entries.clone());
            }
        }
    }
    Ok(())
}

/// Without any entry there is no policy, and so no tools. A policy with two empty lists would offer every public tool.
fn clear_empty_policy(params: &mut Map<String, Value>) {
    let is_empty = |list: &Value| list.as_array().is_some_and(Vec::is_empty);
    let policy = params.get("toolPolicy").and_then(Value::as_object);
    if policy.is_some_and(|lists| lists.values().all(is_empty)) {
        params.insert("toolPolicy".to_owned(), Value::Null);
    }
}

async fn delete(client: &Client, out: &Output, id: &str, yes: bool) -> Result<()> {
    // A script is not asked for confirmation. A person is, because the ID may be mistyped.
    if !yes && !out.is_json() && prompt::is_interactive() {
        let record = client.rpc("webhooks.get", json!({ "id": id })).await?;
        let name = field(&record, "name");
        let warning = format!("The webhook {name} and all its deliveries will be deleted.");
        prompt::confirm(&warning, &name)?;
    }
    let answer = client.rpc("webhooks.delete", json!({ "id": id })).await?;
    out.record(&answer, || line("Deleted."))
}

async fn switch(client: &Client, out: &Output, id: &str, enabled: bool) -> Result<()> {
    let params = json!({ "id": id, "enabled": enabled });
    let record = client.rpc("webhooks.update", params).await?;
    out.record(&record, || {
        let how = if enabled { "enabled" } else { "disabled" };
        line(format!("{} is {how}.", field(&record, "name")));
    })
}

async fn pause(client: &Client, out: &Output, id: &str, paused: bool) -> Result<()> {
    let params = json!({ "id": id, "paused": paused });
    let record = client.rpc("webhooks.update", params).await?;
    out.record(&record, || {
        let how = if paused { "paused" } else { "resumed" };
        line(format!("{} is {how}.", field(&record, "name")));
    })
}

async fn rotate(client: &Client, out: &Output, id: &str, overlap: Option<u64>) -> Result<()> {
    let wanted = [
        ("id", Some(json!(id))),
        ("overlap_seconds", overlap.map(Value::from)),
    ];
    let made = client.rpc("webhooks.rotate_secret", given(wanted)).await?;
    out.record(&made, || {
        line(format!("secret: {}", precious(&field(&made, "secret"))));
        note("The secret is shown only once. Give it to the sender.");
    })?;
    if made.get("warning").is_some() {
        warn(field(&made, "warning"));
    }
    Ok(())
}

/// Returns the deliveries of a page.
fn items(page: &Value) -> &[Value] {
    page.get("deliveries")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Prints a record, one field per line, in the order of the API.
fn show(record: &Value) {
    for (name, value) in record.as_object().into_iter().flatten() {
        let text = match value {
            Value::Null => continue,
            Value::Object(_) => value.to_string(),
            _ => field(record, name),
        };
        if name != "secret" && name != "warning" {
            line(format!("{name}: {}", super::output::plain(&text)));
        }
    }
}
