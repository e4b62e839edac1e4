//! `gatehouse import`, with a real server and files in the documented formats.

mod n8n;

use crate::process::{CommandOutput, Installation, PASSWORD, Server, make_key};
use serde_json::{Value, json};
use std::path::Path;

const OPENCLAW: &str = include_str!("import/openclaw.json5");
const HERMES: &str = include_str!("import/hermes.yaml");
const HOOKS: &str = include_str!("import/hooks.json");

/// Every secret in those files. None of them may be printed.
const SECRETS: [&str; 14] = [
    "sk-or-clear",
    "123:clear-telegram",
    "discord-clear",
    "xoxb-clear",
    "xapp-clear",
    "sk-ant-clear",
    "shared-clear-secret",
    "route-clear-secret",
    "hub-clear",
    "9:clear-n8n",
    "clear-pw",
    "from-dotenv",
    "clear-variable",
    "BEGIN OPENSSH",
];

struct ImportServer {
    installation: Installation,
    server: Server,
    key: String,
}

impl ImportServer {
    async fn new() -> Self {
        let installation = Installation::new();
        let server = installation.start();
        server.set_up().await;
        server.stop();
        let key = make_key(&installation).await;
        let server = installation.start();
        let login = json!({ "password": PASSWORD });
        server.post("/api/auth/login", login).await;
        assert_eq!(server.vault_status().await, "unsealed");
        Self {
            installation,
            server,
            key,
        }
    }

    fn import(&self, args: &[&str]) -> CommandOutput {
        let mut all = vec![
            "--json",
            "--url",
            &self.server.url,
            "--api-key",
            &self.key,
            "import",
        ];
        all.extend(args);
        let ran = self.installation.run(&all);
        let shown = format!("{}{}", ran.stdout(), ran.stderr());
        for secret in SECRETS {
            assert!(!shown.contains(secret), "{secret} is shown: {shown}");
        }
        ran
    }

    /// Returns the outcome of each item of a record.
    fn outcomes(record: &Value) -> Vec<(String, String)> {
        let items = record["items"].as_array().unwrap();
        let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
        items
            .iter()
            .map(|item| {
                let what = format!("{} {}", text(item, "what"), text(item, "name"));
                (what, text(item, "outcome"))
            })
            .collect()
    }

    async fn names(&self, method: &str, list: &str, name: &str) -> Vec<String> {
        let found = self.server.rpc(&self.key, method, json!({})).await;
        let mut names: Vec<String> = found["result"][list]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item[name].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Imports three times: as a dry run, for real, and again without creating anything.
fn three_times(place: &ImportServer, args: &[&str]) -> Value {
    let mut dry = args.to_vec();
    dry.push("--dry-run");
    let planned = place.import(&dry).json();
    let planned = ImportServer::outcomes(&planned);
    assert!(
        planned
            .iter()
            .all(|(_, outcome)| outcome == "would be created"),
        "{planned:?}"
    );
    let made = place.import(args).json();
    for (what, outcome) in ImportServer::outcomes(&made) {
        assert!(
            outcome.starts_with("created") || outcome.starts_with("not created: no such provider"),
            "{what}: {outcome}"
        );
    }
    let again = place.import(args).json();
    for (what, outcome) in ImportServer::outcomes(&again) {
        assert!(
            outcome == "exists" || outcome.starts_with("not created: no such provider"),
            "{what}: {outcome}"
        );
    }
    made
}

fn list<'a>(record: &'a Value, name: &str, field: &str) -> Vec<&'a str> {
    record[name]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it[field].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn openclaw_becomes_agents_channels_and_secrets() {
    let place = ImportServer::new().await;
    let file = place
        .installation
        .file("claw/openclaw.json", OPENCLAW)
        .await;
    place
        .installation
        .file("claw/.env", "OPENAI_KEY=from-dotenv\n")
        .await;
    let folder = file.parent().unwrap();
    let dry = place.import(&["openclaw", text(folder), "--dry-run"]);
    dry.ok();
    assert_eq!(
        place
            .names("agents.list", "agents", "id")
            .await
            .iter()
            .filter(|id| id.contains("openclaw"))
            .count(),
        0
    );
    let made = three_times(&place, &["openclaw", text(folder)]);
    let channels = place.names("channels.list", "channels", "id").await;
    assert!(
        channels.contains(&"openclaw-telegram-default".to_owned()),
        "{channels:?}"
    );
    assert!(channels.contains(&"openclaw-discord-work".to_owned()));
    assert!(channels.contains(&"openclaw-slack-default".to_owned()));
    let agents = place.names("agents.list", "agents", "id").await;
    assert!(agents.contains(&"openclaw-main".to_owned()), "{agents:?}");
    let variables = place.names("env.list", "env_variables", "key").await;
    assert!(
        variables.contains(&"GROCERY_LIST".to_owned()),
        "{variables:?}"
    );
    let clear = list(&made, "clear_text", "what");
    assert!(
        clear.contains(&"telegram botToken") && clear.contains(&"OPENROUTER_API_KEY"),
        "{clear:?}"
    );
    let at = list(&made, "clear_text", "from");
    assert!(
        at.iter().any(|from| from.ends_with("openclaw.json:15")),
        "{at:?}"
    );
    let left = list(&made, "not_imported", "what");
    for what in ["key of anthropic", "channel whatsapp", "hooks"] {
        assert!(left.contains(&what), "{what}: {left:?}");
    }
    assert_eq!(tokio::fs::read_to_string(&file).await.unwrap(), OPENCLAW);
}

#[tokio::test]
async fn hermes_becomes_an_agent_channels_and_webhooks() {
    let place = ImportServer::new().await;
    let file = place.installation.file("hermes/config.yaml", HERMES).await;
    place
        .installation
        .file(
            "hermes/.env",
            "TELEGRAM_BOT_TOKEN='123:clear-telegram'\nSOME_TOKEN=clear-variable\n",
        )
        .await;
    place
        .installation
        .file("hermes/SOUL.md", "You are calm.\n")
        .await;
    let made = three_times(&place, &["hermes", text(file.parent().unwrap())]);
    let webhooks = place.names("webhooks.list", "webhooks", "name").await;
    assert_eq!(webhooks, ["hermes github-pr", "hermes other"]);
    let found = place
        .server
        .rpc(&place.key, "webhooks.list", json!({}))
        .await;
    for webhook in found["result"]["webhooks"].as_array().unwrap() {
        assert_eq!(webhook["enabled"], false, "{webhook}");
        assert_eq!(webhook["auth_mode"], "codehost_a_hmac_sha256", "{webhook}");
    }
    let agents = place.names("agents.list", "agents", "id").await;
    assert!(agents.contains(&"hermes".to_owned()), "{agents:?}");
    let variables = place.server.rpc(&place.key, "env.list", json!({})).await;
    let variables = &variables["result"]["env_variables"];
    assert_eq!(variables[0]["key"], "SOME_TOKEN");
    assert_eq!(variables[0]["encrypted"], 1);
    assert!(list(&made, "not_imported", "what").contains(&"mcp_servers"));
}

#[tokio::test]
async fn hooks_become_webhooks_that_verify_as_before() {
    let place = ImportServer::new().await;
    let file = place.installation.file("hooks.json", HOOKS).await;
    let made = three_times(&place, &["webhook", text(&file)]);
    let found = place
        .server
        .rpc(&place.key, "webhooks.list", json!({}))
        .await;
    let webhooks = found["result"]["webhooks"].as_array().unwrap();
    let redeploy = webhooks.iter().find(|it| it["name"] == "redeploy").unwrap();
    assert_eq!(redeploy["auth_mode"], "codehost_a_hmac_sha256");
    assert_eq!(redeploy["allowed_cidrs"], json!(["192.0.2.0/24"]));
    let conditions = json!([
        { "path": "ref", "is": "equals", "value": "refs/heads/main" },
        { "path": "repository.private", "is": "equals", "value": true },
    ]);
    assert_eq!(redeploy["payload_filter"], conditions);
    let reasons = list(&made, "not_imported", "why");
    let secrets = reasons
        .iter()
        .filter(|why| why.ends_with("must not contain a secret"));
    assert_eq!(secrets.count(), 2, "{reasons:?}");
    let open = webhooks.iter().find(|it| it["name"] == "open").unwrap();
    assert_eq!(open["auth_mode"], "bearer");
    let left = list(&made, "not_imported", "what");
    assert!(
        left.contains(&"rule of redeploy") && left.contains(&"verification of open"),
        "{left:?}"
    );
    // The same file in YAML.
    let yaml = "- id: from-yaml\n  execute-command: /bin/true\n  trigger-rule:\n    match:\n      type: value\n      value: hub-clear\n      parameter: {source: header, name: X-Token}\n";
    let file = place.installation.file("hooks.yaml", yaml).await;
    three_times(&place, &["webhook", text(&file)]);
    let found = place
        .server
        .rpc(&place.key, "webhooks.list", json!({}))
        .await;
    let webhooks = found["result"]["webhooks"].as_array().unwrap();
    let yaml = webhooks
        .iter()
        .find(|it| it["name"] == "from-yaml")
        .unwrap();
    assert_eq!(yaml["auth_mode"], "static_header");
}

#[tokio::test]
async fn a_malformed_file_is_named_with_its_line_and_leaves_nothing() {
    let place = ImportServer::new().await;
    let file = |name: &'static str, text: &'static str| place.installation.file(name, text);
    let good = file("good.env", "GOOD=clear-variable\n").await;
    let bad = file("bad.env", "FIRST=1\n\nnot a variable\n").await;
    let ran = place.import(&["env", text(&bad), text(&good)]);
    assert!(
        ran.failed(1).contains("bad.env:3: expected NAME=value"),
        "{}",
        ran.stderr()
    );
    assert_eq!(
        place.names("env.list", "env_variables", "key").await,
        ["GOOD"]
    );
    for (source, name, text_of_file, place_of_error) in [
        (
            "webhook",
            "a.json",
            "[\n{ \"id\": \"a\", \"execute-command\": \"x\" },\n{ \"id\": \"b\" }]",
            "a.json:3: `execute-command` is missing",
        ),
        (
            "webhook",
            "b.yaml",
            "- id: a\n   execute-command: x\n",
            "b.yaml:2: ",
        ),
        (
            "webhook",
            "c.json",
            "{}",
            "c.json:1: expected a list of hooks",
        ),
        (
            "n8n",
            "d.json",
            "[{ \"name\": \"x\",\n \"nodes\": [\n {}] }]",
            "d.json:3: `type` is missing",
        ),
        (
            "n8n",
            "e.json",
            "[\n{ \"other\": 1 }]",
            "e.json:2: expected a workflow",
        ),
        ("n8n", "f.json", "{ \"name\": \"x\",\n", "f.json:2: "),
    ] {
        let path = place.installation.file(name, text_of_file).await;
        let ran = place.import(&[source, text(&path)]);
        let said = ran.failed(1);
        assert!(said.contains(place_of_error), "{name}: {said}");
    }
    let none: [String; 0] = [];
    assert_eq!(place.names("webhooks.list", "webhooks", "name").await, none);
    let missing = place.import(&["env", "/nowhere/.env"]);
    assert!(missing.failed(1).contains("cannot read /nowhere/.env"));
}

#[tokio::test]
async fn secrets_are_imported_only_into_an_open_vault() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&installation).await;
    let server = installation.start();
    let place = ImportServer {
        installation,
        server,
        key,
    };
    assert_eq!(place.server.vault_status().await, "sealed");
    let file = place.installation.file(".env", "A=clear-variable\n").await;
    let ran = place.import(&["env", text(&file)]);
    assert!(
        ran.failed(1).contains("the vault is sealed"),
        "{}",
        ran.stderr()
    );
    let login = json!({ "password": PASSWORD });
    place.server.post("/api/auth/login", login).await;
    let none: [String; 0] = [];
    assert_eq!(place.names("env.list", "env_variables", "key").await, none);
}

#[tokio::test]
async fn private_keys_of_a_folder_are_imported_and_those_with_a_passphrase_named() {
    let place = ImportServer::new().await;
    let folder = place.installation.file("ssh/known_hosts", "x\n").await;
    let folder = folder.parent().unwrap();
    for (name, passphrase) in [("id_plain", ""), ("id_locked", "secret")] {
        let ran = std::process::Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", passphrase, "-f"])
            .arg(folder.join(name))
            .status();
        assert!(ran.unwrap().success());
    }
    let made = three_times(&place, &["ssh-agent", "--folder", text(folder)]);
    assert_eq!(
        place.names("ssh_keys.list", "ssh_keys", "name").await,
        ["id_plain"]
    );
    assert_eq!(list(&made, "not_imported", "what"), ["SSH key id_locked"]);
}

#[tokio::test]
async fn without_a_running_agent_the_command_fails_and_names_the_folder() {
    let place = ImportServer::new().await;
    let said = place.import(&["ssh-agent"]).failed(1);
    assert!(said.contains("no SSH agent is running"), "{said}");
    assert!(said.contains("--folder ~/.ssh"), "{said}");
}

#[tokio::test]
async fn an_item_that_the_server_refuses_does_not_stop_the_others() {
    let place = ImportServer::new().await;
    let env = "PATH=/bin\nFIRST=one\nSERVICE_BIND=x\nSECOND=two\n";
    let file = place.installation.file("reserved.env", env).await;
    let ran = place.import(&["env", text(&file)]);
    let said = ran.failed(1);
    assert!(said.contains("reserved.env:3"), "{said}");
    let variables = place.names("env.list", "env_variables", "key").await;
    assert_eq!(variables, ["FIRST", "SECOND"]);
}

#[tokio::test]
async fn twenty_rules_about_the_payload_become_conditions_and_one_more_is_named() {
    let place = ImportServer::new().await;
    let hook = |count: usize| {
        let rules: Vec<Value> = (0..count)
            .map(|n| {
                let parameter = json!({ "source": "payload", "name": format!("field{n}") });
                json!({ "match": { "type": "value", "value": "x", "parameter": parameter } })
            })
            .collect();
        let id = format!("with {count}");
        json!({ "id": id, "execute-command": "x", "trigger-rule": { "and": rules } })
    };
    let hooks = json!([hook(20), hook(21)]).to_string();
    let file = place.installation.file("many.json", &hooks).await;
    let made = place.import(&["webhook", text(&file)]).json();
    let left = list(&made, "not_imported", "what");
    assert!(!left.contains(&"rule of with 20"), "{left:?}");
    assert!(left.contains(&"rule of with 21"), "{left:?}");
    let found = place
        .server
        .rpc(&place.key, "webhooks.list", json!({}))
        .await;
    for webhook in found["result"]["webhooks"].as_array().unwrap() {
        let conditions = webhook["payload_filter"].as_array().unwrap();
        assert_eq!(conditions.len(), 20, "{webhook}");
    }
}

#[tokio::test]
async fn one_rule_of_a_hook_verifies_its_sender_and_the_others_are_named() {
    let place = ImportServer::new().await;
    let hooks = r#"[{ "id": "two", "execute-command": "x", "trigger-rule": { "and": [
        { "match": { "type": "payload-hmac-sha256", "secret": "hub-clear-secret",
                     "parameter": { "source": "header", "name": "X-Hub-Signature-256" } } },
        { "match": { "type": "value", "value": "fixed-clear-token",
                     "parameter": { "source": "header", "name": "X-Api-Key" } } },
        { "match": { "type": "value", "value": "repo:push",
                     "parameter": { "source": "header", "name": "X-Event-Key" } } } ] } },
      { "id": "networks", "execute-command": "x",
        "trigger-rule": { "match": { "type": "ip-whitelist", "ip-range": "192.0.2.0/24" } } }]"#;
    let file = place.installation.file("two.json", hooks).await;
    let made = place.import(&["webhook", text(&file)]).json();
    let left = list(&made, "not_imported", "what");
    assert_eq!(
        left.iter().filter(|what| **what == "rule of two").count(),
        2,
        "{left:?}"
    );
    assert!(left.contains(&"verification of networks"), "{left:?}");
    let found = place
        .server
        .rpc(&place.key, "webhooks.list", json!({}))
        .await;
    let webhooks = found["result"]["webhooks"].as_array().unwrap();
    let verified_by = |name: &str| {
        let found = webhooks.iter().find(|it| it["name"] == name).unwrap();
        found["auth_mode"].clone()
    };
    assert_eq!(verified_by("two"), "codehost_a_hmac_sha256");
    assert_eq!(verified_by("networks"), "bearer");
}
