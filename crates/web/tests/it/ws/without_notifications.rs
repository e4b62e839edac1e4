//! A node whose connection pooler does not forward notifications of the database.

use crate::steps::light_owner;
use gatehouse_store::Location;
use gatehouse_store::testing::{TestDatabase, postgres};
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Forwards the messages of a server, except for notifications (type `A`). Each has a type and a length, which counts
/// itself.
async fn forward_answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> std::io::Result<()> {
    loop {
        let (kind, length) = (from.read_u8().await?, from.read_u32().await?);
        let mut body = vec![0; usize::try_from(length).unwrap() - 4];
        from.read_exact(&mut body).await?;
        if kind != b'A' {
            to.write_u8(kind).await?;
            to.write_u32(length).await?;
            to.write_all(&body).await?;
        }
    }
}

/// Returns the database for another node, behind a proxy without notifications.
async fn deaf(database: &TestDatabase) -> (TestDatabase, JoinSet<()>) {
    let mut other = database.for_another_node();
    let url = database.location.url();
    let (user, rest) = url.split_once('@').unwrap();
    let (server, path) = rest.split_once('/').unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("{user}@127.0.0.1:{port}/{path}?sslmode=disable");
    other.location = Location::from_url(&url).unwrap();
    let (server, mut tasks) = (server.to_owned(), JoinSet::new());
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&server).await.unwrap();
            let (mut requests, to_client) = client.into_split();
            let (answers, mut to_server) = server.into_split();
            connections.spawn(async move {
                tokio::select! {
                    _ = copy(&mut requests, &mut to_server) => {}
                    _ = forward_answers(answers, to_client) => {}
                }
            });
        }
    });
    (other, tasks)
}

#[tokio::test]
async fn a_revocation_closes_the_sockets_of_a_node_that_gets_no_notifications() {
    let Some(database) = postgres().await else {
        return;
    };
    let (deaf, _proxy) = deaf(&database).await;
    let (_one, owner) = light_owner(Options::default().database(database)).await;
    let two = TestServer::start(Options::default().database(deaf)).await;
    let there = owner.clone().at(two.local().address());
    let mut socket = two.socket(&there, "/ws").await;
    owner.post("/api/auth/logout", json!({})).await.expect(200);
    socket.closed().await;
    assert!(!two.app().services().store.hears_nodes());
    let refused = there.get("/api/sessions").await;
    refused.refused(401, "AUTH_NOT_AUTHENTICATED");
}
