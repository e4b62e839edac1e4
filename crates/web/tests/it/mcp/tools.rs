//! What the tools do.

use super::{Client, client};
use crate::steps::light_owner;
use crate::webhooks::{deliveries, made, send};
use gatehouse_doubles::openai::{FakeModel, say};
use gatehouse_testkit::{Options, TestServer};
use serde_json::{Value, json};

const BOTH: [&str; 2] = ["operator.read", "operator.write"];

#[tokio::test]
async fn deliveries_are_listed_read_and_replayed() {
    let (server, owner) = light_owner(Options::default()).await;
    let client = client(&server, &owner, &BOTH).await;
    let hook = made(&owner, json!({ "name": "Builds" })).await;
    let headers = [
        ("x-webhook-secret", hook.secret()),
        ("x-event-type", "push"),
    ];
    let sent = send(&server.remote(), &hook.path(), &headers, r#"{"a":"b"}"#).await;
    sent.expect(202);
    let listed = client
        .use_tool("list_deliveries", json!({ "event": "push" }))
        .await;
    let id = &listed["deliveries"][0]["id"];
    assert!(id.is_string(), "{listed}");
    let none = client
        .use_tool("list_deliveries", json!({ "event": "pull" }))
        .await;
    assert_eq!(none["deliveries"], json!([]));
    let got = client.use_tool("get_delivery", json!({ "id": id })).await;
    assert_eq!(
        (&got["id"], &got["event_type"]),
        (id, &json!("push")),
        "{got}"
    );
    let payload = client
        .use_tool("get_delivery_payload", json!({ "id": id }))
        .await;
    assert!(payload.to_string().contains('b'), "{payload}");
    let replayed = client
        .use_tool("replay_delivery", json!({ "id": id }))
        .await;
    assert_eq!(&replayed["replay_of"], id, "{replayed}");
    assert_eq!(deliveries(&owner, &hook).await.len(), 2);
    let audit = owner.rpc("audit.list", json!({ "kind": "delivery.replayed" }));
    let audit = audit.await.unwrap();
    assert_eq!(&audit["events"][0]["detail"]["id"], id, "{audit}");
}

#[tokio::test]
async fn a_message_reaches_the_inbox() {
    let (server, owner) = light_owner(Options::default()).await;
    let client = client(&server, &owner, &BOTH).await;
    let channels = client.use_tool("list_channels", json!({})).await;
    let inbox = channels["channels"].as_array().unwrap();
    assert!(inbox.iter().any(|one| one["type"] == "inbox"), "{channels}");
    for text in ["the same", "the same"] {
        let message = json!({ "target": "inbox", "text": text });
        let sent = client.use_tool("send_message", message).await;
        assert_eq!(sent, json!({ "ok": true }));
    }
    let inbox = owner.rpc("inbox.list", json!({})).await.unwrap();
    let messages = inbox["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{inbox}");
    assert_eq!(messages[0]["text"], "the same");
    let audit = owner.rpc("audit.list", json!({ "kind": "channel.sent" }));
    let audit = audit.await.unwrap();
    let event = &audit["events"][0];
    assert_eq!(
        event["detail"],
        json!({ "target": "inbox", "sent": ["text"] }),
        "{audit}"
    );
    assert!(event["actor"].to_string().contains("key_"), "{audit}");
}

/// The model gets a result that it can act on.
#[tokio::test]
async fn a_failed_tool_is_a_result() {
    let (server, owner) = light_owner(Options::default()).await;
    let client = client(&server, &owner, &BOTH).await;
    let missing = json!({ "id": "dlv_none" });
    let missing = client.failure("get_delivery", missing).await;
    assert_eq!(missing["code"], "NOT_FOUND", "{missing}");
    let disabled = json!({ "type": "log", "label": "Off", "enabled": false, "fields": {} });
    let disabled = owner.rpc("channels.create", disabled).await.unwrap();
    let disabled = format!("log:{}", disabled["id"].as_str().unwrap());
    for (arguments, code, field) in [
        (json!({}), "INVALID_PARAMS", json!("target")),
        (json!([]), "INVALID_PARAMS", json!("")),
        (
            json!({ "target": "inbox" }),
            "INVALID_PARAMS",
            json!("text"),
        ),
        (
            json!({ "target": "inbox", "text": "x", "to": "y" }),
            "INVALID_PARAMS",
            json!("to"),
        ),
        (
            json!({ "target": "pigeon", "text": "x" }),
            "INVALID_PARAMS",
            json!("target"),
        ),
        (
            json!({ "target": "inbox", "text": " " }),
            "INVALID_PARAMS",
            json!("text"),
        ),
        (
            json!({ "target": "inbox", "text": "x".repeat(65_537) }),
            "INVALID_PARAMS",
            json!("text"),
        ),
        (
            json!({ "target": disabled, "text": "x" }),
            "PROVIDER_FAILED",
            Value::Null,
        ),
    ] {
        let failed = client.failure("send_message", arguments).await;
        assert_eq!(failed["code"], code, "{failed}");
        assert_eq!(failed["field"], field, "{failed}");
        assert!(failed["error"].is_string(), "{failed}");
    }
    let longest = json!({ "target": "inbox", "text": "x".repeat(65_536) });
    client.use_tool("send_message", longest).await;
}

/// Returns the model says "pong" and the number of questions in the conversation.
async fn options_with_model() -> Options {
    let model = FakeModel::answering(|request| {
        let asked = request["messages"].as_array().unwrap();
        let users = asked.iter().filter(|one| one["role"] == "user").count();
        say(&format!("pong {users}"))
    });
    Options::default().model(&model.await.url, "m1")
}

#[tokio::test]
async fn an_agent_is_asked_and_asked_again() {
    let server = TestServer::start(options_with_model().await).await;
    let owner = server.set_up().await;
    let client = Client::of(&server.api_key(&owner, &BOTH).await);
    let listed = client.use_tool("list_agents", json!({})).await;
    let agent = &listed["agents"][0]["id"];
    assert!(agent.is_string(), "{listed}");
    let question = json!({ "agent": agent, "text": "ping" });
    let answer = client.use_tool("ask_agent", question).await;
    assert_eq!(
        (&answer["text"], &answer["stop"]),
        (&json!("pong 1"), &json!("end")),
        "{answer}"
    );
    let again = json!({ "session": answer["session"], "text": "ping" });
    let again = client.use_tool("ask_agent", again).await;
    assert_eq!(again["text"], "pong 2", "{again}");
    assert_eq!(again["session"], answer["session"]);
    let unknown = json!({ "agent": "nobody", "text": "ping" });
    let unknown = client.failure("ask_agent", unknown).await;
    assert_eq!(unknown["field"], "agent", "{unknown}");
}

#[tokio::test]
async fn while_the_vault_is_sealed_mcp_is_closed() {
    use crate::prepared::{Setup, Vault, start};
    let (server, _, credentials) = start(Setup::Complete, Vault::Sealed, false).await;
    let key = server.local().bearer(credentials.of("operator.admin"));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    key.post(super::MCP, ping)
        .await
        .refused(423, "VAULT_SEALED");
}

#[cfg(feature = "voice")]
#[tokio::test]
async fn a_text_is_spoken_and_the_audio_transcribed() {
    use crate::audio::vendor::{KEY, Vendor, audio_of};
    use data_encoding::BASE64;
    let vendor = Vendor::start().await;
    let options = Options::default()
        .env("SERVICE_VOICE__TTS__OPENAI__BASE_URL", &vendor.url)
        .env("SERVICE_VOICE__TTS__OPENAI__API_KEY", KEY)
        .env("SERVICE_VOICE__STT__WHISPER__BASE_URL", &vendor.url)
        .env("SERVICE_VOICE__STT__WHISPER__API_KEY", KEY);
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let client = Client::of(&server.api_key(&owner, &BOTH).await);
    let spoken = client
        .content("speak", json!({ "text": "Good day.", "format": "wav" }))
        .await;
    let [audio, about] = &spoken[..] else {
        panic!("{spoken:?}")
    };
    assert_eq!(
        (&audio["type"], &audio["mimeType"]),
        (&json!("audio"), &json!("audio/wav"))
    );
    let data = audio["data"].as_str().unwrap();
    assert_eq!(
        BASE64.decode(data.as_bytes()).unwrap(),
        audio_of("Good day.", "wav")
    );
    let about = super::json_of(about);
    assert_eq!(about["provider"], "tts_cloud_2", "{about}");
    assert_eq!(about.get("audio"), None, "{about}");
    vendor.will_hear("Good day.");
    let heard = client
        .use_tool("transcribe", json!({ "audio": data }))
        .await;
    assert_eq!(heard["text"], "Good day.", "{heard}");
    let wrong = client.failure("transcribe", json!({ "audio": "!" })).await;
    assert_eq!(
        (&wrong["code"], &wrong["field"]),
        (&json!("INVALID_PARAMS"), &json!("audio"))
    );
}
