//! One client: its events are answered one after the other.

use super::event::Event;
use super::incoming::{Incoming, Patience};
use super::sample_format::SampleFormat;
use crate::listening::MICROPHONE_RATES;
use crate::{SpeechRequest, TranscribeRequest, Voice, VoiceError};
use bytes::Bytes;
use futures_util::StreamExt;
use gatehouse_audio::{Format, Sound, encode};
use gatehouse_domain::Problem;
use gatehouse_secrets::Status;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// How long a client may take to read an event.
const PATIENCE: Duration = Duration::from_mins(5);
/// The largest recording in bytes: two minutes at 16 kHz. All connections can hold one at a time.
const MAX_AUDIO_BYTES: usize = 4 << 20;
/// Bytes of an audio event: 200 ms of speech.
const CHUNK: usize = 9_600;

pub(super) struct Connection {
    incoming: Incoming<OwnedReadHalf>,
    answering: Answering,
}

/// The answering side of a connection.
struct Answering {
    voice: Voice,
    stream: OwnedWriteHalf,
    /// What `transcribe` asked for.
    wanted: TranscribeRequest,
    recording: Option<Recording>,
}

/// Audio that arrives.
struct Recording {
    format: SampleFormat,
    bytes: Vec<u8>,
}

impl Connection {
    pub(super) fn new(voice: Voice, stream: TcpStream) -> Self {
        let (reading, writing) = stream.into_split();
        Self {
            incoming: Incoming::new(reading, Patience::CLIENT),
            answering: Answering {
                voice,
                stream: writing,
                wanted: TranscribeRequest::new(Bytes::new()),
                recording: None,
            },
        }
    }

    /// Serves the client until it leaves, takes too long or sends something malformed. A call of a provider ends when
    /// the client closes its side of the connection.
    pub(super) async fn serve(self) {
        let Self {
            mut incoming,
            mut answering,
        } = self;
        while let Some(event) = incoming.next().await {
            let is_call = matches!(event.kind.as_str(), "audio-stop" | "synthesize");
            let answered = tokio::select! {
                biased;
                answered = answering.answer_or_refuse(event) => answered,
                () = incoming.end(), if is_call => return,
            };
            if answered.is_err() {
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
            Err(Failed::Refused(error)) => self.refuse(error).await,
        }
    }

    async fn answer(&mut self, event: Event) -> Result<(), Failed> {
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
            // Events for programs of other kinds.
            _ => Ok(()),
        }
    }

    async fn send(&mut self, event: &Event) -> Result<(), Failed> {
        let writing = event.write(&mut self.stream);
        let written = tokio::time::timeout(PATIENCE, writing).await;
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        Ok(written.map_err(late)??)
    }

    async fn refuse(&mut self, error: VoiceError) -> io::Result<()> {
        self.recording = None;
        let problem = Problem::from(error);
        let data = json!({ "text": problem.message, "code": problem.code.name() });
        match self.send(&Event::new("error", data)).await {
            Err(Failed::Gone(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Like the rest of the API, nothing is available while the vault is sealed.
    fn require_open(&self) -> Result<(), VoiceError> {
        if self.voice.0.secrets.status() == Status::Sealed {
            return Err(VoiceError::Sealed);
        }
        Ok(())
    }

    fn begin(&mut self, event: &Event) -> Result<(), Failed> {
        let Some(format) = SampleFormat::of(event) else {
            let reason = format!(
                "expected {} to {} samples per second of 2 bytes, mono or stereo",
                MICROPHONE_RATES.start(),
                MICROPHONE_RATES.end()
            );
            return Err(VoiceError::invalid("audio", reason).into());
        };
        self.recording = Some(Recording {
            format,
            bytes: Vec::new(),
        });
        Ok(())
    }

    fn add(&mut self, event: &Event) -> Result<(), Failed> {
        // The audio after a refusal is discarded.
        let Some(recording) = &mut self.recording else {
            return Ok(());
        };
        if recording.bytes.len() + event.payload.len() > MAX_AUDIO_BYTES {
            let max_bytes = MAX_AUDIO_BYTES as u64;
            return Err(VoiceError::TooLarge { max_bytes }.into());
        }
        recording.bytes.extend_from_slice(&event.payload);
        Ok(())
    }

    async fn transcribe(&mut self) -> Result<(), Failed> {
        let Some(recording) = self.recording.take() else {
            return Ok(());
        };
        self.require_open()?;
        let state = self.voice.state();
        let encoding = state.resources.cpu.run(move || recording.into_wav());
        let audio = encoding.await?;
        let request = TranscribeRequest {
            audio,
            timestamps: false,
            ..self.wanted.clone()
        };
        let transcript = self.voice.transcribe(request).await?;
        let data = json!({ "text": transcript.text.trim(), "language": transcript.language });
        self.send(&Event::new("transcript", data)).await
    }

    async fn synthesize(&mut self, event: &Event) -> Result<(), Failed> {
        self.require_open()?;
        let voice = event.data.get("voice");
        let of_voice = |name: &str| {
            let text = voice
                .and_then(|voice| voice.get(name))
                .and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let request = SpeechRequest {
            provider: of_voice("name"),
            voice: of_voice("speaker"),
            format: Some(Format::Pcm.as_str().to_owned()),
            ..SpeechRequest::new(event.text("text").unwrap_or_default())
        };
        let mut streamed = self.voice.stream(request).await?;
        let format = SampleFormat::mono(Format::PCM_RATE);
        self.send(&format.event("audio-start", Vec::new())).await?;
        let mut waiting = Vec::new();
        while let Some(bytes) = streamed.body.next().await.transpose()? {
            waiting.extend_from_slice(&bytes);
            while waiting.len() >= CHUNK {
                let rest = waiting.split_off(CHUNK);
                let payload = std::mem::replace(&mut waiting, rest);
                self.send(&format.event("audio-chunk", payload)).await?;
            }
        }
        if !waiting.is_empty() {
            self.send(&format.event("audio-chunk", waiting)).await?;
        }
        self.send(&Event::new("audio-stop", Value::Null)).await
    }
}

impl Recording {
    fn into_wav(self) -> Result<Bytes, VoiceError> {
        let samples = self.format.samples(&self.bytes);
        if samples.is_empty() {
            return Err(VoiceError::invalid("audio", "must not be empty"));
        }
        let sound = Sound {
            rate: self.format.rate,
            samples,
        };
        let cannot = |_| VoiceError::Internal("a recording could not be encoded");
        Ok(encode(&sound, Format::Wav).map_err(cannot)?.into())
    }
}

/// Why an event was not answered.
enum Failed {
    /// The client does not read.
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
