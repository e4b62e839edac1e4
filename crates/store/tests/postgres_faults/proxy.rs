//! A TCP proxy between a node and its PostgreSQL server.

use gatehouse_store::Location;
use gatehouse_store::testing::TestDatabase;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The behavior of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Forwards everything.
    None,
    /// Forwards nothing in either direction and closes nothing.
    Silence,
    /// Forwards nothing on connections with a smaller number. Forwards everything on later ones.
    SilenceBefore(u64),
    /// Does not forward simple queries, which configure a session. Forwards everything else.
    NoQueries,
    /// Forwards requests only.
    NoAnswers,
    /// Forwards a `COMMIT` and closes the connection instead of forwarding the response.
    CutAfterCommit,
    /// Closes the connection instead of forwarding a `COMMIT`.
    CutBeforeCommit,
    /// Like [`Fault::CutAfterCommit`]. Also closes every later connection.
    CutForGood,
    /// Closes every connection.
    Closed,
    /// Changes to [`Fault::Silence`] when a migration begins.
    SilentMigration,
    /// Forwards nothing more on the connection that begins a migration. Forwards everything on others.
    SilentMigrator,
    /// Removes the options of a connection when it starts, as `PgBouncer` does with `ignore_startup_parameters`.
    NoOptions,
}

/// A TCP proxy for a PostgreSQL server.
pub(crate) struct Proxy {
    pub(crate) fault: Arc<watch::Sender<Fault>>,
    /// The number of connections so far.
    pub(crate) accepted: Arc<AtomicU64>,
    pub(crate) location: Location,
}

impl Proxy {
    pub(crate) async fn before(database: &TestDatabase) -> Self {
        let url = database.location.url();
        let (user, rest) = url.split_once('@').unwrap();
        let (server, path) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fault = Arc::new(watch::Sender::new(Fault::None));
        let accepted = Arc::new(AtomicU64::new(0));
        let (control, server) = (Arc::clone(&fault), server.to_owned());
        let counter = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(forward(client, server, number, Arc::clone(&control)));
            }
        });
        Self {
            fault,
            accepted,
            location: Location::from_url(&format!("{user}@127.0.0.1:{port}/{path}")).unwrap(),
        }
    }

    pub(crate) fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// Forwards nothing on existing connections. Forwards everything on later ones.
    pub(crate) fn silence_all(&self) {
        self.set(Fault::SilenceBefore(self.accepted.load(Ordering::SeqCst)));
    }
}

async fn forward(
    client: TcpStream,
    server: TcpStream,
    number: u64,
    fault: Arc<watch::Sender<Fault>>,
) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let requests = pump(from_client, to_server, number, Arc::clone(&fault), true);
    let answers = pump(from_server, to_client, number, fault, false);
    // The end of one direction closes both. Requests are handled first.
    tokio::select! {
        biased;
        () = requests => {}
        () = answers => {}
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    number: u64,
    fault: Arc<watch::Sender<Fault>>,
    is_requests: bool,
) {
    let mut buffer = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let bytes = buffer.get(..read).unwrap();
        let commits = is_requests && bytes.windows(6).any(|window| window == b"COMMIT");
        let migrates = is_requests && bytes.windows(6).any(|window| window == b"LOCAL ");
        let now = *fault.borrow();
        match now {
            Fault::SilentMigration if migrates => {
                fault.send_replace(Fault::Silence);
                until_over(&fault, Fault::Silence).await;
            }
            Fault::SilentMigrator if migrates => until_over(&fault, now).await,
            Fault::Silence => until_over(&fault, now).await,
            Fault::SilenceBefore(later) if number < later => until_over(&fault, now).await,
            Fault::NoQueries if is_requests && bytes.starts_with(b"Q") => {
                until_over(&fault, now).await;
            }
            Fault::NoAnswers if !is_requests => until_over(&fault, Fault::NoAnswers).await,
            Fault::CutBeforeCommit if commits => {
                fault.send_replace(Fault::None);
                return;
            }
            Fault::Closed => return,
            Fault::CutAfterCommit | Fault::CutForGood if commits => {
                fault.send_replace(Fault::NoAnswers);
                to.write_all(bytes).await.unwrap();
                // The server reads the message in this time. If it did not, nothing would be
                // committed and the test would fail.
                tokio::time::sleep(Duration::from_millis(500)).await;
                fault.send_replace(if now == Fault::CutForGood {
                    Fault::Closed
                } else {
                    Fault::None
                });
                return;
            }
            _ => {}
        }
        let without = (now == Fault::NoOptions && is_requests).then(|| without_options(bytes));
        let sent = without.flatten();
        if to
            .write_all(sent.as_deref().unwrap_or(bytes))
            .await
            .is_err()
        {
            return;
        }
    }
}

/// Returns the message that starts a connection, without its options. Returns `None` for any other message.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE>
fn without_options(message: &[u8]) -> Option<Vec<u8>> {
    const NAME: &[u8] = b"\0options\0";
    let name = message.windows(NAME.len()).position(|it| it == NAME)?;
    let (before, rest) = message.split_at_checked(name + 1)?;
    let (_, value) = rest.split_at_checked(NAME.len() - 1)?;
    let end = value.iter().position(|byte| *byte == 0)?;
    let (_, after) = value.split_at_checked(end + 1)?;
    let mut kept = [before, after].concat();
    let length = u32::try_from(kept.len()).ok()?.to_be_bytes();
    kept.get_mut(..4)?.copy_from_slice(&length);
    Some(kept)
}

async fn until_over(fault: &watch::Sender<Fault>, now: Fault) {
    drop(fault.subscribe().wait_for(|fault| *fault != now).await);
}
