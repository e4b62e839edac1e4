//! JSON-RPC envelopes: every message is parsed or rejected, and every response is JSON with the ID of the
//! request.
#![no_main]

use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_rpc::envelope::{Id, MAX_BATCH, batch_answer, parse, refusal};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let problem = Problem::new(ErrorCode::MethodNotFound, "The method does not exist.");
    let incoming = match parse(text) {
        Ok(incoming) => incoming,
        Err(problem) => return check(&refusal(&Id::null(), &problem), &Value::Null),
    };
    let whole: Value = match serde_json::from_str(text) {
        Ok(whole) => whole,
        // The envelope does not parse params, so only they may contain what a strict parser rejects.
        Err(_) => return,
    };
    let (items, listed) = incoming.into_items();
    assert!((1..=MAX_BATCH).contains(&items.len()));
    assert_eq!(listed, whole.is_array());
    let mut answers = Vec::new();
    for item in items {
        match item {
            Ok(request) => answers.extend(request.id.map(|id| refusal(&id, &problem))),
            Err(malformed) => answers.push(refusal(&malformed.id, &malformed.problem)),
        }
    }
    for answer in &answers {
        assert!(serde_json::from_str::<Value>(answer).is_ok(), "{answer}");
    }
    if let Some(batch) = batch_answer(&answers) {
        let parsed: Vec<Value> = serde_json::from_str(&batch).expect("a list");
        assert_eq!(parsed.len(), answers.len());
    }
});

fn check(answer: &str, id: &Value) {
    let parsed: Value = serde_json::from_str(answer).expect("an answer is JSON");
    assert_eq!(&parsed["id"], id);
    assert!(parsed["error"]["data"]["code"].is_string());
}
