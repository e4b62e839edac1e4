//! Progress bars for long operations. The steps come from the server's events over a WebSocket. If there is none
//! (because of TLS or a missing scope), a spinner is shown.

use super::client::Client;
use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use std::io::IsTerminal;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);

type Socket = WebSocketStream<TcpStream>;

/// Shows the progress of `operation` while `work` runs.
pub async fn during<T>(
    client: &Client,
    operation: &str,
    message: &'static str,
    work: impl Future<Output = T>,
) -> T {
    if !std::io::stderr().is_terminal() {
        return work.await;
    }
    let bar = bar(message);
    let opened = tokio::time::timeout(CONNECT_TIMEOUT, connect(client)).await;
    let mut socket = opened.ok().and_then(Result::ok);
    let mut work = std::pin::pin!(work);
    let outcome = loop {
        tokio::select! {
            outcome = &mut work => break outcome,
            text = next(&mut socket) => {
                if let Some((done, total)) = step(&text, operation) {
                    show(&bar, done, total);
                }
            }
        }
    };
    bar.finish_and_clear();
    outcome
}

/// Creates a bar without a known length, which [`show`] sets. The bar is hidden without a terminal.
pub fn bar(message: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(message);
    bar.enable_steady_tick(TICK);
    bar
}

async fn connect(client: &Client) -> Result<Socket> {
    let url = client.url();
    ensure!(url.scheme() == "http", "only without TLS");
    let host = url.host_str().context("no host")?;
    let port = url.port_or_known_default().context("no port")?;
    let path = url.path().trim_end_matches('/');
    let mut request = format!("ws://{host}:{port}{path}/ws/chat").into_client_request()?;
    if let Some((name, value)) = client.credential() {
        request.headers_mut().insert(name, value.parse()?);
    }
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    Ok(client_async(request, stream).await?.0)
}

/// Returns the next text message. Waits forever if there is no socket.
async fn next(socket: &mut Option<Socket>) -> String {
    loop {
        let Some(open) = socket else {
            return std::future::pending().await;
        };
        match open.next().await {
            Some(Ok(Message::Text(text))) => return text.as_str().to_owned(),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => *socket = None,
        }
    }
}

/// Returns the done and total counts, if the text is an event of this operation.
fn step(text: &str, operation: &str) -> Option<(u64, u64)> {
    let event: Value = serde_json::from_str(text).ok()?;
    let params = event.get("params")?;
    let is_ours = event.get("method")? == "vault.progress" && params.get("operation")? == operation;
    is_ours.then_some((
        params.get("done")?.as_u64()?,
        params.get("total")?.as_u64()?,
    ))
}

/// Sets the progress of a bar.
pub fn show(bar: &ProgressBar, done: u64, total: u64) {
    if bar.length() != Some(total) {
        bar.set_length(total);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}") {
            bar.set_style(style);
        }
    }
    bar.set_position(done);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_operation() {
        let event = |operation: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"vault.progress","params":{{"operation":"{operation}","done":3,"total":9}}}}"#
            )
        };
        assert_eq!(step(&event("rotate"), "rotate"), Some((3, 9)));
        assert_eq!(step(&event("migrate"), "rotate"), None);
        assert_eq!(
            step(r#"{"method":"vault.status","params":{}}"#, "rotate"),
            None
        );
        assert_eq!(step("no JSON", "rotate"), None);
    }
}
