//! Each call runs only while its caller's identity is valid.

use crate::harness::Harness;
use gatehouse_auth::api::ConnectAuth;
use gatehouse_auth::{Decision, RequestContext};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_rpc::events::EVENTS;
use gatehouse_rpc::method_entry::Call;
use gatehouse_rpc::{Audit, METHODS};
use gatehouse_store::testing::CommitWatch;
use gatehouse_store::{Guard, StoreError, intending};
use secrecy::SecretString;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

type Calls = Vec<(&'static str, Value)>;

/// Returns the browser of RFC 8291, appendix A.
fn subscription() -> Value {
    let p256dh =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    json!({
        "endpoint": "https://push.example/1",
        "keys": { "p256dh": p256dh, "auth": "BTBZMqHH6r4Tts7J_aSIgg" },
    })
}

fn calls_for_settings_and_secrets(device: &str) -> Calls {
    vec![
        (
            "config.set",
            json!({ "key": "metrics.enabled", "value": false }),
        ),
        (
            "mcp.create",
            json!({ "name": "far", "url": "http://127.0.0.1:9/mcp" }),
        ),
        (
            "mcp.update",
            json!({ "name": "far", "url": "http://127.0.0.1:8/mcp" }),
        ),
        ("mcp.test", json!({ "name": "far" })),
        ("mcp.approve", json!({ "name": "far" })),
        ("mcp.restart", json!({ "name": "far" })),
        ("mcp.authorize", json!({ "name": "far" })),
        ("mcp.disconnect", json!({ "name": "far" })),
        ("mcp.prompt", json!({ "server": "far", "name": "p" })),
        ("mcp.delete", json!({ "name": "far" })),
        ("env.set", json!({ "key": "A", "value": "b" })),
        ("env.delete", json!({ "key": "HAVE" })),
        ("env.reveal", json!({ "program": "make" })),
        ("ssh_keys.generate", json!({ "name": "new" })),
        (
            "ssh_keys.import",
            json!({ "name": "in", "private_key": "x" }),
        ),
        ("ssh_keys.delete", json!({ "name": "none" })),
        (
            "ssh_keys.sign",
            json!({ "name": "none", "data": "eA==", "program": "ssh" }),
        ),
        (
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-1" }),
        ),
        ("providers.remove_key", json!({ "id": "openai" })),
        ("providers.test", json!({ "id": "openai" })),
        ("system.reach", json!({})),
        ("pairing.create", json!({ "label": "second" })),
        ("backup.create", json!({})),
        ("pairing.revoke", json!({ "id": device })),
        ("pairing.approve", json!({ "code": "ABCD-EFGH" })),
        (
            "pairing.trust",
            json!({ "id": "pair_none", "trusted": false }),
        ),
        ("pairing.unpair", json!({ "id": "pair_none" })),
        ("push.subscribe", subscription()),
        ("push.unsubscribe", json!({ "id": "push_none" })),
    ]
}

fn calls_for_conversations(session: &str) -> Calls {
    let text = json!({ "session": session, "text": "hello" });
    vec![
        (
            "budgets.set",
            json!({ "scope": "all", "period": "day", "tokens": 1 }),
        ),
        (
            "budgets.delete",
            json!({ "scope": "agent:default", "period": "day" }),
        ),
        (
            "preferences.set",
            json!({ "kind": "prompts", "name": "Review", "value": "Review this." }),
        ),
        (
            "preferences.delete",
            json!({ "kind": "prompts", "name": "Kept" }),
        ),
        ("agents.create", json!({ "id": "second", "name": "Second" })),
        ("agents.update", json!({ "id": "helper", "name": "Other" })),
        ("agents.delete", json!({ "id": "helper" })),
        ("sessions.create", json!({ "label": "new" })),
        (
            "sessions.branch",
            json!({ "id": session, "turn_id": "turn_none" }),
        ),
        (
            "sessions.rename",
            json!({ "id": session, "label": "other" }),
        ),
        ("sessions.update", json!({ "id": session, "pinned": true })),
        ("sessions.share", json!({ "id": session })),
        ("sessions.unshare", json!({ "id": session })),
        ("chat.send", text.clone()),
        ("chat.send_sync", text),
        ("chat.abort", json!({ "session": session })),
        (
            "chat.delete",
            json!({ "session": session, "turn_id": "turn_none" }),
        ),
        ("sessions.clear_taint", json!({ "id": session })),
        ("sessions.delete", json!({ "id": session })),
        (
            "approval.resolve",
            json!({ "id": "apr_none", "allow": true }),
        ),
        ("approval.forget", json!({ "id": "none" })),
    ]
}

fn calls_for_ways_in_and_out(channel: &str, hook: &str, delivery: &Value) -> Calls {
    let account = json!({ "type": "ntfy", "label": "two", "fields": { "topic": "b" } });
    vec![
        ("channels.create", account),
        (
            "channels.update",
            json!({ "id": channel, "label": "other" }),
        ),
        ("channels.test", json!({ "id": "inbox" })),
        (
            "channels.send",
            json!({ "target": "inbox", "text": "hello" }),
        ),
        ("channels.delete", json!({ "id": channel })),
        ("inbox.mark_read", json!({ "id": "msg_none" })),
        ("inbox.mark_all_read", json!({})),
        ("inbox.delete", json!({ "id": "msg_none" })),
        ("inbox.delete_read", json!({})),
        ("webhooks.create", json!({ "name": "second" })),
        ("webhooks.update", json!({ "id": hook, "name": "other" })),
        ("webhooks.rotate_secret", json!({ "id": hook })),
        ("webhooks.test", json!({ "id": hook })),
        ("webhooks.delivery.replay", json!({ "id": delivery })),
        ("webhooks.deliveries.replay", json!({ "limit": 10 })),
        ("webhooks.deliveries.release", json!({})),
        ("webhooks.delivery.retry", json!({ "id": delivery })),
        ("webhooks.delivery.request", json!({ "id": delivery })),
        ("webhooks.forward", json!({ "id": hook })),
        ("webhooks.delivery.cancel", json!({ "id": delivery })),
        ("webhooks.delete", json!({ "id": hook })),
    ]
}

#[cfg(feature = "voice")]
fn calls_for_voice() -> Calls {
    vec![
        ("tts.enable", json!({})),
        ("tts.disable", json!({})),
        ("tts.convert", json!({ "text": "hello" })),
        ("tts.setProvider", json!({ "provider": "openai" })),
        ("stt.transcribe", json!({ "audio": "UklGRg==" })),
        ("stt.setProvider", json!({ "provider": "whisper" })),
        ("voice.test", json!({ "kind": "tts", "provider": "openai" })),
        (
            "voice.personas.create",
            json!({ "label": "P", "provider": "openai" }),
        ),
        ("voice.personas.update", json!({ "id": "p", "label": "Q" })),
        ("voice.personas.set_active", json!({ "id": "p" })),
        ("voice.personas.delete", json!({ "id": "p" })),
    ]
}

#[cfg(not(feature = "voice"))]
const fn calls_for_voice() -> Calls {
    Vec::new()
}

/// Params for every method that changes something, on a server that has one record of every kind.
async fn changing_calls(harness: &Harness) -> Calls {
    let helper = json!({ "id": "helper", "name": "Helper" });
    harness.call("agents.create", helper).await;
    let budget = json!({ "scope": "agent:default", "period": "day", "tokens": 1_000_000 });
    harness.call("budgets.set", budget).await;
    let prompt = json!({ "kind": "prompts", "name": "Kept", "value": "text" });
    harness.call("preferences.set", prompt).await;
    harness
        .call("env.set", json!({ "key": "HAVE", "value": "it" }))
        .await;
    let account = json!({ "type": "ntfy", "label": "one", "fields": { "topic": "a" } });
    let mut ids = Vec::new();
    for (method, params) in [
        ("sessions.create", json!({})),
        ("webhooks.create", json!({ "name": "hook" })),
        ("channels.create", account),
        ("pairing.create", json!({ "label": "telephone" })),
    ] {
        let made = harness.call(method, params).await;
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    let tested = harness.call("webhooks.test", json!({ "id": ids[1] })).await;
    let calls = [
        calls_for_settings_and_secrets(&ids[3]),
        calls_for_conversations(&ids[0]),
        calls_for_ways_in_and_out(&ids[2], &ids[1], &tested["delivery_id"]),
        calls_for_voice(),
    ]
    .concat();
    let tried: BTreeSet<_> = calls.iter().map(|(method, _)| *method).collect();
    // A test of the methods checks that exactly the methods without changes are `Audit::Reads`.
    let change = METHODS.iter().filter(|method| method.audit != Audit::Reads);
    let missing: Vec<_> = change
        .map(|method| method.name)
        .filter(|name| !tried.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "methods that change something have a row here: {missing:?}"
    );
    calls
}

/// Another node completes setup. The database reflects it, but this node's memory does not.
async fn complete_setup_elsewhere(harness: &Harness) {
    let now = harness.services().clock.now();
    let stored: Result<bool, StoreError> = harness
        .services()
        .store
        .write(move |conn| Box::pin(async move { conn.insert_password_hash("$x", now).await }))
        .await;
    assert!(stored.unwrap());
}

#[tokio::test]
async fn every_method_that_changes_something_is_refused_once_its_caller_has_ended() {
    let harness = Harness::new().await;
    let calls = changing_calls(&harness).await;
    let context = harness.context(&[]).await;
    complete_setup_elsewhere(&harness).await;
    let mut watch = CommitWatch::on(harness.location()).await;
    let before = watch.version().await;
    for (method, params) in calls {
        let answer = harness.ask(&context, method, params).await;
        let code = &answer["error"]["data"]["code"];
        assert_eq!(code, "AUTH_NOT_AUTHENTICATED", "{method}: {answer}");
        assert_eq!(watch.version().await, before, "{method} wrote something");
    }
    let keys = harness
        .services()
        .secrets
        .list_provider_keys()
        .await
        .unwrap();
    assert!(keys.is_empty(), "a key is in a file");
}

/// Refuses every write.
fn closed() -> Guard {
    Guard::new(|_| {
        Box::pin(async move {
            let problem = Problem::new(ErrorCode::NotAuthenticated, "ended");
            Err(StoreError::Refused(Box::new(problem)))
        })
    })
}

/// Bypasses the check before each call, so only the check in the transactions remains.
#[tokio::test]
async fn every_method_makes_its_writes_under_the_guard_of_its_caller() {
    let harness = Harness::new().await;
    let calls = changing_calls(&harness).await;
    let context = Arc::new(harness.context(&[]).await);
    let identity = context.decision.identity().unwrap().clone();
    let mut watch = CommitWatch::on(harness.location()).await;
    let before = watch.version().await;
    for (name, params) in calls {
        // A background task stores all deliveries, so this method writes nothing itself.
        if name == "webhooks.test" {
            continue;
        }
        let method = METHODS.iter().find(|method| method.name == name).unwrap();
        let call = Call {
            services: Arc::clone(harness.services()),
            methods: METHODS,
            context: Arc::clone(&context),
            identity: identity.clone(),
            turn: None,
            cancel: CancellationToken::new(),
        };
        let params = RawValue::from_string(params.to_string()).unwrap();
        let work = (method.handler)(call, Some(&params));
        let outcome = closed().over(work).await;
        assert_eq!(watch.version().await, before, "{name} wrote something");
        if let Ok(answer) = outcome {
            assert!(STORES_NOTHING.contains(&name), "{name}: {answer}");
        }
    }
    let keys = harness
        .services()
        .secrets
        .list_provider_keys()
        .await
        .unwrap();
    assert!(keys.is_empty(), "a key is in a file");
}

/// These methods wait for an MCP server, which does not answer here.
const CONNECTS: [&str; 3] = ["mcp.create", "mcp.update", "mcp.test"];

/// The process ends before dispatch writes the row.
#[tokio::test]
async fn every_change_leaves_its_audit_row_even_if_the_process_ends_before_it_is_written() {
    let harness = Harness::new().await;
    let calls = changing_calls(&harness).await;
    let context = Arc::new(harness.context(&[]).await);
    let auth = &harness.services().auth;
    for (name, params) in calls {
        let method = METHODS.iter().find(|method| method.name == name).unwrap();
        // The intent of a change outside the call's transactions is stored by dispatch.
        let Audit::Row {
            kind,
            outside: false,
            ..
        } = method.audit
        else {
            continue;
        };
        if CONNECTS.contains(&name) {
            continue;
        }
        let call = Call {
            services: Arc::clone(harness.services()),
            methods: METHODS,
            context: Arc::clone(&context),
            identity: context.decision.identity().unwrap().clone(),
            turn: None,
            cancel: CancellationToken::new(),
        };
        let intent = auth.intend(kind, &call.actor(), serde_json::Map::new());
        let params = RawValue::from_string(params.to_string()).unwrap();
        let outcome = intending(intent, (method.handler)(call, Some(&params))).await;
        let later = harness.services().clock.now().after(Duration::from_secs(1));
        let left = auth.conclude_left_changes(later).await.unwrap();
        assert!(left <= 1, "{name}");
        if outcome.is_ok() {
            assert_eq!(left, 1, "{name}");
        }
    }
}

/// Methods that store nothing or had nothing to change here.
const STORES_NOTHING: [&str; 10] = [
    "chat.abort",
    "inbox.mark_all_read",
    "inbox.delete_read",
    "tts.convert",
    "stt.transcribe",
    "voice.test",
    "sessions.unshare",
    "system.reach",
    // Both only use memory.
    "webhooks.delivery.request",
    "webhooks.forward",
];

/// Returns a client that connects as a device with these scopes, and the device's ID.
async fn device(harness: &Harness, scopes: Value) -> (RequestContext, String) {
    let made = json!({ "label": "telephone", "scopes": scopes });
    let made = harness.call("pairing.create", made).await;
    complete_setup_here(harness).await;
    let mut context = harness.visit_from("192.0.2.1", &[]).await;
    let auth = ConnectAuth {
        device_token: Some(SecretString::from(made["token"].as_str().unwrap())),
        ..ConnectAuth::default()
    };
    let identity = harness
        .services()
        .auth
        .socket_login(&context, auth)
        .await
        .unwrap();
    context.decision = Decision::Allowed(identity);
    (context, made["id"].as_str().unwrap().to_owned())
}

async fn complete_setup_here(harness: &Harness) {
    let context = harness.context(&[]).await;
    let request = gatehouse_auth::api::SetupRequest {
        password: Some(SecretString::from("correct horse battery")),
        setup_code: None,
    };
    let caller = gatehouse_auth::Caller {
        context: &context,
        user_agent: None,
    };
    harness
        .services()
        .auth
        .setup(&caller, request)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_batch_that_ends_its_own_credential_does_no_more() {
    let harness = Harness::new().await;
    let scopes = json!(["operator.pairing", "operator.write"]);
    let (context, id) = device(&harness, scopes).await;
    let set = json!({ "key": "A", "value": "b" });
    let batch = json!([
        { "id": 1, "method": "pairing.revoke", "params": { "id": id } },
        { "id": 2, "method": "env.set", "params": set },
        { "id": 3, "method": "system.status" },
        { "method": "env.set", "params": set },
    ]);
    let answers = harness
        .rpc
        .call_text(&context, batch.to_string().as_bytes(), None)
        .await;
    let answers: Value = serde_json::from_slice(answers.unwrap().as_bytes()).unwrap();
    assert_eq!(answers[0]["result"]["ok"], true, "{answers}");
    for late in [&answers[1], &answers[2]] {
        let code = &late["error"]["data"]["code"];
        assert_eq!(code, "AUTH_NOT_AUTHENTICATED", "{answers}");
    }
    let stored = harness
        .services()
        .secrets
        .list_env_variables()
        .await
        .unwrap();
    assert!(stored.is_empty());
}

#[test]
fn what_tells_an_event_exists() {
    for event in EVENTS {
        // The methods of this scope depend on the kind of records.
        let by_params = event.name == "records.changed";
        assert_eq!(event.returned_by.is_empty(), by_params, "{}", event.name);
        for name in event.returned_by {
            let is_method = METHODS.iter().any(|method| method.name == *name);
            assert!(is_method || name.starts_with("/api/auth/"), "{name}");
        }
    }
}
