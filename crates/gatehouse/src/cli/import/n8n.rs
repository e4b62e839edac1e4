//! n8n: files of `n8n export:workflow` and `n8n export:credentials --decrypted` (docs.n8n.io, "CLI commands").

mod credentials;

use super::Malformed;
use super::node::{Content, Document, Node};
use super::plan::{FilePosition, Plan};
use credentials::credential;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::iter;

/// The names of this import's items. n8n's own names need not be unique.
#[derive(Default)]
pub struct Names(HashSet<(&'static str, String)>);

impl Names {
    /// Reserves a name. Returns whether it was free for this kind of item.
    fn take(&mut self, kind: &'static str, name: &str) -> bool {
        self.0.insert((kind, name.to_owned()))
    }

    /// Reserves a name. Adds a number if another item of this kind has the name.
    fn take_numbered(&mut self, kind: &'static str, name: String) -> String {
        let numbered = (2..=u32::MAX).map(|n| format!("{name} ({n})"));
        let mut all = iter::once(name.clone()).chain(numbered);
        all.find(|name| self.take(kind, name)).unwrap_or(name)
    }
}

/// Returns values that make the name of an item unique: its ID in n8n, which stays the same in the next import, or a
/// number.
fn distinctions(node: &Node) -> impl Iterator<Item = String> {
    let id = node.text_of("id").map(str::to_owned);
    id.into_iter().chain((2..=u32::MAX).map(|n| n.to_string()))
}

/// Plans a file, which contains a workflow or a credential, or a list of them.
pub fn plan(plan: &mut Plan, document: &Document<'_>, names: &mut Names) -> Result<(), Malformed> {
    let one = std::slice::from_ref(&document.root);
    let items = match &document.root.value {
        Content::List(items) => items.as_slice(),
        _ => one,
    };
    // Header credentials come first. No file contains both header credentials and webhooks.
    for item in items {
        if item.get("nodes").is_some() {
            workflow(plan, document, item, names)?;
        } else if item.get("type").is_some() && item.get("data").is_some() {
            credential(plan, document, item, names)?;
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

fn workflow(
    plan: &mut Plan,
    document: &Document<'_>,
    node: &Node,
    names: &mut Names,
) -> Result<(), Malformed> {
    let workflow = required(document, node, "name")?;
    let others = distinctions(node).map(|it| format!("{workflow} ({it})"));
    let mut titles = iter::once(workflow.to_owned()).chain(others);
    let Some(workflow) = titles.find(|title| names.take("workflow", title)) else {
        return Ok(());
    };
    let workflow = workflow.as_str();
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
                let title = names.take_numbered("webhook", format!("{workflow} / {name}"));
                plan.webhook(&title, params, from);
            }
            "n8n-nodes-base.scheduleTrigger" => schedule(plan, workflow, step, &from, names),
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

fn schedule(plan: &mut Plan, workflow: &str, step: &Node, from: &FilePosition, names: &mut Names) {
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
                    let title = names.take_numbered("webhook", name);
                    plan.webhook(&title, params, from.clone());
                }
            }
            None => plan.leave(name, from.clone(), "only cron expressions are imported"),
        }
    }
}
