//! Incomplete or missing answers of models, as people on a channel see them.

use super::inbound::pair;
use super::telegram::{TOKEN, Telegram};
use gatehouse_doubles::openai::{FakeModel, Reaction};
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;

#[tokio::test]
async fn a_person_learns_why_an_answer_is_incomplete_or_missing() {
    let (model, telegram) = (FakeModel::start().await, Telegram::start().await);
    let server = TestServer::start(Options::default().model(&model.url, "m1")).await;
    let owner = server.set_up().await;
    let fields = json!({ "bot_token": TOKEN, "base_url": telegram.url(), "inbound": true });
    let account = json!({ "type": "telegram", "label": "Bot", "fields": fields });
    owner.rpc("channels.create", account).await.unwrap();
    pair(&owner, &telegram, 42, true).await;
    let ends = [
        (
            "It is",
            "length",
            "It is\n\n(The answer is incomplete, because the model reached its limit.)",
        ),
        (
            "",
            "content_filter",
            "A content filter removed the answer or its end.",
        ),
    ];
    for (number, (text, reason, told)) in ends.into_iter().enumerate() {
        model.will([Reaction::Finish(text.to_owned(), reason.to_owned())]);
        telegram.write(42, json!({ "text": "How is it?" }));
        assert_eq!(telegram.wait_for(number + 2).await["text"], told);
    }
}
