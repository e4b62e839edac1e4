//! `agents`: manage agents and ask one a question.

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, field, line, note, plain, rows};
use super::usage;
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// `gatehouse agents …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the agents
    List,
    /// Create an agent
    Create {
        /// The display name
        #[arg(long)]
        name: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// Show an agent
    Show {
        /// The agent's ID
        id: String,
    },
    /// Change an agent; omitted fields stay as they are, and "" clears a field
    Update {
        /// The agent's ID
        id: String,
        /// The display name
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        fields: Fields,
    },
    /// Delete an agent
    Delete {
        /// The agent's ID
        id: String,
    },
    /// Ask an agent and wait for its answer
    Ask {
        /// The question
        text: String,
        /// The agent's ID
        #[arg(long)]
        agent: Option<String>,
        /// Continue this session
        #[arg(long)]
        session: Option<String>,
    },
}

/// The fields of an agent.
#[derive(Debug, clap::Args)]
pub struct Fields {
    /// The model, as provider/model
    #[arg(long)]
    model: Option<String>,
    /// The system prompt
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// Tools to offer; all when omitted
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…")]
    allow_tools: Option<Vec<String>>,
    /// Tools not to offer
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…")]
    deny_tools: Option<Vec<String>>,
    /// Sampling temperature, 0 to 2
    #[arg(long, value_name = "NUMBER")]
    temperature: Option<f64>,
    /// Maximum number of model calls in one turn
    #[arg(long, value_name = "NUMBER")]
    max_turns: Option<u32>,
}

impl Fields {
    fn into_params(self) -> Map<String, Value> {
        let tools = (self.allow_tools.is_some() || self.deny_tools.is_some()).then(|| {
            json!({
                "allow": self.allow_tools.unwrap_or_default(),
                "deny": self.deny_tools.unwrap_or_default(),
            })
        });
        let cleared = |text: String| {
            if text.is_empty() {
                Value::Null
            } else {
                text.into()
            }
        };
        let fields = [
            ("model", self.model.map(cleared)),
            ("system_prompt", self.system_prompt.map(cleared)),
            ("tools", tools),
            ("temperature", self.temperature.map(Value::from)),
            ("max_turns", self.max_turns.map(Value::from)),
        ];
        fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

/// Runs an `agents` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::List => {
            let list = client.list("agents.list", "agents").await?;
            let fields = ["id", "name", "provider", "model", "max_turns"];
            let rows = rows(&list, "agents", &fields);
            out.table(&list, &fields, rows, "No agents.")?;
        }
        Command::Create { name, fields } => {
            let mut params = fields.into_params();
            params.insert("name".to_owned(), json!(name));
            let made = client.rpc("agents.create", Value::Object(params)).await?;
            out.record(&made, || line(format!("Created {}.", field(&made, "id"))))?;
        }
        Command::Show { id } => {
            let record = client.rpc("agents.get", json!({ "id": id })).await?;
            out.record(&record, || show(&record))?;
        }
        Command::Update { id, name, fields } => {
            let mut params = fields.into_params();
            params.extend(name.map(|name| ("name".to_owned(), json!(name))));
            usage::ensure(!params.is_empty(), usage::NO_CHANGES)?;
            params.insert("id".to_owned(), json!(id));
            let record = client.rpc("agents.update", Value::Object(params)).await?;
            out.record(&record, || show(&record))?;
        }
        Command::Delete { id } => {
            let answer = client.rpc("agents.delete", json!({ "id": id })).await?;
            out.record(&answer, || line(format!("Deleted {id}.")))?;
        }
        Command::Ask {
            text,
            agent,
            session,
        } => {
            let mut params = Map::from_iter([("text".to_owned(), json!(text))]);
            params.extend(agent.map(|agent| ("agent".to_owned(), json!(agent))));
            params.extend(session.map(|session| ("session".to_owned(), json!(session))));
            let answer = client.rpc("chat.send_sync", Value::Object(params)).await?;
            out.record(&answer, || {
                let text = answer.get("text").and_then(Value::as_str);
                for part in text.unwrap_or_default().lines() {
                    line(plain(part));
                }
                let stop = field(&answer, "stop");
                if stop != "end" {
                    note(format!("the answer is not complete: {stop}"));
                }
                note(format!("session: {}", field(&answer, "session")));
            })?;
            // A script must notice an incomplete answer.
            if field(&answer, "stop") != "end" {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(record: &Value) {
    for (name, value) in record.as_object().into_iter().flatten() {
        let text = match value {
            Value::Null => continue,
            Value::Object(_) => value.to_string(),
            _ => field(record, name),
        };
        line(format!("{name}: {}", plain(&text)));
    }
}
