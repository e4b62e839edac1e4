//! A fake Wyoming program that speaks and transcribes. Sources: the documentation of the protocol
//! (<https://github.com/OHF-Voice/wyoming>), and what wyoming-piper and wyoming-faster-whisper do: an unknown voice is
//! an `error` and the end of the connection, and so is a transcript. It has a framing of its own, and complains about
//! events that the protocol does not describe.

use super::tone;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use url::Url;

pub const VOICE: &str = "en_US-lessac-medium";
pub const OTHER_VOICE: &str = "de_DE-mls-medium";
pub const SPEAKER: &str = "2422";
pub const MODEL: &str = "base-int8";
/// Part of the words of its own errors.
pub const WORDS: &str = "Unable to find voice";
/// The answer to any audio.
pub const HEARD: &str = "Turn on the living room lamp.";
/// A sample rate of Piper's voices.
const RATE: u32 = 22_050;
/// Samples per event, the default of wyoming-piper.
const SAMPLES: usize = 1024;

/// The index of the event with which the first audio ends: half a second, because encoders pass nothing on at once.
const HELD_AFTER: usize = 10;

/// How the program behaves.
#[derive(Clone, Debug, PartialEq)]
pub enum Behavior {
    Fine,
    /// Sends these bytes instead of an answer, and nothing more.
    Raw(Vec<u8>),
    /// Sends these bytes after the first audio, and nothing more.
    RawInAudio(Vec<u8>),
    /// Closes the connection instead of answering.
    Leave,
    /// Closes the connection after the first audio.
    LeaveInAudio,
    /// Sends other events without end.
    Chatty,
    /// Sends audio without end.
    Endless,
    /// Sends the audio in this format: rate, width, channels.
    Format(u32, u32, u32),
    /// Sends these pieces before the transcript.
    Pieces(Vec<String>),
    /// Sends the transcript after the first audio that it receives, and leaves.
    Early,
}

/// An event that was received.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub kind: String,
    pub data: Map<String, Value>,
    pub payload: Vec<u8>,
}

pub struct Wyoming {
    address: String,
    shared: Arc<Shared>,
    _tasks: TaskTracker,
}

struct Shared {
    behavior: Mutex<Behavior>,
    info: Mutex<Value>,
    /// The events of each connection.
    connections: Mutex<Vec<Vec<Seen>>>,
    complaints: Mutex<Vec<String>>,
    /// Whether answers wait after their first audio.
    is_held: watch::Sender<bool>,
    /// The number of requests.
    asked: watch::Sender<usize>,
    /// The number of connections that the client closed before the answer was complete.
    left: watch::Sender<usize>,
}

impl Wyoming {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            behavior: Mutex::new(Behavior::Fine),
            info: Mutex::new(info()),
            connections: Mutex::default(),
            complaints: Mutex::default(),
            is_held: watch::Sender::new(false),
            asked: watch::Sender::new(0),
            left: watch::Sender::new(0),
        });
        let tasks = TaskTracker::new();
        let (serving, made) = (tasks.clone(), Arc::clone(&shared));
        tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let connection = Connection::new(Arc::clone(&made), stream);
                serving.spawn(connection.serve());
            }
        });
        Self {
            address,
            shared,
            _tasks: tasks,
        }
    }

    pub fn url(&self) -> Url {
        Url::parse(&format!("tcp://{}", self.address)).unwrap()
    }

    pub fn set_behavior(&self, behavior: Behavior) {
        *self.shared.behavior.lock().unwrap() = behavior;
    }

    /// Replaces the answer to `describe`.
    pub fn set_info(&self, info: Value) {
        *self.shared.info.lock().unwrap() = info;
    }

    pub fn hold(&self) {
        self.shared.is_held.send_replace(true);
    }

    pub fn release(&self) {
        self.shared.is_held.send_replace(false);
    }

    /// Returns the events of each connection, in order.
    pub fn connections(&self) -> Vec<Vec<Seen>> {
        self.shared.connections.lock().unwrap().clone()
    }

    /// Returns the data of all events of this kind.
    pub fn data_of(&self, kind: &str) -> Vec<Value> {
        let all = self.connections().into_iter().flatten();
        let all = all.filter(|seen| seen.kind == kind);
        all.map(|seen| Value::Object(seen.data)).collect()
    }

    pub fn complaints(&self) -> Vec<String> {
        self.shared.complaints.lock().unwrap().clone()
    }

    /// Waits for this number of requests.
    pub async fn asked(&self, times: usize) {
        let mut asked = self.shared.asked.subscribe();
        let waiting = asked.wait_for(|seen| *seen >= times);
        let waited = tokio::time::timeout(Duration::from_secs(10), waiting).await;
        waited.expect("the program was not asked").unwrap();
    }

    /// Returns whether a client disconnected within a second, before the answer was complete.
    pub async fn was_left(&self) -> bool {
        let mut left = self.shared.left.subscribe();
        let waiting = left.wait_for(|left| *left > 0);
        let waited = tokio::time::timeout(Duration::from_secs(1), waiting).await;
        waited.is_ok()
    }
}

/// Returns a description as wyoming-piper and wyoming-faster-whisper send it.
pub fn info() -> Value {
    let artifact = |name: &str, more: Value| {
        let mut artifact = json!({ "name": name, "description": format!("The {name}"), "installed": true,
            "version": "2.5.2", "attribution": { "name": "x", "url": "https://example.com" } });
        for (key, value) in more.as_object().unwrap() {
            artifact[key] = value.clone();
        }
        artifact
    };
    let voices = [
        artifact(VOICE, json!({ "languages": ["en_US"], "speakers": null })),
        artifact(
            OTHER_VOICE,
            json!({ "languages": ["de_DE"], "speakers": [{ "name": "1724" }, { "name": SPEAKER }] }),
        ),
    ];
    let models = [artifact(MODEL, json!({ "languages": ["en", "de"] }))];
    json!({
        "asr": [artifact("faster-whisper", json!({ "models": models }))],
        "tts": [artifact("piper", json!({ "voices": voices }))],
        "handle": [], "intent": [], "wake": [], "mic": [], "snd": [], "satellite": null,
    })
}

/// Returns one event as the protocol describes it, with the data after the line.
pub fn event(kind: &str, data: &Value, payload: &[u8]) -> Vec<u8> {
    let data = data.to_string();
    let head = json!({ "type": kind, "version": "1.10.2", "data_length": data.len(),
        "payload_length": payload.len() });
    [format!("{head}\n{data}").as_bytes(), payload].concat()
}

struct Connection {
    shared: Arc<Shared>,
    /// The index of its events.
    index: usize,
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    transcribe: Option<Map<String, Value>>,
    audio: Option<(Value, Vec<u8>)>,
}

/// What follows an event.
enum Then {
    Continue,
    Close,
}

impl Connection {
    fn new(shared: Arc<Shared>, stream: TcpStream) -> Self {
        let index = {
            let mut connections = shared.connections.lock().unwrap();
            connections.push(Vec::new());
            connections.len() - 1
        };
        let (reader, writer) = stream.into_split();
        Self {
            shared,
            index,
            reader: BufReader::new(reader),
            writer,
            transcribe: None,
            audio: None,
        }
    }

    async fn serve(mut self) {
        while let Some(seen) = self.read().await {
            self.shared.connections.lock().unwrap()[self.index].push(seen.clone());
            match self.answer(seen).await {
                Ok(Then::Continue) => {}
                Ok(Then::Close) => return,
                Err(why) => {
                    let data = json!({ "text": why, "code": "ValueError" });
                    self.shared.complaints.lock().unwrap().push(why);
                    drop(self.writer.write_all(&event("error", &data, b"")).await);
                    return;
                }
            }
        }
    }

    async fn read(&mut self) -> Option<Seen> {
        let mut line = String::new();
        if self.reader.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let head: Map<String, Value> = serde_json::from_str(&line).expect("a line of JSON");
        let known = ["type", "version", "data_length", "payload_length"];
        assert!(
            head.keys().all(|key| known.contains(&key.as_str())),
            "{line}"
        );
        let length = |name: &str| head.get(name).map_or(0, |length| length.as_u64().unwrap());
        let mut data = vec![0; length("data_length") as usize];
        self.reader.read_exact(&mut data).await.ok()?;
        let mut payload = vec![0; length("payload_length") as usize];
        self.reader.read_exact(&mut payload).await.ok()?;
        let data = if data.is_empty() {
            Map::new()
        } else {
            serde_json::from_slice(&data).expect("an object")
        };
        Some(Seen {
            kind: head["type"].as_str().unwrap().to_owned(),
            data,
            payload,
        })
    }

    async fn answer(&mut self, seen: Seen) -> Result<Then, String> {
        let names: &[&str] = match seen.kind.as_str() {
            "describe" | "audio-stop" => &[],
            "synthesize" => &["text", "voice"],
            "transcribe" => &["name", "language"],
            "audio-start" | "audio-chunk" => &["rate", "width", "channels"],
            other => return Err(format!("the event {other} is not expected")),
        };
        if let Some(name) = seen
            .data
            .keys()
            .find(|name| !names.contains(&name.as_str()))
        {
            return Err(format!("{} has no {name}", seen.kind));
        }
        if seen.kind != "audio-chunk" && !seen.payload.is_empty() {
            return Err(format!("{} has no payload", seen.kind));
        }
        match seen.kind.as_str() {
            "describe" => self.describe().await,
            "synthesize" => self.synthesize(&seen.data).await,
            "transcribe" => {
                self.transcribe = Some(seen.data);
                Ok(Then::Continue)
            }
            "audio-start" => {
                if self.transcribe.is_none() {
                    return Err("audio-start before transcribe".to_owned());
                }
                self.audio = Some((Value::Object(seen.data), Vec::new()));
                Ok(Then::Continue)
            }
            "audio-chunk" => self.listen(seen).await,
            _ => self.transcript().await,
        }
    }

    async fn send(&mut self, kind: &str, data: &Value, payload: &[u8]) -> Result<(), String> {
        self.send_bytes(&event(kind, data, payload)).await
    }

    async fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), String> {
        if self.writer.write_all(bytes).await.is_err() {
            self.shared.left.send_modify(|left| *left += 1);
            return Err("the client left".to_owned());
        }
        Ok(())
    }

    /// Waits for the client to leave.
    async fn until_left(&mut self) -> Then {
        let mut rest = Vec::new();
        drop(self.reader.read_to_end(&mut rest).await);
        self.shared.left.send_modify(|left| *left += 1);
        Then::Close
    }

    fn behavior(&self) -> Behavior {
        self.shared.behavior.lock().unwrap().clone()
    }

    /// Misbehaves before an answer, if it is to.
    async fn misbehave(&mut self) -> Result<Option<Then>, String> {
        self.shared.asked.send_modify(|asked| *asked += 1);
        match self.behavior() {
            Behavior::Raw(bytes) => {
                self.send_bytes(&bytes).await?;
                Ok(Some(self.until_left().await))
            }
            Behavior::Leave => Ok(Some(Then::Close)),
            Behavior::Chatty => loop {
                self.send("ping", &json!({}), b"").await?;
            },
            _ => Ok(None),
        }
    }

    async fn describe(&mut self) -> Result<Then, String> {
        if let Some(then) = self.misbehave().await? {
            return Ok(then);
        }
        let info = self.shared.info.lock().unwrap().clone();
        self.send("info", &info, b"").await?;
        Ok(Then::Continue)
    }

    async fn synthesize(&mut self, data: &Map<String, Value>) -> Result<Then, String> {
        let text = data.get("text").and_then(Value::as_str).unwrap_or_default();
        if text.trim().is_empty() {
            return Err("a text is required".to_owned());
        }
        check_voice(data.get("voice"))?;
        if let Some(then) = self.misbehave().await? {
            return Ok(then);
        }
        let behavior = self.behavior();
        let (rate, width, channels) = match behavior {
            Behavior::Format(rate, width, channels) => (rate, width, channels),
            _ => (RATE, 2, 1),
        };
        let format =
            json!({ "rate": rate, "width": width, "channels": channels, "timestamp": null });
        self.send("audio-start", &format, b"").await?;
        let pcm = tone::pcm(text, rate);
        let (samples, _) = pcm.as_chunks::<2>();
        let repeated = samples
            .iter()
            .flat_map(|sample| sample.repeat(channels as usize));
        let pcm: Vec<u8> = repeated.collect();
        for (index, chunk) in pcm.chunks(SAMPLES * 2 * channels as usize).enumerate() {
            self.send("audio-chunk", &format, chunk).await?;
            if index != HELD_AFTER {
                continue;
            }
            match &behavior {
                Behavior::LeaveInAudio => return Ok(Then::Close),
                Behavior::RawInAudio(bytes) => {
                    self.send_bytes(bytes).await?;
                    return Ok(self.until_left().await);
                }
                Behavior::Endless => loop {
                    self.send("audio-chunk", &format, &vec![0; 1 << 20]).await?;
                },
                _ => {}
            }
            let mut held = self.shared.is_held.subscribe();
            let released = async move { held.wait_for(|is_held| !is_held).await.is_ok() };
            tokio::select! {
                true = released => {}
                then = self.until_left() => return Ok(then),
            }
        }
        self.send("audio-stop", &json!({}), b"").await?;
        Ok(Then::Continue)
    }

    async fn listen(&mut self, seen: Seen) -> Result<Then, String> {
        let Some((format, audio)) = &mut self.audio else {
            return Err("audio-chunk before audio-start".to_owned());
        };
        if *format != Value::Object(seen.data) || !seen.payload.len().is_multiple_of(2) {
            return Err("the audio changed its format".to_owned());
        }
        audio.extend(seen.payload);
        if self.behavior() == Behavior::Early {
            self.shared.asked.send_modify(|asked| *asked += 1);
            self.send("transcript", &json!({ "text": HEARD }), b"")
                .await?;
            return Ok(Then::Close);
        }
        Ok(Then::Continue)
    }

    async fn transcript(&mut self) -> Result<Then, String> {
        let (Some((format, audio)), Some(asked)) = (self.audio.take(), self.transcribe.take())
        else {
            return Err("audio-stop before audio-start".to_owned());
        };
        if format != json!({ "rate": 16_000, "width": 2, "channels": 1 }) || audio.is_empty() {
            return Err(format!("{} bytes of audio in {format}", audio.len()));
        }
        if asked.get("name").is_some_and(|name| name != MODEL) {
            return Err("Unable to find model".to_owned());
        }
        if let Some(then) = self.misbehave().await? {
            return Ok(then);
        }
        self.send("transcript-start", &json!({}), b"").await?;
        if let Behavior::Pieces(pieces) = self.behavior() {
            for text in pieces {
                self.send("transcript-chunk", &json!({ "text": text }), b"")
                    .await?;
            }
        }
        let text = format!(" {HEARD}\n");
        let data = match asked.get("language") {
            Some(language) => json!({ "text": text, "language": language }),
            None => json!({ "text": text }),
        };
        self.send("transcript", &data, b"").await?;
        self.send("transcript-stop", &json!({}), b"").await?;
        Ok(Then::Close)
    }
}

fn check_voice(voice: Option<&Value>) -> Result<(), String> {
    let Some(voice) = voice else { return Ok(()) };
    let voice = voice.as_object().ok_or("voice is no object")?;
    if !voice
        .keys()
        .all(|key| ["name", "speaker"].contains(&key.as_str()))
    {
        return Err("voice has another field".to_owned());
    }
    let name = voice.get("name").and_then(Value::as_str);
    match (name, voice.get("speaker").and_then(Value::as_str)) {
        (Some(VOICE), None) | (Some(OTHER_VOICE), None | Some("1724" | SPEAKER)) => Ok(()),
        _ => Err(format!("{WORDS}: {}", name.unwrap_or_default())),
    }
}
