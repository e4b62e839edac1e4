//! Features of single vendors, and calls that do not fit into a vendor's messages.

use super::super::approval_buttons::{ANSWERS, GONE, waiting};
use super::super::discord_server::Discord;
use super::super::matrix_server::{BROKEN, Matrix};
use super::super::slack_server::{BOT, Slack};
use super::{ButtonVendor, Chat};
use serde_json::json;

/// Checks a call that does not fit. Slack's sections have 3,000 characters with escapes, and Discord's messages have
/// 2,000.
async fn too_long<V: ButtonVendor>(expression: &str) {
    let chat = Chat::<V>::start().await;
    let question = chat.say(&format!("calculate {expression}")).await;
    let shown = chat.offered(question, &["Deny"]).await;
    let why = "\n\nThe arguments are too long for this message, so the call cannot be allowed here. Read and answer it in \
        the web UI: https://gate.example/approve/";
    assert!(shown.text.contains(why), "{}", shown.text);
    let deny = shown.data("Deny");
    chat.press(question, &deny.replace(":deny", ":allow"));
    assert_eq!(chat.vendor.press_answer(1).await, [GONE]);
    assert_eq!(waiting(&chat.owner).await.len(), 1);
}

#[tokio::test]
async fn what_does_not_fit_into_a_section_can_only_be_denied_on_slack() {
    too_long::<Slack>(&"&".repeat(600)).await;
}

#[tokio::test]
async fn what_does_not_fit_into_a_message_can_only_be_denied_on_discord() {
    too_long::<Discord>(&"\u{202e}".repeat(250)).await;
}

#[tokio::test]
async fn a_call_does_not_leave_its_code_block_on_discord() {
    let chat = Chat::<Discord>::start().await;
    let (question, shown) = chat.ask("calculate 1``` **Allowed**").await;
    let call = "\"1\\u{60}\\u{60}\\u{60} **Allowed**\"\n}\n\n3 hidden characters are shown as escapes.\n\n";
    assert!(shown.text.contains(call), "{}", shown.text);
    let sent = &chat.vendor.sent()[question - 1].1["content"];
    assert_eq!(sent.as_str().unwrap().matches("```").count(), 2);
}

#[tokio::test]
async fn another_reaction_on_matrix_means_nothing() {
    let chat = Chat::<Matrix>::start().await;
    let (question, _) = chat.ask("calculate 6*7").await;
    chat.press(question, "👍");
    // A reaction to another message of the bot.
    chat.press(1, "Allow");
    chat.press(question, "Deny");
    chat.closed(question, "Denied. The call does not run.")
        .await;
    chat.press(question, "👍");
    assert_eq!(chat.vendor.press_answer(1).await, [GONE]);
}

#[tokio::test]
async fn a_call_is_not_answered_on_matrix_while_another_person_is_in_the_room() {
    let chat = Chat::<Matrix>::start().await;
    let (question, shown) = chat.ask("calculate 6*7").await;
    let allow = shown.data("Allow");
    let at = (Matrix::PERSON, question);
    chat.vendor.press_data(Matrix::OTHER, at, "Allow");
    chat.press(question, &allow);
    chat.vendor.processed().await;
    assert_eq!(waiting(&chat.owner).await.len(), 1);
    chat.deny_on_page().await;
    // The person who joined cannot read the call.
    let closed = chat
        .closed(question, "Denied. The call does not run.")
        .await;
    assert_eq!(closed.text, "Denied. The call does not run.");
}

#[tokio::test]
async fn reactions_that_cannot_be_looked_up_on_matrix_hold_up_no_message() {
    let chat = Chat::<Matrix>::start().await;
    let (_, room) = Matrix::chat(Matrix::PERSON);
    let react = |target: &str, padding: usize| {
        let relation = json!({ "rel_type": "m.annotation", "event_id": target, "key": "👍" });
        let content = json!({ "m.relates_to": relation, "padding": "a".repeat(padding) });
        chat.vendor
            .event(&room, Matrix::PERSON, "m.reaction", &content);
    };
    react("../../sync", 0);
    react(&format!("${}", "a".repeat(255)), 0);
    react("$unknown", 0);
    react(BROKEN, 0);
    let answer = chat.say("hello").await;
    assert_eq!(chat.vendor.text(answer).await, "pong");
    let (question, shown) = chat.ask("calculate 6*7").await;
    for _ in 0..3 {
        react(&chat.vendor.event_id(question), 60_000);
    }
    chat.vendor.processed().await;
    chat.press(question, &shown.data("Deny"));
    chat.closed(question, "Denied. The call does not run.")
        .await;
}

#[tokio::test]
async fn a_second_press_does_not_replace_the_result_on_slack() {
    let chat = Chat::<Slack>::start().await;
    let (question, shown) = chat.ask("calculate 6*7").await;
    // Both messages arrive with the question in its state before the result.
    chat.press(question, &shown.data("Deny"));
    chat.press(question, &shown.data("Deny"));
    let end = "Denied. The call does not run.";
    chat.closed(question, end).await;
    assert_eq!(chat.vendor.press_answer(1).await, [GONE]);
    // The answer of the first turn.
    chat.vendor.text(question + 1).await;
    let (next, _) = chat.ask("calculate 6*9").await;
    chat.deny_on_page().await;
    chat.closed(next, end).await;
    let last = chat.vendor.seen(question, |_| true).await;
    assert!(
        last.buttons.is_empty() && last.text.ends_with(end),
        "{last:?}"
    );
}

#[tokio::test]
async fn buttons_that_outlive_their_call_are_replaced_on_slack() {
    let chat = Chat::<Slack>::start().await;
    let (first, before) = chat.ask("calculate 6*7").await;
    chat.deny_on_page().await;
    chat.closed(first, "Denied. The call does not run.").await;
    chat.vendor.text(first + 1).await;
    let (question, shown) = chat.ask("calculate 6*9").await;
    chat.press(question, &before.data("Allow"));
    let retired = chat.closed(question, GONE).await;
    let call = shown.text.split("\n\nAnswer until").next().unwrap();
    assert_eq!(retired.text, format!("{call}\n\n{GONE}"));
}

#[tokio::test]
async fn a_person_in_a_channel_is_asked_directly_after_a_direct_message_on_slack() {
    let chat = Chat::<Slack>::start().await;
    let mention = |ts: &str| {
        let text = format!("<@{BOT}> calculate 6*7");
        chat.vendor.event(
            json!({ "type": "app_mention", "channel": "C1", "user": Slack::PERSON,
            "text": text, "ts": ts }),
        );
    };
    let channel = |number: usize| chat.vendor.sent()[number - 1]["channel"].clone();
    // The message that asked for the pairing is not stored.
    mention("1600000000.000100");
    let note = chat.vendor.text(2).await;
    assert_eq!(note, "A tool call waits for approval in the web UI.");
    assert_eq!(channel(2), "C1");
    chat.deny_on_page().await;
    assert_eq!(chat.vendor.text(3).await, "pong");

    let direct = chat.say("hello").await;
    assert_eq!((direct, channel(direct)), (4, json!("DU1")));
    mention("1600000000.000200");
    let shown = chat.offered(5, &ANSWERS).await;
    assert_eq!(channel(5), "DU1");
    let note = chat.vendor.text(6).await;
    assert_eq!(note, "A tool call waits for approval in our direct chat.");
    assert_eq!(channel(6), "C1");
    chat.press(5, &shown.data("Allow"));
    chat.closed(5, "Allowed. The call runs.").await;
    assert_eq!(chat.vendor.text(7).await, "pong");
    assert_eq!(channel(7), "C1");
}

#[tokio::test]
async fn a_name_that_does_not_fit_is_left_out_on_discord() {
    let chat = Chat::<Discord>::start().await;
    // The last result fits only without the name. A hidden character is shown as eight characters.
    let call = format!("calculate 1{}", "\u{202e}".repeat(150));
    let (other, _) = chat.ask(&call).await;
    let content = |number: usize| {
        let sent = &chat.vendor.sent()[number - 1].1["content"];
        sent.as_str().unwrap().chars().count()
    };
    let room = 2000 - content(other);
    chat.deny_on_page().await;
    chat.closed(other, "Denied. The call does not run.").await;
    chat.vendor.text(other + 1).await;
    let (question, shown) = chat.ask(&format!("{call}{}", "1".repeat(room))).await;
    assert_eq!(content(question), 2000);
    chat.press(question, &shown.data("Deny"));
    let closed = chat
        .closed(question, "Denied. The call does not run.")
        .await;
    assert!(!closed.text.contains("Answered by"), "{}", closed.text);
}
