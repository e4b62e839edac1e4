//! Who may talk, and how much.

use super::{FRAME, Talking, silence, speech};
use crate::audio::{HOLD, Harness};
use crate::prepared::{Setup, Vault, start};
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, Received, Socket};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;

async fn status(actor: &Actor) -> Option<u16> {
    Socket::open(actor, "/ws/talk").await.err()
}

#[tokio::test]
async fn talking_needs_a_credential_write_scope_and_the_gateway_s_own_page() {
    let harness = Harness::new().await;
    let Harness { server, owner, .. } = &harness;
    assert_eq!(status(&server.local()).await, Some(401));
    assert_eq!(status(&server.remote()).await, Some(401));
    assert_eq!(status(&server.local().bearer("gh_wrong")).await, Some(401));
    let reader = server.api_key(owner, &["operator.read"]).await;
    assert_eq!(status(&reader).await, Some(403));
    let writer = server.api_key(owner, &["operator.write"]).await;
    assert_eq!(status(&writer).await, None);
    let foreign = owner.clone().with("origin", "https://evil.example");
    assert_eq!(status(&foreign).await, Some(403));
    for (only, expected) in [("chat.*", Some(403)), ("/ws/talk", None)] {
        let body = json!({ "label": "k", "scopes": ["operator.write"], "only": [only] });
        let made = owner.post("/api/auth/api-keys", body).await.expect(200);
        let key = server.local().bearer(made["key"].as_str().unwrap());
        assert_eq!(status(&key).await, expected, "{only}");
    }
}

#[tokio::test]
async fn a_sealed_vault_refuses_conversations() {
    let (server, _clock, credentials) = start(Setup::Complete, Vault::Sealed, false).await;
    let owner = server.local().session(credentials.of("session"));
    assert_eq!(status(&owner).await, Some(423));
}

/// Starts a conversation with a separate key. Returns the conversation and the key's ID.
async fn with_key(harness: &Harness) -> (Talking, String) {
    let body = json!({ "label": "k", "scopes": ["operator.write"] });
    let made = harness.owner.post("/api/auth/api-keys", body).await;
    let made = made.expect(200);
    let key = harness.server.local().bearer(made["key"].as_str().unwrap());
    let socket = harness.server.socket(&key, "/ws/talk").await;
    let mut talking = Talking { socket };
    talking.begin(json!({})).await;
    talking.server_message("ready").await;
    (talking, made["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_revoked_key_ends_the_conversation_and_its_turn() {
    let harness = Harness::new().await;
    let (mut talking, id) = with_key(&harness).await;
    harness
        .model
        .will_say(&["This is a first sentence. ", "And", HOLD]);
    talking.ask().await;
    let turn = talking.until("turn").await;
    talking.until_audio().await;
    let path = format!("/api/auth/api-keys/{id}");
    harness.owner.delete(&path).await.expect(200);
    let began = Instant::now();
    let code = loop {
        match talking.socket.receive().await {
            Err(code) => break code,
            Ok(_) => assert!(began.elapsed() < Duration::from_secs(1)),
        }
    };
    assert_eq!(code, 4401);
    let session = turn["session"].as_str().unwrap();
    let mut stopped = Value::Null;
    for _ in 0..300 {
        let history = harness.messages(session).await;
        stopped = history.get(1).cloned().unwrap_or_default();
        if stopped["heard"].is_string() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The recognized text is stored nevertheless.
    assert_eq!(stopped["stop"], "aborted", "{stopped}");
    assert!(stopped["heard"].is_string(), "{stopped}");
}

/// A node without its database does not see which credentials ended on other nodes.
#[tokio::test]
async fn a_node_that_is_cut_off_from_its_database_neither_answers_nor_transcribes() {
    let Some(database) = postgres().await else {
        return;
    };
    let harness = Harness::with(Options::default().database(database)).await;
    let mut talking = Talking::start(&harness, json!({})).await;
    let pieces = [
        "This is a first sentence. ",
        "And",
        HOLD,
        " one more. ",
        ".",
    ];
    harness.model.will_say(&pieces);
    talking.ask().await;
    talking.until("turn").await;
    talking.until_audio().await;
    let heard = harness.vendor.heard().len();
    let services = harness.server.app().services();
    services.store.close().await;
    while services.auth.memory_is_fresh() {
        tokio::task::yield_now().await;
    }
    // What was sent before.
    let pause = Duration::from_millis(500);
    while let Ok(received) = tokio::time::timeout(pause, talking.socket.receive()).await {
        received.unwrap();
    }
    harness.model.go_on();
    for frame in [silence(300), speech(), silence(1000)]
        .concat()
        .chunks(FRAME)
    {
        let frame = Message::binary(frame.to_vec());
        // The node may end the conversation meanwhile.
        if talking.socket.send_frame(frame).await.is_err() {
            break;
        }
    }
    let pause = Duration::from_secs(2);
    while let Ok(Ok(received)) = tokio::time::timeout(pause, talking.socket.receive()).await {
        match received {
            Received::Json(server_message) => {
                assert_eq!(server_message["type"], "error", "{server_message}");
            }
            Received::Bytes(_) => panic!("the answer continues"),
        }
    }
    assert_eq!(harness.vendor.heard().len(), heard);
}

async fn ends(socket: &mut Socket, code: &str, close: u16) {
    loop {
        match socket.receive().await {
            Ok(Received::Json(server_message)) if server_message["type"] == "error" => {
                assert_eq!(server_message["error"]["code"], code, "{server_message}");
            }
            Ok(Received::Json(server_message)) => panic!("{server_message}"),
            Ok(Received::Bytes(_)) => {}
            Err(got) => {
                assert_eq!(got, close);
                return;
            }
        }
    }
}

#[tokio::test]
async fn what_does_not_belong_into_a_conversation_ends_it() {
    let harness = Harness::new().await;
    let binary = |bytes: usize| Message::binary(vec![0_u8; bytes]);
    let start = || Message::text(r#"{"type":"start"}"#);
    for (frames, code, close) in [
        (vec![binary(320)], "INVALID_REQUEST", 4400),
        (vec![Message::text("{")], "INVALID_REQUEST", 4400),
        (
            vec![Message::text(r#"{"type":"start","x":1}"#)],
            "INVALID_REQUEST",
            4400,
        ),
        (
            vec![Message::text(r#"{"type":"commit"}"#)],
            "INVALID_REQUEST",
            4400,
        ),
        (
            vec![Message::text(r#"{"type":"start","input":{"rate":7999}}"#)],
            "INVALID_PARAMS",
            4400,
        ),
        (
            vec![Message::text(r#"{"type":"start","session":"none"}"#)],
            "NOT_FOUND",
            4400,
        ),
        (vec![binary(64 * 1024 + 1)], "PAYLOAD_TOO_LARGE", 1009),
    ] {
        let mut socket = harness.server.socket(&harness.owner, "/ws/talk").await;
        for frame in frames {
            socket.send_frame(frame).await.unwrap();
        }
        ends(&mut socket, code, close).await;
    }
    for (frame, code, close) in [
        (binary(321), "INVALID_REQUEST", 4400),
        (start(), "INVALID_REQUEST", 4400),
        (binary(64 * 1024 + 1), "PAYLOAD_TOO_LARGE", 1009),
    ] {
        let mut talking = Talking::start(&harness, json!({})).await;
        talking.socket.send_frame(frame).await.unwrap();
        ends(&mut talking.socket, code, close).await;
    }
    // The largest message is accepted.
    let mut talking = Talking::start(&harness, json!({})).await;
    talking.socket.send_frame(binary(64 * 1024)).await.unwrap();
    talking.ask().await;
    talking.server_message("speech_started").await;
}

#[tokio::test]
async fn a_start_with_something_unknown_is_refused() {
    let harness = Harness::new().await;
    for (name, value, code) in [
        ("tts", "whisper", "INVALID_PARAMS"),
        ("stt", "piper", "INVALID_PARAMS"),
        ("persona", "nobody", "INVALID_PARAMS"),
        ("language", "klingon", "INVALID_PARAMS"),
        ("agent", "nobody", "NOT_FOUND"),
    ] {
        let mut socket = harness.server.socket(&harness.owner, "/ws/talk").await;
        let mut first = json!({ "type": "start" });
        first[name] = json!(value);
        socket.send(first.to_string()).await;
        ends(&mut socket, code, 4400).await;
    }
}

#[tokio::test]
async fn a_flood_of_audio_ends_the_conversation() {
    let harness = Harness::new().await;
    let mut talking = Talking::start(&harness, json!({})).await;
    talking.say(&silence(29_000)).await;
    // Far more audio than the elapsed time.
    for _ in 0..45 {
        let second = Message::binary(silence(1000));
        if talking.socket.send_frame(second).await.is_err() {
            return;
        }
    }
    ends(&mut talking.socket, "RATE_LIMITED", 4429).await;
}

#[tokio::test]
async fn a_seventeenth_conversation_is_refused() {
    let harness = Harness::new().await;
    let mut open = Vec::new();
    for _ in 0..16 {
        open.push(Talking::start(&harness, json!({})).await);
    }
    assert_eq!(status(&harness.owner).await, Some(429));
    let other = harness
        .server
        .api_key(&harness.owner, &["operator.write"])
        .await;
    assert_eq!(status(&other).await, None);
    open.pop();
    for _ in 0..100 {
        if status(&harness.owner).await.is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the place was not released");
}

#[tokio::test]
async fn without_a_provider_there_is_no_conversation() {
    let options = Options::default().env("SERVICE_VOICE__STT__ENABLED", "false");
    let harness = Harness::with(options).await;
    let mut socket = harness.server.socket(&harness.owner, "/ws/talk").await;
    socket.send(r#"{"type":"start"}"#).await;
    let Ok(Received::Json(refusal)) = socket.receive().await else {
        panic!("expected the error");
    };
    assert_eq!(refusal["error"]["what"], "voice.stt.enabled", "{refusal}");
    ends(&mut socket, "NOT_CONFIGURED", 4400).await;
}

#[tokio::test]
async fn a_provider_without_a_key_needs_a_fallback_or_a_persona_with_another() {
    let harness = Harness::new().await;
    let refused = async || {
        let mut socket = harness.server.socket(&harness.owner, "/ws/talk").await;
        socket.send(r#"{"type":"start"}"#).await;
        ends(&mut socket, "NOT_CONFIGURED", 4400).await;
    };
    harness.set("voice.tts.provider", json!("elevenlabs")).await;
    refused().await;
    let persona = json!({ "id": "narrator", "label": "Narrator", "provider": "tts_cloud_2" });
    let made = harness.owner.rpc("voice.personas.create", persona);
    made.await.unwrap();
    drop(Talking::start(&harness, json!({ "persona": "narrator" })).await);
    refused().await;
    harness
        .set("voice.tts.fallback", json!(["tts_cloud_2"]))
        .await;
    drop(Talking::start(&harness, json!({})).await);

    harness.set("voice.stt.provider", json!("deepgram")).await;
    refused().await;
}

#[tokio::test]
async fn an_agent_may_speak_with_another_persona_than_the_active_one_whose_provider_has_no_key() {
    let harness = Harness::new().await;
    let persona = json!({ "id": "narrator", "label": "Narrator", "provider": "tts_cloud_1" });
    let made = harness.owner.rpc("voice.personas.create", persona);
    made.await.unwrap();
    let narrator = json!({ "id": "narrator" });
    let active = harness.owner.rpc("voice.personas.set_active", narrator);
    active.await.unwrap();
    let agent = json!({ "id": "b", "name": "B", "voice_persona_id": "none" });
    harness.owner.rpc("agents.create", agent).await.unwrap();
    drop(Talking::start(&harness, json!({ "agent": "b" })).await);
    // A persona of the conversation speaks for every agent.
    let mut socket = harness.server.socket(&harness.owner, "/ws/talk").await;
    let start = r#"{"type":"start","agent":"b","persona":"narrator"}"#;
    socket.send(start).await;
    ends(&mut socket, "NOT_CONFIGURED", 4400).await;
}
