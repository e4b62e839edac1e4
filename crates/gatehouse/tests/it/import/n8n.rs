//! The import of n8n's files.

use super::{ImportServer, list, text, three_times};
use serde_json::{Value, json};

const CREDENTIALS: &str = include_str!("credentials.json");
const WORKFLOW: &str = include_str!("workflow.json");

#[tokio::test]
async fn n8n_becomes_webhooks_channels_and_variables() {
    let place = ImportServer::new().await;
    let credentials = place
        .installation
        .file("credentials.json", CREDENTIALS)
        .await;
    let workflow = place.installation.file("workflow.json", WORKFLOW).await;
    let made = three_times(&place, &["n8n", text(&credentials), text(&workflow)]);
    let webhooks = place.names("webhooks.list", "webhooks", "name").await;
    assert_eq!(webhooks, ["Orders / Hook", "Orders / Nightly"]);
    let variables = place.names("env.list", "env_variables", "key").await;
    assert_eq!(variables, ["CRM_LOGIN_PASSWORD", "CRM_LOGIN_USER"]);
    let channels = place.names("channels.list", "channels", "id").await;
    assert!(
        channels.contains(&"n8n-telegram-bot".to_owned()),
        "{channels:?}"
    );
    let left = list(&made, "not_imported", "what");
    assert!(
        left.contains(&"credential Locked") && left.contains(&"steps of Orders"),
        "{left:?}"
    );
}

/// In n8n, two credentials or two workflows can have the same name, and a field can contain further fields.
#[tokio::test]
async fn every_value_of_n8n_is_imported_also_below_others_and_under_a_name_that_exists() {
    let place = ImportServer::new().await;
    let first = json!([
        { "id": "1", "name": "Bot", "type": "telegramApi", "data": { "accessToken": "9:clear-n8n" } },
        { "id": "Ab", "name": "bot", "type": "telegramApi", "data": { "accessToken": "8:clear-n8n" } },
        { "id": "3", "name": "AI", "type": "openAiApi", "data": { "apiKey": "clear-pw-1" } },
        { "id": "4", "name": "AI", "type": "openAiApi", "data": { "apiKey": "clear-pw-2" } },
        { "id": "5", "name": "Mail", "type": "gmailOAuth2", "data": {
            "clientId": "clear-pw", "oauthTokenData": { "access_token": "clear-pw", "expires_in": 3599 },
            "scopes": ["a", "b"], "ssl": true, "empty": "", "client_id": "clear-pw",
        } },
    ]);
    let second = json!([
        { "id": "6", "name": "Mail", "type": "gmailOAuth2", "data": { "clientId": "clear-pw" } },
        { "id": "7", "name": "邮件", "type": "custom", "data": { "值": "clear-pw" } },
    ]);
    let schedule = json!({ "field": "cronExpression", "expression": "0 3 * * *" });
    let nodes = json!([
        { "name": "Hook", "type": "n8n-nodes-base.webhook" },
        { "name": "Night", "type": "n8n-nodes-base.scheduleTrigger",
          "parameters": { "rule": { "interval": [schedule, schedule] } } },
        { "name": "Night 2", "type": "n8n-nodes-base.webhook" },
    ]);
    let workflows = json!([
        { "id": "x1", "name": "Orders", "nodes": nodes },
        { "id": "x2", "name": "Orders", "nodes": [nodes[0]] },
        { "name": "Orders", "nodes": [nodes[0]] },
    ]);
    let file = async |name: &str, content: &Value| {
        let path = place.installation.file(name, &content.to_string()).await;
        text(&path).to_owned()
    };
    let (first, second) = (file("1.json", &first).await, file("2.json", &second).await);
    let workflows = file("3.json", &workflows).await;
    three_times(&place, &["n8n", &first, &second, &workflows]);
    assert_eq!(
        place.names("env.list", "env_variables", "key").await,
        [
            "AI_API_KEY",
            "MAIL_6_CLIENT_ID",
            "MAIL_CLIENT_ID",
            "MAIL_CLIENT_ID_2",
            "MAIL_OAUTH_TOKEN_DATA_ACCESS_TOKEN",
            "MAIL_OAUTH_TOKEN_DATA_EXPIRES_IN",
            "MAIL_SCOPES_1",
            "MAIL_SCOPES_2",
            "MAIL_SSL",
            "N8N",
        ]
    );
    let channels = place.names("channels.list", "channels", "id").await;
    for id in ["n8n-telegram-bot", "n8n-telegram-ab-bot"] {
        assert!(channels.contains(&id.to_owned()), "{id}: {channels:?}");
    }
    assert_eq!(
        place.names("webhooks.list", "webhooks", "name").await,
        [
            "Orders (2) / Hook",
            "Orders (x2) / Hook",
            "Orders / Hook",
            "Orders / Night",
            "Orders / Night 2",
            "Orders / Night 2 (2)",
        ]
    );
}
