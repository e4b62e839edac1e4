//! Shared code of the fake speech-to-text vendors: rules, a response that a test may override, and the
//! detection of audio formats.

use super::fake_server::{Judge, ReceivedRequest, Server, Verdict};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// The key that vendors accept.
pub const KEY: &str = "sk-SECRET-KEY-0123456789";

/// A rejection: the documented status, and the reason.
pub type Refusal = (u16, String);
/// A vendor's rules: the response, or the reason for a rejection. A string is a stream of events.
pub type Rules = fn(ReceivedRequest) -> BoxFuture<'static, Result<Value, Refusal>>;

/// A fake vendor.
pub struct Listener {
    pub server: Server,
    sent: Arc<Mutex<Option<Value>>>,
}

impl Listener {
    pub async fn start(rules: Rules) -> Self {
        let sent: Arc<Mutex<Option<Value>>> = Arc::default();
        let instead = sent.clone();
        let judge: Judge = Arc::new(move |seen: ReceivedRequest| {
            let instead = instead.clone();
            async move {
                match rules(seen).await {
                    Err((status, why)) => Verdict::refused(status, why),
                    Ok(usual) => {
                        let sent = instead.lock().unwrap().clone().unwrap_or(usual);
                        match sent {
                            Value::String(events) => {
                                Verdict::Fine("text/event-stream; charset=utf-8", events.into())
                            }
                            sent => Verdict::Fine("application/json", sent.to_string().into()),
                        }
                    }
                }
            }
            .boxed()
        });
        Self {
            server: Server::start(judge).await,
            sent,
        }
    }

    /// Sets the response to all requests that are not rejected.
    pub fn answer_with(&self, sent: Value) {
        *self.sent.lock().unwrap() = Some(sent);
    }
}

/// Rejects unless `is_so`.
pub fn must(is_so: bool, status: u16, why: impl Into<String>) -> Result<(), Refusal> {
    if is_so {
        Ok(())
    } else {
        Err((status, why.into()))
    }
}

/// File extensions and media types of audio.
const AUDIO: &[(&str, &str)] = &[
    ("flac", "audio/flac"),
    ("m4a", "audio/mp4"),
    ("mp3", "audio/mpeg"),
    ("ogg", "audio/ogg"),
    ("wav", "audio/wav"),
    ("webm", "audio/webm"),
    ("aac", "audio/aac"),
];

/// Returns the file extension for a media type.
pub fn ending(media_type: &str) -> Option<&'static str> {
    let found = AUDIO.iter().find(|(_, media)| *media == media_type);
    found.map(|(ending, _)| *ending)
}

/// Returns whether the first bytes match the file extension.
pub fn looks_like(ending: &str, bytes: &[u8]) -> bool {
    match ending {
        "flac" => bytes.starts_with(b"fLaC"),
        "m4a" => bytes.get(4..8) == Some(b"ftyp"),
        "mp3" => bytes.starts_with(b"ID3") || bytes.starts_with(&[0xFF]) && bytes.len() > 4,
        "ogg" => bytes.starts_with(b"OggS"),
        "wav" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE"),
        "webm" => bytes.starts_with(&[0x1A, 0x45, 0xDF, 0xA3]),
        "aac" => bytes.starts_with(&[0xFF, 0xF1]) || bytes.starts_with(&[0xFF, 0xF9]),
        _ => false,
    }
}
