//! Pictures that MCP tools return are sent with the answer to the person who asked.

use super::discord_server::{self, Discord};
use super::inbound::{approve, code_of, pair, settled, unlocked};
use super::inbound_crash::{REFUSE, location, restarted};
use super::inbound_email::Post;
use super::inbound_matrix::PERSON;
use super::matrix_server::{self, Matrix};
use super::slack_server::Slack;
use super::telegram::{TOKEN, Telegram};
use crate::rpc::mcp::{SCRIPT, python};
use gatehouse_doubles::openai::{FakeModel, call, say};
use gatehouse_store::testing::run_sql;
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};

const ANSWER: &str = "Here is the chart.";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The size of the picture that the tool returns, in bytes.
const BYTES: usize = 72;

/// Returns a server with an MCP server whose tool returns a picture, and a channel of this type.
async fn drawing(kind: &str, fields: Value) -> (TestServer, Actor, FakeModel) {
    let model = FakeModel::start().await;
    let options = Options::default().model(&model.url, "m1");
    let options = options.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let program = json!({ "name": "py", "command": python().await, "args": [SCRIPT] });
    let made = owner.rpc("mcp.create", program).await.unwrap();
    assert_eq!(made["state"], "connected", "{made}");
    let account = json!({ "type": kind, "label": "Bot", "fields": fields });
    owner.rpc("channels.create", account).await.unwrap();
    (server, owner, model)
}

/// Makes the next turn call the tool and answer.
fn draw(model: &FakeModel) {
    model.will([call("mcp__py__mixed", &json!({})), say(ANSWER)]);
}

async fn with_telegram() -> (TestServer, Actor, FakeModel, Telegram) {
    let telegram = Telegram::start().await;
    let fields = json!({ "bot_token": TOKEN, "base_url": telegram.url(), "inbound": true });
    let (server, owner, model) = drawing("telegram", fields).await;
    pair(&owner, &telegram, 42, true).await;
    (server, owner, model, telegram)
}

#[tokio::test]
async fn telegram_gets_the_text_and_the_picture_of_a_tool() {
    let (server, _owner, model, telegram) = with_telegram().await;
    draw(&model);
    telegram.write(42, json!({ "text": "Draw the sales." }));
    assert_eq!(telegram.wait_for(2).await["text"], ANSWER);
    let picture = telegram.wait_for_picture(1).await;
    assert_eq!((picture.kind, &*picture.chat), ("photo", "42"));
    assert_eq!(picture.name, "picture-1.png", "not a name by the tool");
    assert!(picture.data.starts_with(PNG) && picture.data.len() == BYTES);
    settled(&server, "telegram").await;

    // A turn without a picture sends none, although an earlier turn did.
    model.will([say("Nothing to draw.")]);
    telegram.write(42, json!({ "text": "And now?" }));
    assert_eq!(telegram.wait_for(3).await["text"], "Nothing to draw.");
    settled(&server, "telegram").await;
    assert_eq!((telegram.pictures(), telegram.sent().len()), ((1, 0), 3));
}

#[tokio::test]
async fn a_picture_can_be_the_whole_answer() {
    let (server, _owner, model, telegram) = with_telegram().await;
    model.will([call("mcp__py__mixed", &json!({})), say("")]);
    telegram.write(42, json!({ "text": "Draw the sales." }));
    telegram.wait_for_picture(1).await;
    settled(&server, "telegram").await;
    assert_eq!((telegram.pictures(), telegram.sent().len()), ((1, 0), 1));

    // Without a picture, an empty answer is no message.
    model.will([say("")]);
    let update = telegram.write(42, json!({ "text": "And now?" }));
    telegram.confirmed(update).await;
    settled(&server, "telegram").await;
    assert_eq!((telegram.pictures(), telegram.sent().len()), ((1, 0), 1));
}

#[tokio::test]
async fn a_picture_that_cannot_be_a_photo_is_a_document() {
    let (_server, _owner, model, telegram) = with_telegram().await;
    telegram.break_photos();
    draw(&model);
    telegram.write(42, json!({ "text": "Draw the sales." }));
    let picture = telegram.wait_for_picture(1).await;
    assert_eq!(
        (picture.kind, &*picture.name),
        ("document", "picture-1.png")
    );
}

#[tokio::test]
async fn a_refused_picture_leaves_the_text_and_is_reported_to_the_person() {
    let (server, _owner, model, telegram) = with_telegram().await;
    telegram.refuse_pictures();
    draw(&model);
    telegram.write(42, json!({ "text": "Draw the sales." }));
    assert_eq!(telegram.wait_for(2).await["text"], ANSWER);
    let note = telegram.wait_for(3).await;
    assert_eq!(note["text"], "(A picture could not be sent.)");
    settled(&server, "telegram").await;
    assert_eq!((telegram.pictures(), telegram.sent().len()), ((0, 2), 3));
}

#[tokio::test]
async fn a_picture_is_sent_once_after_the_wait_that_the_vendor_asks_for() {
    let (server, _owner, model, telegram) = with_telegram().await;
    telegram.delay_pictures(2);
    draw(&model);
    telegram.write(42, json!({ "text": "Draw the sales." }));
    telegram.wait_for_picture(1).await;
    settled(&server, "telegram").await;
    assert_eq!((telegram.pictures(), telegram.sent().len()), ((1, 2), 2));
}

#[tokio::test]
async fn an_answer_with_a_picture_is_not_sent_again_after_a_crash() {
    let (server, owner, model, telegram) = with_telegram().await;
    settled(&server, "telegram").await;
    run_sql(&location(&server), REFUSE).await;
    draw(&model);
    telegram.write(42, json!({ "text": "Draw the sales." }));
    telegram.wait_for_picture(1).await;

    let server = restarted(server).await;
    unlocked(&owner, &server).await;
    settled(&server, "telegram").await;
    assert_eq!((telegram.pictures(), telegram.sent().len()), ((1, 0), 2));
}

#[tokio::test]
async fn slack_gets_the_text_and_the_picture_of_a_tool() {
    let slack = Slack::start().await;
    let (server, owner, model) = drawing("slack", slack.fields()).await;
    slack.write("U1", "hello?");
    let received = slack.wait_for(1).await;
    approve(&owner, &code_of(received["text"].as_str().unwrap()), true).await;
    draw(&model);
    slack.write("U1", "Draw the sales.");
    assert_eq!(slack.wait_for(2).await["text"], ANSWER);
    let (place, name, data) = slack.wait_for_picture(1).await;
    assert_eq!(place, json!({ "channel_id": "DU1", "thread_ts": null }));
    assert_eq!(name, "picture-1.png");
    assert!(data.starts_with(PNG) && data.len() == BYTES);
    settled(&server, "slack").await;
    assert_eq!(slack.sent().len(), 2);
}

#[tokio::test]
async fn slack_without_the_scope_for_uploads_gets_the_text_and_a_note() {
    let slack = Slack::start().await;
    let (_server, owner, model) = drawing("slack", slack.fields()).await;
    slack.write("U1", "hello?");
    let received = slack.wait_for(1).await;
    approve(&owner, &code_of(received["text"].as_str().unwrap()), true).await;
    slack.take_files_scope();
    draw(&model);
    slack.write("U1", "Draw the sales.");
    assert_eq!(slack.wait_for(2).await["text"], ANSWER);
    let note = slack.wait_for(3).await;
    assert_eq!(note["text"], "(A picture could not be sent.)");
}

#[tokio::test]
async fn discord_gets_the_text_and_the_picture_of_a_tool() {
    let discord = Discord::start().await;
    let fields = discord.fields(discord_server::TOKEN);
    let (server, owner, model) = drawing("discord", fields).await;
    discord.connected(1, 0).await;
    discord.write("42", "hello?", json!({}));
    let (_, received) = discord.wait_for(1).await;
    approve(&owner, &code_of(&received), true).await;
    draw(&model);
    discord.write("42", "Draw the sales.", json!({}));
    assert_eq!(discord.wait_for(2).await.1, ANSWER);
    let (channel, name, data) = discord.wait_for_picture(1).await;
    assert_eq!((&*channel, &*name), ("142", "picture-1.png"));
    assert!(data.starts_with(PNG) && data.len() == BYTES);
    settled(&server, "discord").await;
    assert_eq!(discord.sent().len(), 2);
}

#[tokio::test]
async fn matrix_gets_the_text_and_the_picture_of_a_tool() {
    let matrix = Matrix::start().await;
    let fields = json!({ "homeserver": matrix.url(), "access_token": matrix_server::TOKEN, "inbound": true });
    let (server, owner, model) = drawing("matrix", fields).await;
    let room = "!direct:a";
    matrix.invite(room, PERSON, true);
    let (_, received) = matrix.wait_for(1).await;
    approve(&owner, &code_of(&received), true).await;
    draw(&model);
    matrix.say(room, PERSON, "Draw the sales.");
    assert_eq!(matrix.wait_for(2).await.1, ANSWER);
    let (sent_to, content, data) = matrix.wait_for_picture(1).await;
    assert_eq!(sent_to, room);
    let info = json!({ "mimetype": "image/png", "size": BYTES, "w": 2, "h": 1 });
    assert_eq!(
        (&content["body"], &content["info"]),
        (&json!("picture-1.png"), &info)
    );
    assert!(data.starts_with(PNG) && data.len() == BYTES);
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 2);
}

#[tokio::test]
async fn mail_has_the_picture_of_a_tool_as_an_attachment() {
    let mut post = Post::start().await;
    let (server, owner, model) = drawing("email", post.fields("gate@example.com")).await;
    post.imap.seen("IDLE", 1).await;
    post.pair(&owner, "ann@a.example", true).await;
    draw(&model);
    post.write("ann@a.example", "Draw the sales.");
    let mail = post.wait_for(2).await;
    assert!(mail.header("Content-Type").starts_with("multipart/mixed;"));
    assert_eq!(mail.header("Subject"), "Re: tea");
    let body = mail.body();
    assert!(body.contains(ANSWER), "{body}");
    for part in [
        "Content-Disposition: attachment; filename=\"picture-1.png\"\r\n",
        "Content-Type: image/png\r\n",
        "\r\niVBORw0KGgo",
    ] {
        assert!(body.contains(part), "{part}: {body}");
    }
    settled(&server, "email").await;
    post.wait_for(2).await;
}
