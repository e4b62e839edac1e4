//! The envelope, the scope check and the responses of `POST /api/rpc`.

use crate::harness::Harness;
use gatehouse_auth::Decision;
use gatehouse_domain::{Scope, ScopeSet};
use gatehouse_rpc::METHODS;
use proptest::prelude::*;
use serde_json::{Value, json};

async fn raw(harness: &Harness, text: &str) -> Option<Value> {
    let context = harness.context(&[]).await;
    let answer = harness
        .rpc
        .call_text(&context, text.as_bytes(), None)
        .await?;
    Some(serde_json::from_slice(answer.as_bytes()).unwrap())
}

#[tokio::test]
async fn answers_carry_the_id_and_notifications_have_none() {
    let harness = Harness::new().await;
    let answer = raw(&harness, r#"{"method":"system.status","id":"x"}"#)
        .await
        .unwrap();
    assert_eq!(
        (&answer["jsonrpc"], &answer["id"]),
        (&json!("2.0"), &json!("x"))
    );
    assert_eq!(raw(&harness, r#"{"method":"system.status"}"#).await, None);
    assert_eq!(raw(&harness, r#"{"method":"no.such"}"#).await, None);
    assert_eq!(
        raw(&harness, r#"[{"method":"system.status"},{"method":"x"}]"#).await,
        None
    );
    let answer = raw(&harness, r#"{"method":"connect"}"#).await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["protocol"]),
        (&Value::Null, &json!(1))
    );
}

#[tokio::test]
async fn an_invalid_request_is_reported_by_its_error_number() {
    let harness = Harness::new().await;
    for (text, code) in [
        ("{", -32700),
        ("\u{0}", -32700),
        ("1", -32600),
        ("[]", -32600),
        (r#"{"id":1}"#, -32600),
        (r#"{"id":1,"method":"no.such"}"#, -32601),
        (r#"{"id":1,"method":"system.status","params":[]}"#, -32602),
        (r#"{"id":1,"method":"system.status","params":7}"#, -32602),
    ] {
        let answer = raw(&harness, text).await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{text}: {answer}");
    }
    let context = harness.context(&[]).await;
    let answer = harness
        .rpc
        .call_text(&context, b"{\"method\":\"\xff\"}", None)
        .await
        .unwrap();
    assert!(
        str::from_utf8(answer.as_bytes())
            .unwrap()
            .contains("PARSE_ERROR")
    );
}

#[tokio::test]
async fn a_batch_of_64_is_answered_in_order_and_65_is_refused() {
    let harness = Harness::new().await;
    let batch = |count: i32| {
        let calls: Vec<Value> = (0..count)
            .map(|id| json!({ "id": id, "method": "system.status" }))
            .collect();
        Value::from(calls).to_string()
    };
    let answers = raw(&harness, &batch(64)).await.unwrap();
    let ids: Vec<i64> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, (0..64).collect::<Vec<i64>>());
    let refused = raw(&harness, &batch(65)).await.unwrap();
    assert_eq!(refused["error"]["data"]["code"], "INVALID_REQUEST");
    let mixed = raw(
        &harness,
        r#"[1,{"id":2,"method":"system.status"},{"method":"x"}]"#,
    )
    .await;
    let mixed = mixed.unwrap();
    assert_eq!(mixed.as_array().unwrap().len(), 2);
    assert_eq!(mixed[0]["error"]["code"], -32600);
    assert_eq!(mixed[1]["id"], 2);
}

#[tokio::test]
async fn every_method_needs_its_scope() {
    let harness = Harness::new().await;
    for method in METHODS {
        for held in Scope::ALL {
            let context = harness.holder_of(&[held]).await;
            // No method has this param. An error for it proves that the scope check, which runs first, has passed.
            let answer = harness
                .ask(&context, method.name, json!({ "no_such_param": 1 }))
                .await;
            let data = &answer["error"]["data"];
            let enough = method.scope.is_none_or(|scope| held.satisfies(scope));
            if enough {
                assert_eq!(
                    data["code"], "INVALID_PARAMS",
                    "{} by {held:?}",
                    method.name
                );
            } else {
                assert_eq!(data["code"], "FORBIDDEN", "{} by {held:?}", method.name);
                assert_eq!(data["required_scope"], method.scope.unwrap().name());
            }
        }
    }
}

trait Satisfies {
    fn satisfies(self, needed: Scope) -> bool;
}

impl Satisfies for Scope {
    fn satisfies(self, needed: Scope) -> bool {
        [self].into_iter().collect::<ScopeSet>().allows(needed)
    }
}

#[tokio::test]
async fn who_is_not_let_in_calls_nothing() {
    let harness = Harness::new().await;
    let mut context = harness.visit_from("192.0.2.1", &[]).await;
    assert!(matches!(context.decision, Decision::SetupRequired));
    let answer = harness.ask(&context, "system.status", json!({})).await;
    assert_eq!(answer["error"]["data"]["code"], "AUTH_SETUP_REQUIRED");
    context.decision = Decision::Unauthorized;
    let answer = harness.ask(&context, "connect", json!({})).await;
    assert_eq!(answer["error"]["data"]["code"], "AUTH_NOT_AUTHENTICATED");
}

#[test]
fn any_bytes_are_answered() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let harness = runtime.block_on(Harness::new());
    let context = runtime.block_on(harness.context(&[]));
    let messages = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..64),
        r#"\[?\{"(id|method|params)":("connect"|"env.set"|1|null|\{"key":"\w*"\}),?\}\]?"#
            .prop_map(String::into_bytes),
    ];
    let mut runner = proptest::test_runner::TestRunner::default();
    let outcome = runner.run(&messages, |bytes| {
        if let Some(answer) = runtime.block_on(harness.rpc.call_text(&context, &bytes, None)) {
            prop_assert!(serde_json::from_slice::<Value>(answer.as_bytes()).is_ok());
        }
        Ok(())
    });
    outcome.unwrap();
}
