//! The time from the request that revokes a credential until the socket opened with it is closed.

use super::Site;
use crate::figures::{greatest, median, millis};
use crate::http1::request;
use crate::table::{Goal, Report};
use anyhow::{Context, Result, bail, ensure};
use futures_util::{SinkExt, StreamExt};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

/// Revocations of each kind of credential.
const REVOCATIONS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(10);
/// Close code of a socket whose credential has ended.
const NOT_AUTHENTICATED: u16 = 4401;

/// Opens a chat socket with a header that authenticates it.
pub async fn open(
    address: SocketAddr,
    name: &'static str,
    value: &str,
) -> Result<WebSocketStream<TcpStream>> {
    let mut request = format!("ws://{address}/ws/chat").into_client_request()?;
    request.headers_mut().insert(name, value.parse()?);
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut socket, _) = client_async(request, stream).await?;
    // The response shows that the socket's loop is running.
    socket
        .send(Message::text(r#"{"id":1,"method":"system.status"}"#))
        .await?;
    timeout(PATIENCE, socket.next())
        .await?
        .context("no answer")??;
    Ok(socket)
}

/// Waits until the server closes the socket. Returns the close code.
pub async fn end(socket: &mut WebSocketStream<TcpStream>) -> Result<u16> {
    loop {
        match timeout(PATIENCE, socket.next())
            .await?
            .context("ended without a close")??
        {
            Message::Close(Some(frame)) => return Ok(frame.code.into()),
            Message::Close(None) => bail!("closed without a code"),
            _ => {}
        }
    }
}

/// Measures sessions and keys.
pub(super) async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    let gateway = site.gateway()?;
    let mut client = gateway.connect().await?;
    let unlock = serde_json::json!({ "password": super::PASSWORD }).to_string();
    let owner = site.cookie(0);
    let owner = [("cookie", owner.as_str())];
    client
        .exchange(&request(
            "POST",
            "/api/auth/vault/unlock",
            &owner,
            Some(&unlock),
        ))
        .await?
        .expect_ok()?;
    let mut times = Vec::new();
    for number in 1..=REVOCATIONS {
        // Credentials that the other measurements do not use.
        let place = 5_000 + number;
        let session = site
            .credentials
            .sessions
            .get(place)
            .context("too few sessions")?;
        let key = site
            .credentials
            .keys
            .get(500 + number)
            .context("too few keys")?;
        let revoked = [
            (
                open(gateway.address, "cookie", &site.cookie(place)).await?,
                format!("/api/auth/sessions/{}", session.id),
            ),
            (
                open(gateway.address, "authorization", &site.bearer(500 + number)).await?,
                format!("/api/auth/api-keys/{}", key.id),
            ),
        ];
        for (mut socket, path) in revoked {
            let revoke = request("DELETE", &path, &owner, None);
            let begun = Instant::now();
            client.send(&revoke).await?;
            let code = end(&mut socket).await?;
            times.push(begun.elapsed());
            client.receive().await?.expect_ok()?;
            ensure!(code == NOT_AUTHENTICATED, "closed with {code}");
        }
    }
    let worst = greatest(&times);
    let count = times.len();
    let middle = millis(median(&mut times));
    report.value(
        format!("revocation to closed socket, median of {count}"),
        Goal::AtMost(100.0),
        middle,
        (1, "ms"),
    );
    report.value(
        format!("revocation to closed socket, longest of {count}"),
        Goal::AtMost(100.0),
        millis(worst),
        (1, "ms"),
    );
    gateway.stop()
}
