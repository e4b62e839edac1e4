//! Tests of the parent module.

use super::super::super::Origin;
use super::super::body::ResponseBody;
use super::*;
use gatehouse_domain::Actor;

/// Returns the events of an answer.
async fn events(pieces: Vec<Result<AnswerPiece, Problem>>) -> Vec<Value> {
    let origin = Origin {
        actor: Actor::system(),
        id: "r".to_owned(),
        created: 0,
    };
    let body = json!({ "model": "p/m", "input": "Hi." });
    let body: ResponseBody = serde_json::from_value(body).unwrap();
    let response = respond(Head::of(&origin, &body), stream::iter(pieces).boxed());
    let sent = axum::body::to_bytes(response.into_body(), usize::MAX).await;
    let sent = String::from_utf8(sent.unwrap().to_vec()).unwrap();
    let data = sent.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// A provider may end the block of a call before it reports that the call was cut.
#[tokio::test]
async fn a_call_without_a_stop_reason_does_not_end() {
    let call = |id: &str, arguments: &str| {
        Ok(AnswerPiece::ToolCall(ToolCall {
            id: id.to_owned(),
            name: "weather".to_owned(),
            arguments: arguments.to_owned(),
        }))
    };
    let pieces = vec![
        call("call_0", "{}"),
        call("call_1", "{\"ci"),
        Err(Problem::internal()),
    ];
    let events = events(pieces).await;
    let of = |kind: &str| {
        let events = events.iter().filter(|event| event["type"] == kind);
        events.cloned().collect::<Vec<Value>>()
    };
    assert_eq!(of("response.output_item.added").len(), 2);
    assert_eq!(of("response.function_call_arguments.delta").len(), 2);
    assert_eq!(of("response.function_call_arguments.done").len(), 1);
    let done = of("response.output_item.done");
    assert_eq!(done.len(), 1, "{done:?}");
    assert_eq!(done[0]["item"]["call_id"], "call_0");
    let failed = of("response.failed");
    let output = failed[0]["response"]["output"].as_array().unwrap();
    assert_eq!(output.as_slice(), [done[0]["item"].clone()]);
}
