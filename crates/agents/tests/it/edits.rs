//! Deleted and replaced turns, and the names of sessions that begin without a text.

use crate::fake_model::say;
use crate::harness::{Harness, chat, harnesses, problem_of};
use gatehouse_agents::{AgentsError, TurnReport};

async fn replace(
    harness: &Harness,
    turn: &TurnReport,
    text: &str,
) -> Result<TurnReport, AgentsError> {
    let mut request = chat(Some(turn.session.as_str()), text);
    request.replaces = Some(turn.turn_id.to_string());
    harness.agents.send_sync(request).await
}

async fn texts(harness: &Harness, session: &str) -> String {
    let messages = harness.history(session).await;
    let texts: Vec<_> = messages.into_iter().map(|m| m.content).collect();
    texts.join("|")
}

#[tokio::test]
async fn a_replaced_turn_ends_with_all_later_ones() {
    for harness in harnesses().await {
        harness.model.will(["a", "b", "c"].map(say));
        let first = harness.say(None, "one").await;
        let session = first.session.as_str();
        let second = harness.say(Some(session), "two").await;
        replace(&harness, &second, "two").await.unwrap();
        assert_eq!(texts(&harness, session).await, "one|a|two|c");
        harness.model.will([say("d")]);
        let edited = replace(&harness, &first, "uno").await.unwrap();
        assert_eq!(edited.session, first.session);
        assert_eq!(texts(&harness, session).await, "uno|d");
        assert_eq!(harness.model.messages(3)[1..].len(), 1);
        let shown = harness.agents.get_session(session).await.unwrap();
        assert_eq!(shown.message_count, 2);
        let gone = replace(&harness, &second, "two").await;
        assert_eq!(problem_of(gone.unwrap_err()).0, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_deleted_turn_leaves_the_later_ones() {
    for harness in harnesses().await {
        harness.model.will(["a", "b"].map(say));
        let first = harness.say(None, "one").await;
        let session = first.session.as_str();
        harness.say(Some(session), "two").await;
        let turn = first.turn_id.to_string();
        harness.agents.delete_turn(session, &turn).await.unwrap();
        assert_eq!(texts(&harness, session).await, "two|b");
        for turn in [turn.as_str(), "turn_none", "\0"] {
            let gone = harness.agents.delete_turn(session, turn).await;
            assert_eq!(problem_of(gone.unwrap_err()).0, "NOT_FOUND");
        }
        harness.model.will([say("c")]);
        harness.say(Some(session), "three").await;
        assert_eq!(harness.model.messages(2)[1..].len(), 3);
    }
}

#[tokio::test]
async fn the_first_text_names_a_session_that_was_created_empty() {
    let harness = Harness::new().await;
    harness.model.will(["a", "b", "c"].map(say));
    let spoken = harness.agents.create_session(None, None).await.unwrap();
    let named = harness.agents.create_session(Some("Plans"), None).await;
    let named = named.unwrap();
    for (session, label) in [(&spoken, "How warm is it?"), (&named, "Plans")] {
        harness
            .say(Some(session.id.as_str()), "How warm is it?")
            .await;
        let shown = harness.agents.get_session(session.id.as_str()).await;
        assert_eq!(shown.unwrap().label, label);
    }
}
