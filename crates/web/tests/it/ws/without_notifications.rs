//! A node that gets no notifications of the database: its connection pooler does not forward them, or no longer does.

use crate::steps::light_owner;
use gatehouse_store::Location;
use gatehouse_store::testing::{TestDatabase, postgres};
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Forwards the messages of a server, except for notifications (type `A`) while `is_deaf`. Each has a type and a length,
/// which counts itself.
async fn forward_answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    is_deaf: Arc<AtomicBool>,
) -> std::io::Result<()> {
    loop {
        let (kind, length) = (from.read_u8().await?, from.read_u32().await?);
        let mut body = vec![0; usize::try_from(length).unwrap() - 4];
        from.read_exact(&mut body).await?;
        if kind != b'A' || !is_deaf.load(Ordering::SeqCst) {
            to.write_u8(kind).await?;
            to.write_u32(length).await?;
            to.write_all(&body).await?;
        }
    }
}

/// Returns the database for another node, behind a proxy that forwards no notifications while `is_deaf`.
async fn behind_proxy(
    database: &TestDatabase,
    is_deaf: &Arc<AtomicBool>,
) -> (TestDatabase, JoinSet<()>) {
    let mut other = database.for_another_node();
    let url = database.location.url();
    let (user, rest) = url.split_once('@').unwrap();
    let (server, path) = rest.split_once('/').unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("{user}@127.0.0.1:{port}/{path}?sslmode=disable");
    other.location = Location::from_url(&url).unwrap();
    let (server, mut tasks) = (server.to_owned(), JoinSet::new());
    let is_deaf = Arc::clone(is_deaf);
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(&server).await.unwrap();
            let (mut requests, to_client) = client.into_split();
            let (answers, mut to_server) = server.into_split();
            let is_deaf = Arc::clone(&is_deaf);
            connections.spawn(async move {
                tokio::select! {
                    _ = copy(&mut requests, &mut to_server) => {}
                    _ = forward_answers(answers, to_client, is_deaf) => {}
                }
            });
        }
    });
    (other, tasks)
}

/// Ends a session on one node while its socket is open on another one, which gets no notifications from the beginning
/// or from the moment before the end of the session on.
async fn revoke(is_deaf_at_first: bool) {
    let Some(database) = postgres().await else {
        return;
    };
    let is_deaf = Arc::new(AtomicBool::new(is_deaf_at_first));
    let (deaf, _proxy) = behind_proxy(&database, &is_deaf).await;
    let (_one, owner) = light_owner(Options::default().database(database)).await;
    let two = TestServer::start(Options::default().database(deaf)).await;
    let there = owner.clone().at(two.local().address());
    let mut socket = two.socket(&there, "/ws").await;
    if !is_deaf_at_first {
        let mut notified = two.app().services().store.notified();
        // The first one reports that the node is listening.
        notified.wait_for(|count| *count > 0).await.unwrap();
    }
    is_deaf.store(true, Ordering::SeqCst);
    owner.post("/api/auth/logout", json!({})).await.expect(200);
    socket.closed().await;
    let refused = there.get("/api/sessions").await;
    refused.refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn a_revocation_closes_the_sockets_of_a_node_that_gets_no_notifications() {
    revoke(true).await;
}

#[tokio::test]
async fn a_revocation_closes_the_sockets_of_a_node_whose_notifications_are_cut_without_a_sign() {
    revoke(false).await;
}
