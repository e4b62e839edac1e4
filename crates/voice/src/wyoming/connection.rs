//! A connection with one client. Its events are answered one after another.

mod transcription;

use super::departure::{Writing, departure};
use super::event::Event;
use super::incoming::{Incoming, Patience};
use super::text_stream::TextStream;
use crate::{TranscribeRequest, Voice, VoiceError};
use bytes::Bytes;
use gatehouse_domain::Problem;
use gatehouse_secrets::Status;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use transcription::Recording;

/// How long a client may take to read an event.
const WRITE_TIMEOUT: Duration = Duration::from_mins(5);

/// The events whose answer may call a provider.
const CALLS: [&str; 4] = [
    "audio-stop",
    "synthesize",
    "synthesize-chunk",
    "synthesize-stop",
];
/// The events that end a request, except requests whose text arrives in pieces.
const ENDS: [&str; 2] = ["audio-stop", "synthesize"];

pub(super) struct Connection {
    incoming: Incoming<OwnedReadHalf>,
    answering: Answering,
}

/// The answering side of a connection.
pub(super) struct Answering {
    pub(super) voice: Voice,
    stream: OwnedWriteHalf,
    writing: Writing,
    /// The request of `transcribe`.
    wanted: TranscribeRequest,
    recording: Option<Recording>,
    /// A text that is spoken while it arrives.
    pub(super) text: Option<TextStream>,
    /// Whether the latest request failed. Not set for a text that arrives in pieces.
    has_failed: bool,
}

impl Connection {
    pub(super) fn new(voice: Voice, stream: TcpStream) -> Self {
        let (reading, writing) = stream.into_split();
        Self {
            incoming: Incoming::new(reading, Patience::CLIENT),
            answering: Answering {
                voice,
                stream: writing,
                writing: Writing::default(),
                wanted: TranscribeRequest::new(Bytes::new()),
                recording: None,
                text: None,
                has_failed: false,
            },
        }
    }

    /// Serves the client until it disconnects, times out or sends malformed data, or until its request has failed.
    /// After a failed request the connection is closed, because Home Assistant ignores the event `error` and waits for
    /// an answer or the end of the connection. A call of a provider is canceled when the client closes the connection,
    /// but not if it closes only its sending side.
    pub(super) async fn serve(self) {
        let Self {
            mut incoming,
            mut answering,
        } = self;
        while let Some(event) = incoming.next().await {
            let is_call = CALLS.contains(&event.kind.as_str());
            let is_end = ENDS.contains(&event.kind.as_str());
            let writing = answering.writing.clone();
            let answered = tokio::select! {
                biased;
                answered = answering.answer_or_refuse(event) => answered,
                () = departure(&mut incoming, &writing), if is_call => return,
            };
            if answered.is_err() || (is_end && answering.has_failed) {
                return;
            }
        }
    }
}

impl Answering {
    async fn answer_or_refuse(&mut self, event: Event) -> io::Result<()> {
        match self.answer(event).await {
            Ok(()) => Ok(()),
            Err(Failed::Gone(error)) => Err(error),
            Err(Failed::Refused(error)) => match self.report(error).await {
                Err(Failed::Gone(error)) => Err(error),
                _ => Ok(()),
            },
        }
    }

    async fn answer(&mut self, event: Event) -> Result<(), Failed> {
        if matches!(event.kind.as_str(), "audio-start" | "synthesize") {
            self.has_failed = false;
        }
        match event.kind.as_str() {
            "describe" => {
                let info = self.voice.wyoming_info().await;
                self.send(&info).await
            }
            "ping" => {
                self.send(&Event::new("pong", Value::Object(event.data)))
                    .await
            }
            "transcribe" => {
                self.wanted.provider = event.text("name").map(str::to_owned);
                self.wanted.language = event.text("language").map(str::to_owned);
                Ok(())
            }
            "audio-start" => self.begin(&event),
            "audio-chunk" => self.add(&event),
            "audio-stop" => self.transcribe().await,
            "synthesize" => self.synthesize(&event).await,
            "synthesize-start" => {
                self.text = Some(TextStream::new(&event));
                Ok(())
            }
            "synthesize-chunk" => self.more_text(&event).await,
            "synthesize-stop" => self.end_text().await,
            // Other programs use these events.
            _ => Ok(()),
        }
    }

    pub(super) async fn send(&mut self, event: &Event) -> Result<(), Failed> {
        self.writing.set(true);
        let writing = event.write(&mut self.stream);
        let written = tokio::time::timeout(WRITE_TIMEOUT, writing).await;
        self.writing.set(false);
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        Ok(written.map_err(late)??)
    }

    /// Sends an error and discards arriving input. A text that arrives in pieces still ends with `synthesize-stopped`.
    pub(super) async fn report(&mut self, error: VoiceError) -> Result<(), Failed> {
        self.recording = None;
        match &mut self.text {
            Some(text) => text.fail(),
            None => self.has_failed = true,
        }
        let problem = Problem::from(error);
        let data = json!({ "text": problem.message, "code": problem.code.name() });
        self.send(&Event::new("error", data)).await
    }

    /// Refuses everything while the vault is sealed, like the rest of the API.
    pub(super) fn require_open(&self) -> Result<(), VoiceError> {
        if self.voice.0.secrets.status() == Status::Sealed {
            return Err(VoiceError::Sealed);
        }
        Ok(())
    }
}

/// Why an event was not answered.
pub(super) enum Failed {
    /// The client has left or does not read.
    Gone(io::Error),
    Refused(VoiceError),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Gone(error)
    }
}

impl From<VoiceError> for Failed {
    fn from(error: VoiceError) -> Self {
        Self::Refused(error)
    }
}
