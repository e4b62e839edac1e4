//! Conversations of a single request, and model calls without an agent.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, harnesses, problem_of};
use futures_util::StreamExt;
use gatehouse_agents::{
    AnswerPiece, AnswerStream, Audience, EarlierMessage, ModelCall, ModelCallError, OneOffRequest,
    UsageBy, UsageQuery,
};
use gatehouse_domain::Actor;
use gatehouse_models::{ChatMessage, ChatRequest, StopReason, Usage};
use serde_json::json;

fn request(earlier: Vec<EarlierMessage>, text: &str) -> OneOffRequest {
    OneOffRequest {
        agent: "default".to_owned(),
        earlier,
        text: text.to_owned(),
        system: Some("Be brief.".to_owned()),
        actor: Actor {
            name: "api_key key_1".to_owned(),
            ..Actor::cli()
        },
    }
}

fn model_call(text: &str) -> ModelCall {
    let text = text.to_owned();
    ModelCall {
        provider: "fake".to_owned(),
        model: "m1".to_owned(),
        request: ChatRequest {
            messages: vec![ChatMessage::user(text)],
            ..ChatRequest::default()
        },
        actor: request(Vec::new(), "").actor,
    }
}

async fn pieces(answer: AnswerStream) -> Vec<AnswerPiece> {
    answer.map(|piece| piece.unwrap()).collect().await
}

fn text(text: &str) -> AnswerPiece {
    AnswerPiece::Text(text.to_owned())
}

async fn tokens_of_key(harness: &Harness) -> Vec<(i64, i64)> {
    let query = UsageQuery {
        from: None,
        until: None,
        by: UsageBy::Key,
    };
    let stats = harness.agents.usage_stats(query).await.unwrap();
    let rows = stats.rows.iter();
    rows.map(|row| (row.input_tokens, row.turns)).collect()
}

#[tokio::test]
async fn the_session_exists_while_the_turn_runs() {
    for harness in harnesses().await {
        let tool = TestTool::double("double", Audience::Public);
        harness.agents.tools().register(tool);
        harness.model.will([
            Reaction::Call(
                "Let me see.".to_owned(),
                vec![("double".to_owned(), json!({ "x": 1 }).to_string())],
            ),
            say("It is 2."),
        ]);
        let earlier = vec![
            EarlierMessage::Assistant("Welcome.".to_owned()),
            EarlierMessage::User("Hello.".to_owned()),
            EarlierMessage::Assistant("Hello!".to_owned()),
        ];
        let answer = harness.agents.run_once(request(earlier, "Twice 1?")).await;
        let usage = Usage {
            input_tokens: 20,
            output_tokens: 6,
            ..Usage::default()
        };
        assert_eq!(
            pieces(answer.unwrap()).await,
            [
                text("Let me see."),
                AnswerPiece::NextStep,
                text("It is 2."),
                AnswerPiece::End {
                    usage,
                    stop: StopReason::End
                },
            ]
        );
        let sent = harness.model.messages(0);
        let said: Vec<_> = sent
            .iter()
            .skip(1)
            .map(|message| &message["content"])
            .collect();
        assert_eq!(said, ["Welcome.", "Hello.", "Hello!", "Twice 1?"]);
        assert_eq!(harness.session_count().await, 0);
        assert_eq!(tokens_of_key(&harness).await, [(20, 1)]);
    }
}

#[tokio::test]
async fn a_dropped_answer_stops_its_turn() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Hang("So far".to_owned())]);
        let answer = harness.agents.run_once(request(Vec::new(), "one")).await;
        let mut answer = answer.unwrap();
        assert_eq!(answer.next().await.unwrap().unwrap(), text("So far"));
        assert_eq!(harness.session_count().await, 1);
        drop(answer);
        while harness.session_count().await > 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn the_session_does_not_outlive_its_process() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Hang("So far".to_owned())]);
        let answer = harness.agents.run_once(request(Vec::new(), "one")).await;
        let mut answer = answer.unwrap();
        assert_eq!(answer.next().await.unwrap().unwrap(), text("So far"));
        harness.after_a_kill().await;
        assert_eq!(harness.session_count().await, 0);
    }
}

#[tokio::test]
async fn a_model_without_an_agent() {
    for harness in harnesses().await {
        harness.model.will([call("weather", &json!({}))]);
        let answer = harness.agents.call_model(model_call("Weather?")).await;
        let got = pieces(answer.unwrap()).await;
        assert!(matches!(&got[0], AnswerPiece::ToolCall(call) if call.name == "weather"));
        assert_eq!(got.len(), 2);
        let stored = tokens_of_key(&harness).await;
        assert_eq!(stored, [(10, 1)]);
        assert_eq!(harness.session_count().await, 0);
        let unknown = ModelCall {
            provider: "nobody".to_owned(),
            ..model_call("Hi.")
        };
        let refused = harness.agents.call_model(unknown).await;
        assert!(matches!(refused, Err(ModelCallError::UnknownModel)));
    }
}

#[tokio::test]
async fn what_a_dropped_call_used_is_estimated() {
    let harness = Harness::new().await;
    harness.model.will([Reaction::Hang("So far".to_owned())]);
    let answer = harness.agents.call_model(model_call("Hello?")).await;
    let mut answer = answer.unwrap();
    assert_eq!(answer.next().await.unwrap().unwrap(), text("So far"));
    drop(answer);
    while tokens_of_key(&harness).await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(tokens_of_key(&harness).await, [(5, 1)]);
}

#[tokio::test]
async fn an_empty_text_is_refused() {
    let harness = Harness::new().await;
    let refused = harness.agents.run_once(request(Vec::new(), " ")).await;
    let (code, message) = problem_of(refused.err().unwrap());
    assert_eq!(code, "INVALID_PARAMS", "{message}");
}
