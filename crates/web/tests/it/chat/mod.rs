//! Conversations: `agents.*`, `sessions.*`, `chat.*`, `approval.*`, their HTTP paths, and shared pages.

mod agents;
mod approval_buttons;
mod approval_links;
mod approval_messages;
mod approval_questions;
mod attachments;
mod budgets;
pub mod button_vendors;
mod discord_server;
mod events;
mod fetched_files;
#[expect(dead_code, reason = "the tests of channels use the rest")]
#[path = "../../../../channels/tests/it/imap.rs"]
mod imap;
mod inbound;
mod inbound_crash;
mod inbound_discord;
mod inbound_edits;
mod inbound_email;
mod inbound_files;
mod inbound_long_answers;
mod inbound_many_files;
mod inbound_matrix;
mod inbound_pictures;
mod inbound_quotes;
mod inbound_rivals;
mod inbound_slack;
mod inbound_stops;
mod inbound_voices;
mod matrix_server;
mod mcp;
mod order;
mod sessions;
mod share;
mod slack_server;
#[expect(dead_code, reason = "the tests of channels use the rest")]
#[path = "../../../../channels/tests/it/smtp.rs"]
mod smtp;
mod sockets;
pub mod telegram;
#[expect(dead_code, reason = "the tests of channels use the rest")]
#[path = "../../../../channels/tests/it/vendor.rs"]
mod vendor;

use gatehouse_doubles::openai::{FakeModel, Reaction, call, say};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};

/// Returns a server with a fake model. It answers every text with `pong`, except that a text starting with `calculate`
/// makes it call the tool `calc` with the rest of the text, that it repeats what follows `say: `, and that it counts to
/// the number after `count to `.
async fn with_model() -> (TestServer, Actor) {
    with_model_and(&[]).await
}

pub(crate) async fn with_model_and(variables: &[(&str, &str)]) -> (TestServer, Actor) {
    with_model_in(Options::default(), variables).await
}

async fn with_model_in(options: Options, variables: &[(&str, &str)]) -> (TestServer, Actor) {
    let model = FakeModel::answering(answer).await;
    let options = options
        .model(&model.url, "m1")
        .env("SERVICE_TOOLS__REQUIRE_APPROVAL", "calc")
        .env("SERVICE_SERVER__EXTERNAL_URL", "https://gate.example");
    let set = |options: Options, (name, value): &(&str, &str)| options.env(name, value);
    let server = TestServer::start(variables.iter().fold(options, set)).await;
    let owner = server.set_up().await;
    (server, owner)
}

fn answer(request: &Value) -> Reaction {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let wanted = last["content"].as_str().unwrap_or_default();
    if let Some(expression) = wanted.strip_prefix("calculate") {
        let expression = match expression.trim_start() {
            "" => "6*7",
            other => other,
        };
        call("calc", &json!({ "expression": expression }))
    } else if let Some((_, said)) = wanted.split_once("say: ") {
        say(said.lines().next().unwrap_or_default())
    } else if let Some((_, last)) = wanted.split_once("count to ") {
        say(&inbound_long_answers::numbers(last.trim().parse().unwrap()))
    } else {
        say("pong")
    }
}

/// Returns whether an object has no other fields.
fn has_only(body: &Value, known: &[&str]) -> bool {
    let mut keys = body.as_object().unwrap().keys();
    keys.all(|key| known.contains(&key.as_str()))
}

/// Returns the error code and the field of a refused call.
async fn blamed(actor: &Actor, method: &str, params: Value) -> (Value, Value) {
    let answer = actor.rpc_reply(method, params).await.expect(200);
    let data = answer["error"]["data"].clone();
    (data["code"].clone(), data["field"].clone())
}
