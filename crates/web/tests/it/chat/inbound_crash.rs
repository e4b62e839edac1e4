//! Answers that were sent before the process ended and are not yet marked as sent.

use super::discord_server::{self, Discord};
use super::inbound::{receive_through, settled, unlocked};
use super::matrix_server::{self, Matrix};
use super::{inbound_discord, inbound_matrix};
use gatehouse_store::Location;
use gatehouse_store::testing::run_sql;
use gatehouse_testkit::TestServer;
use serde_json::json;

/// Makes the database refuse to mark an answer as sent.
pub(super) const REFUSE: &str =
    "CREATE TRIGGER crash BEFORE UPDATE OF ended_at ON received_messages
    BEGIN SELECT RAISE(ABORT, 'the process has ended'); END";

/// Returns the SQLite database of a running server.
pub(super) fn location(server: &TestServer) -> Location {
    Location::sqlite_file(&server.directory().join("gatehouse.db"))
}

/// Starts the server again as if it had been killed after it sent an answer.
pub(super) async fn restarted(server: TestServer) -> TestServer {
    let server = server.restart().await;
    // The answer cannot be sent before the vault is unlocked.
    run_sql(&location(&server), "DROP TRIGGER crash").await;
    server
}

#[tokio::test]
async fn an_answer_that_is_sent_again_after_a_crash_is_shown_once_in_matrix() {
    let matrix = Matrix::start().await;
    let token = matrix_server::TOKEN;
    let fields = json!({ "homeserver": matrix.url(), "access_token": token, "inbound": true });
    let (server, owner) = receive_through("matrix", fields).await;
    inbound_matrix::pair(&owner, &matrix, "!direct:a").await;
    settled(&server, "matrix").await;
    run_sql(&location(&server), REFUSE).await;
    matrix.say("!direct:a", "@p:a.example", "hello");
    assert_eq!(matrix.wait_for(2).await.1, "pong");

    let server = restarted(server).await;
    unlocked(&owner, &server).await;
    matrix.repeated(1).await;
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 2);
    // A different message with the same answer is sent again.
    matrix.say("!direct:a", "@p:a.example", "hello");
    assert_eq!(matrix.wait_for(3).await.1, "pong");
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 3);
}

#[tokio::test]
async fn an_answer_that_is_sent_again_after_a_crash_is_shown_once_in_discord() {
    let discord = Discord::start().await;
    let fields = discord.fields(discord_server::TOKEN);
    let (server, owner) = receive_through("discord", fields).await;
    discord.connected(1, 0).await;
    inbound_discord::pair(&owner, &discord, "42").await;
    settled(&server, "discord").await;
    run_sql(&location(&server), REFUSE).await;
    discord.write("42", "hello", json!({}));
    assert_eq!(discord.wait_for(2).await.1, "pong");

    let server = restarted(server).await;
    unlocked(&owner, &server).await;
    discord.repeated(1).await;
    settled(&server, "discord").await;
    assert_eq!(discord.sent().len(), 2);
    discord.write("42", "hello", json!({}));
    assert_eq!(discord.wait_for(3).await.1, "pong");
    settled(&server, "discord").await;
    assert_eq!(discord.sent().len(), 3);
}
