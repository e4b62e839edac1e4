//! adnanh/webhook: `hooks.json` or `hooks.yaml` (its docs, "Hook definition" and "Hook rules").

mod conditions;

use super::Malformed;
use super::node::{Content, Document, Node};
use super::plan::Plan;
use conditions::{looks_secret, names_secret, payload_condition, payload_path};
use serde_json::{Map, Value, json};

/// Maximum number of conditions of a payload filter in the API.
const MAX_CONDITIONS: usize = 20;

/// Plans the hooks of a file.
pub fn plan(plan: &mut Plan, document: &Document<'_>) -> Result<(), Malformed> {
    let Content::List(hooks) = &document.root.value else {
        return Err(document.wrong(&document.root, "expected a list of hooks"));
    };
    for hook in hooks {
        let id = hook
            .text_of("id")
            .ok_or_else(|| document.wrong(hook, "`id` is missing"))?;
        if hook.text_of("execute-command").is_none() {
            return Err(document.wrong(hook, "`execute-command` is missing"));
        }
        let mut found = SenderRules::default();
        if let Some(rule) = hook.get("trigger-rule") {
            found.read(document, rule, false)?;
        }
        if !found.conditions.is_empty() {
            let conditions = Value::Array(std::mem::take(&mut found.conditions));
            found.params.insert("payload_filter".to_owned(), conditions);
        }
        let from = Plan::place(document.path, hook.line);
        if let Some(secret) = &found.secret_line {
            plan.in_clear(
                format!("secret of {id}"),
                Plan::place(document.path, *secret),
            );
        }
        for (line, why) in found.left {
            plan.leave(
                format!("rule of {id}"),
                Plan::place(document.path, line),
                why,
            );
        }
        let why = "an agent answers in Gatehouse; it runs no command of the host";
        plan.leave(format!("command of {id}"), from.clone(), why);
        if !found.params.contains_key("auth_mode") {
            let why = "no rule verifies its sender; the webhook gets a new secret";
            plan.leave(format!("verification of {id}"), from.clone(), why);
            found
                .params
                .insert("source_profile".to_owned(), json!("generic"));
            found.params.insert("auth_mode".to_owned(), json!("bearer"));
        }
        plan.webhook(id, found.params, from);
    }
    Ok(())
}

/// The rules of a hook about its senders.
#[derive(Default)]
struct SenderRules {
    params: Map<String, Value>,
    /// The conditions of the payload filter.
    conditions: Vec<Value>,
    secret_line: Option<usize>,
    left: Vec<(usize, &'static str)>,
}

impl SenderRules {
    /// Reads a rule. `is_optional` is set below `or` and `not`, where a match does not prove the sender's identity.
    fn read(
        &mut self,
        document: &Document<'_>,
        rule: &Node,
        is_optional: bool,
    ) -> Result<(), Malformed> {
        for (name, value) in rule.fields() {
            match name.as_str() {
                "and" => {
                    for part in value.items() {
                        self.read(document, part, is_optional)?;
                    }
                }
                "or" => {
                    for part in value.items() {
                        self.read(document, part, true)?;
                    }
                }
                "not" => self.read(document, value, true)?,
                "match" => self.of_match(document, value, is_optional)?,
                _ => return Err(document.wrong(value, format!("unknown rule `{name}`"))),
            }
        }
        Ok(())
    }

    fn of_match(
        &mut self,
        document: &Document<'_>,
        rule: &Node,
        is_optional: bool,
    ) -> Result<(), Malformed> {
        let kind = rule
            .text_of("type")
            .ok_or_else(|| document.wrong(rule, "`type` is missing"))?;
        let header = rule
            .get("parameter")
            .filter(|it| it.text_of("source") == Some("header"));
        let header = header.and_then(|it| it.text_of("name"));
        if is_optional {
            self.left.push((rule.line, "it is nested in `or` or `not`"));
            return Ok(());
        }
        if kind == "value"
            && self.conditions.len() < MAX_CONDITIONS
            && let Some(condition) = payload_condition(rule)
        {
            self.conditions.push(condition);
            return Ok(());
        }
        match (kind, header) {
            ("payload-hmac-sha256" | "payload-hash-sha256", Some(header))
                if header.eq_ignore_ascii_case("X-Hub-Signature-256") =>
            {
                self.verify("codehost_a", "codehost_a_hmac_sha256", rule, "secret");
            }
            ("value", Some(header)) if header.eq_ignore_ascii_case("X-Gitlab-Token") => {
                self.verify("codehost_b", "codehost_b_token", rule, "value");
            }
            ("value", Some(header)) if looks_secret(header) => {
                if self.verify("generic", "static_header", rule, "value") {
                    self.params.insert("header".to_owned(), json!(header));
                }
            }
            ("ip-whitelist", _) => {
                let range = rule.text_of("ip-range").unwrap_or_default();
                let ranges: Vec<&str> = range.split_whitespace().collect();
                self.params
                    .insert("allowed_cidrs".to_owned(), json!(ranges));
            }
            (kind, _) if kind.starts_with("payload-h") => {
                self.left
                    .push((rule.line, "Gatehouse does not verify this signature"));
            }
            _ => {
                let is_secret = payload_path(rule).is_some_and(names_secret);
                let why = if is_secret {
                    "a payload filter is shown with the webhook, so it must not contain a secret"
                } else {
                    "filters are set on the webhook: `events` and `payload_filter`"
                };
                self.left.push((rule.line, why));
            }
        }
        Ok(())
    }

    /// Uses the rule to verify the sender. Returns `false` if the rule is not suitable.
    fn verify(&mut self, profile: &str, mode: &str, rule: &Node, field: &str) -> bool {
        if self.params.contains_key("auth_mode") {
            let why = "another rule already verifies the sender, and a webhook can have only one";
            self.left.push((rule.line, why));
            return false;
        }
        let Some(secret) = rule.get(field) else {
            self.left.push((rule.line, "it has no secret"));
            return false;
        };
        self.secret_line = Some(secret.line);
        for (name, value) in [
            ("source_profile", profile),
            ("auth_mode", mode),
            ("secret", secret.text().unwrap_or_default()),
        ] {
            self.params.insert(name.to_owned(), json!(value));
        }
        true
    }
}
