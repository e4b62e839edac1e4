//! Measures when the parts of an answer arrive. Answers can be requested directly from the double, or through the
//! gateway.

use super::model::{Double, Plan, TOKEN_CHARACTERS};
use crate::gateway::Server;
use crate::http1::request;
use anyhow::{Context, Result, bail, ensure};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

/// Timeout for the next bytes or the next frame.
const PATIENCE: Duration = Duration::from_mins(1);
/// The bytes before a token in the double's events.
const BEFORE_TOKEN: &[u8] = b"\"content\":\"";

/// When the parts of an answer arrived, counted from the request.
#[derive(Debug, Default)]
pub struct Timing {
    pub first_token: Duration,
    pub last_token: Duration,
    pub whole: Duration,
    /// The delay of each token of a paced answer after the double sent it.
    pub delays: Vec<Duration>,
}

/// Records when the tokens of one answer arrive.
struct Tokens {
    begun: Instant,
    epoch: Instant,
    is_paced: bool,
    count: usize,
    timing: Timing,
}

impl Tokens {
    fn new(begun: Instant, epoch: Instant, plan: Plan) -> Self {
        Self {
            begun,
            epoch,
            is_paced: matches!(plan, Plan::Paced(_)),
            count: 0,
            timing: Timing::default(),
        }
    }

    fn take(&mut self, token: &[u8], now: Instant) -> Result<()> {
        let since = now.duration_since(self.begun);
        if self.count == 0 {
            self.timing.first_token = since;
        }
        self.count += 1;
        self.timing.last_token = since;
        if self.is_paced {
            let sent = std::str::from_utf8(token)?
                .parse()
                .map(Duration::from_micros)?;
            let arrived = now.duration_since(self.epoch);
            self.timing.delays.push(arrived.saturating_sub(sent));
        }
        Ok(())
    }

    fn finish(mut self, plan: Plan) -> Result<Timing> {
        let expected = match plan {
            Plan::Ping | Plan::Steps(_) => 1,
            Plan::Tokens(count) | Plan::Paced(count) => count,
        };
        let count = self.count;
        ensure!(count == expected, "{count} of {expected} tokens came");
        self.timing.whole = self.begun.elapsed();
        Ok(self.timing)
    }
}

/// A connection to the double.
#[derive(Debug)]
pub struct Direct {
    stream: TcpStream,
    epoch: Instant,
    answer: Vec<u8>,
}

impl Direct {
    pub async fn connect(double: Double) -> Result<Self> {
        let stream = TcpStream::connect(double.address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            epoch: double.epoch,
            answer: Vec::with_capacity(1 << 16),
        })
    }

    /// Requests an answer without tools.
    pub async fn ask(&mut self, plan: Plan) -> Result<Timing> {
        let body = json!({ "model": "m1", "stream": true,
            "messages": [{ "role": "user", "content": plan.text() }] });
        let ask = request(
            "POST",
            "/v1/chat/completions",
            &[("authorization", "Bearer sk-bench")],
            Some(&body.to_string()),
        );
        self.answer.clear();
        let begun = Instant::now();
        let mut tokens = Tokens::new(begun, self.epoch, plan);
        self.stream.write_all(&ask).await?;
        let mut read = 0;
        loop {
            let more = self.stream.read_buf(&mut self.answer);
            ensure!(timeout(PATIENCE, more).await?? > 0, "the double hung up");
            let now = Instant::now();
            while let Some((token, end)) = next_token(&self.answer, read) {
                tokens.take(token, now)?;
                read = end;
            }
            // The last chunk.
            if self.answer.ends_with(b"0\r\n\r\n") {
                break;
            }
        }
        ensure!(self.answer.starts_with(b"HTTP/1.1 200 "), "refused");
        tokens.finish(plan)
    }
}

/// Returns the next complete token at or after `from`, and its end.
fn next_token(answer: &[u8], from: usize) -> Option<(&[u8], usize)> {
    let rest = answer.get(from..)?;
    let mut places = rest.windows(BEFORE_TOKEN.len());
    let start = from + places.position(|bytes| bytes == BEFORE_TOKEN)? + BEFORE_TOKEN.len();
    let end = start + TOKEN_CHARACTERS;
    Some((answer.get(start..end)?, end))
}

/// A socket of the owner.
#[derive(Debug)]
pub struct Chat {
    socket: WebSocketStream<TcpStream>,
    epoch: Instant,
}

impl Chat {
    pub async fn open(server: &Server, cookie: &str, double: Double) -> Result<Self> {
        let mut request = format!("ws://{}/ws/chat", server.address).into_client_request()?;
        request.headers_mut().insert("cookie", cookie.parse()?);
        let stream = TcpStream::connect(server.address).await?;
        stream.set_nodelay(true)?;
        let (socket, _) = client_async(request, stream).await?;
        Ok(Self {
            socket,
            epoch: double.epoch,
        })
    }

    /// Runs a turn. Returns after the turn has ended.
    pub async fn turn(&mut self, session: &str, plan: Plan) -> Result<Timing> {
        let params = json!({ "session": session, "text": plan.text() });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "chat.send", "params": params });
        let call = Message::text(call.to_string());
        let begun = Instant::now();
        let mut tokens = Tokens::new(begun, self.epoch, plan);
        self.socket.send(call).await?;
        loop {
            let (event, now) = self.next().await?;
            if event.is_of("chat.delta", session) {
                for token in event.text().as_bytes().chunks(TOKEN_CHARACTERS) {
                    tokens.take(token, now)?;
                }
            } else if event.is_of("chat.done", session) {
                event.expect_answer()?;
                return tokens.finish(plan);
            }
        }
    }

    /// Returns the next frame, and when it arrived. Fails if the frame is the error of a call.
    pub async fn next(&mut self) -> Result<(Event, Instant)> {
        loop {
            let frame = timeout(PATIENCE, self.socket.next()).await?;
            let frame = frame.context("the socket closed")??;
            let now = Instant::now();
            if let Message::Text(text) = frame {
                let event = Event(serde_json::from_str(&text)?);
                if let Some(error) = event.0.get("error") {
                    bail!("{error}");
                }
                return Ok((event, now));
            }
        }
    }
}

/// A frame of the gateway.
#[derive(Debug)]
pub struct Event(Value);

impl Event {
    fn param(&self, name: &str) -> Option<&str> {
        self.0.get("params")?.get(name)?.as_str()
    }

    /// Returns the session of an event with this name.
    pub fn session_of(&self, method: &str) -> Option<&str> {
        let name = self.0.get("method").and_then(Value::as_str);
        self.param("session").filter(|_| name == Some(method))
    }

    fn is_of(&self, method: &str, session: &str) -> bool {
        self.session_of(method) == Some(session)
    }

    fn text(&self) -> &str {
        self.param("text").unwrap_or_default()
    }

    /// Fails unless the event is the end of a turn with an answer.
    pub fn expect_answer(&self) -> Result<()> {
        ensure!(self.param("stop") == Some("end"), "{}", self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_when_it_is_complete() {
        let answer = b"x\"content\":\"0000000000000007\"}";
        let (token, end) = next_token(answer, 0).unwrap();
        assert_eq!((token, end), (&b"0000000000000007"[..], 28));
        assert!(next_token(answer, end).is_none());
        assert!(next_token(&answer[..20], 0).is_none());
    }
}
