//! Events of the Wyoming protocol (<https://github.com/rhasspy/wyoming>): a line of JSON, then JSON data and a binary
//! payload. The line contains the lengths of both.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The size limits of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The maximum size of the line, and of the data after it.
    json_bytes: usize,
    payload_bytes: usize,
}

impl Limits {
    /// Limits for clients. The payload is more than a second of audio at any rate.
    pub(super) const CLIENT: Self = Self {
        json_bytes: 64 << 10,
        payload_bytes: 512 << 10,
    };
    /// Limits for programs. Lists of voices have more than 100 KiB, and some programs send a sentence of audio in one
    /// event.
    pub(super) const PROGRAM: Self = Self {
        json_bytes: 4 << 20,
        payload_bytes: 8 << 20,
    };
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) data: Map<String, Value>,
    pub(super) payload: Vec<u8>,
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    data: Option<Map<String, Value>>,
    data_length: Option<usize>,
    payload_length: Option<usize>,
}

#[derive(Serialize)]
struct WrittenHead<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_length: Option<usize>,
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

impl Event {
    pub(super) fn new(kind: &str, data: Value) -> Self {
        Self {
            kind: kind.to_owned(),
            data: match data {
                Value::Object(data) => data,
                _ => Map::new(),
            },
            payload: Vec::new(),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let text = self.data.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    }

    pub(super) fn number(&self, name: &str) -> Option<u32> {
        let number = self.data.get(name).and_then(Value::as_u64)?;
        number.try_into().ok()
    }

    /// Reads the next event; `None` at the end of the connection.
    pub(super) async fn read(
        stream: &mut (impl AsyncBufRead + Unpin),
        limits: Limits,
    ) -> io::Result<Option<Self>> {
        let mut line = Vec::new();
        let most = u64::try_from(limits.json_bytes).unwrap_or(u64::MAX);
        (&mut *stream)
            .take(most)
            .read_until(b'\n', &mut line)
            .await?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return Err(malformed());
        }
        let head: Head = serde_json::from_slice(&line).map_err(|_| malformed())?;
        let mut data = head.data.unwrap_or_default();
        let more = read_exactly(stream, head.data_length, limits.json_bytes).await?;
        if !more.is_empty() {
            let more: Map<String, Value> =
                serde_json::from_slice(&more).map_err(|_| malformed())?;
            data.extend(more);
        }
        Ok(Some(Self {
            kind: head.kind,
            data,
            payload: read_exactly(stream, head.payload_length, limits.payload_bytes).await?,
        }))
    }

    pub(super) async fn write(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let data = if self.data.is_empty() {
            Vec::new()
        } else {
            serde_json::to_vec(&self.data)?
        };
        let length = |bytes: &[u8]| Some(bytes.len()).filter(|length| *length > 0);
        let mut written = serde_json::to_vec(&WrittenHead {
            kind: &self.kind,
            version: env!("CARGO_PKG_VERSION"),
            data_length: length(&data),
            payload_length: length(&self.payload),
        })?;
        written.push(b'\n');
        written.extend(data);
        written.extend_from_slice(&self.payload);
        stream.write_all(&written).await?;
        stream.flush().await
    }
}

async fn read_exactly(
    stream: &mut (impl AsyncBufRead + Unpin),
    length: Option<usize>,
    most: usize,
) -> io::Result<Vec<u8>> {
    let length = length.unwrap_or(0);
    if length > most {
        return Err(malformed());
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    async fn read(bytes: &[u8]) -> io::Result<Option<Event>> {
        let mut bytes = bytes;
        Event::read(&mut bytes, Limits::CLIENT).await
    }

    #[tokio::test]
    async fn an_event_is_what_was_written() {
        let event = Event {
            payload: vec![1, 2, 3],
            ..Event::new("audio-chunk", json!({ "rate": 16_000, "name": "é" }))
        };
        let mut bytes = Vec::new();
        event.write(&mut bytes).await.unwrap();
        assert_eq!(read(&bytes).await.unwrap(), Some(event));
        assert_eq!(read(b"").await.unwrap(), None);
        // The data in the line and the data after it are merged.
        let both = b"{\"type\":\"x\",\"data\":{\"a\":1,\"b\":1},\"data_length\":7}\n{\"b\":2}";
        let both = read(both).await.unwrap().unwrap();
        assert_eq!(both.data, *json!({ "a": 1, "b": 2 }).as_object().unwrap());
    }

    #[tokio::test]
    async fn what_is_malformed_or_too_large_is_refused() {
        let head = |lengths: &str| format!("{{\"type\":\"x\"{lengths}}}\n");
        for bad in [
            "POST / HTTP/1.1\r\n".to_owned(),
            "{\"type\":\"x\"}".to_owned(),
            "[]\n".to_owned(),
            head(",\"payload_length\":3"),
            head(",\"data_length\":2") + "[]",
            head(",\"data_length\":65537"),
            head(",\"payload_length\":524289"),
            head(",\"payload_length\":-1"),
        ] {
            assert!(read(bad.as_bytes()).await.is_err(), "{bad}");
        }
        let largest = [
            head(",\"payload_length\":524288").into_bytes(),
            vec![0; 512 * 1024],
        ];
        let largest = read(&largest.concat()).await.unwrap().unwrap();
        assert_eq!(largest.payload.len(), 512 * 1024);
        let line = |length: usize| format!("{{\"type\":\"{}\"}}\n", "x".repeat(length - 12));
        assert!(read(line(64 << 10).as_bytes()).await.is_ok());
        assert!(read(line((64 << 10) + 1).as_bytes()).await.is_err());
    }

    #[tokio::test]
    async fn programs_may_send_more() {
        let Limits {
            json_bytes,
            payload_bytes,
        } = Limits::PROGRAM;
        for (name, most) in [
            ("data_length", json_bytes),
            ("payload_length", payload_bytes),
        ] {
            for (length, fits) in [(most, true), (most + 1, false)] {
                let head = format!("{{\"type\":\"x\",\"{name}\":{length}}}\n");
                let object = format!("{{{}}}", " ".repeat(length - 2));
                let bytes = [head, object].concat();
                let read = Event::read(&mut bytes.as_bytes(), Limits::PROGRAM).await;
                assert_eq!(read.is_ok(), fits, "{name} {length}");
            }
        }
    }
}
