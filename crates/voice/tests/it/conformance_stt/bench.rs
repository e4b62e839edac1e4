//! The test bench of a speech-to-text provider: a `Voice`, and the fake vendor or program that it calls.

use crate::harness::{Harness, problem, stt_with};
use crate::stt_cloud::{self, Listener};
use crate::vendor::fake_server::Behavior;
use crate::vendor::program::{Program, TRANSDUCER};
use gatehouse_domain::Problem;
use gatehouse_voice::{
    ProviderSettings, SttId, TranscribeRequest, Transcript, Voice, VoiceError, VoiceSettings,
};
use serde_json::Value;
use std::time::Duration;

enum Vendor {
    Hosted(Listener),
    Here(Program),
}

/// A `Voice` with one speech-to-text provider.
pub struct Bench {
    pub id: SttId,
    pub voice: Voice,
    pub harness: Harness,
    vendor: Vendor,
}

pub const fn is_program(id: SttId) -> bool {
    matches!(id, SttId::WhisperCli | SttId::SherpaOnnx)
}

impl Bench {
    pub async fn new(id: SttId) -> Self {
        Self::open(id, |_| ()).await
    }

    /// Returns a bench with short timeouts. Programs have enough time to start on a busy machine.
    pub async fn hasty(id: SttId) -> Self {
        Self::open(id, |settings| {
            settings.timeouts.answer = Duration::from_millis(400);
            settings.timeouts.idle = Duration::from_millis(400);
            settings.timeouts.program = Duration::from_millis(1500);
        })
        .await
    }

    /// Returns a bench with provider settings besides address and key.
    pub async fn with(id: SttId, change: impl FnOnce(&mut ProviderSettings)) -> Self {
        Self::open(id, |settings| {
            change(settings.stt.providers.get_mut(&id).unwrap());
        })
        .await
    }

    /// Opens a bench. If there are several models, selects one that reports timestamps.
    pub async fn with_times(id: SttId) -> Self {
        Self::with(id, |settings| {
            if id == SttId::SherpaOnnx {
                let model = settings.model_path.as_mut().unwrap();
                model.set_file_name(TRANSDUCER);
            }
        })
        .await
    }

    /// Returns a bench with timeouts longer than any test, unless `change` shortens them.
    pub async fn open(id: SttId, change: impl FnOnce(&mut VoiceSettings)) -> Self {
        let vendor = match id {
            SttId::WhisperCli => Vendor::Here(Program::whisper_cli()),
            SttId::SherpaOnnx => Vendor::Here(Program::sherpa_onnx()),
            _ => Vendor::Hosted(stt_cloud::listener(id).await),
        };
        let place = match &vendor {
            Vendor::Hosted(listener) => stt_cloud::place(id, listener),
            Vendor::Here(program) => ProviderSettings {
                binary_path: Some(program.binary()),
                model_path: Some(program.model()),
                ..ProviderSettings::default()
            },
        };
        let mut settings = stt_with(id, place);
        settings.timeouts.answer = Duration::from_secs(30);
        settings.timeouts.idle = Duration::from_secs(30);
        change(&mut settings);
        let harness = Harness::new().await;
        Self {
            id,
            voice: harness.voice(settings).await,
            harness,
            vendor,
        }
    }

    pub fn listener(&self) -> &Listener {
        match &self.vendor {
            Vendor::Hosted(listener) => listener,
            Vendor::Here(_) => panic!("a program"),
        }
    }

    pub fn program(&self) -> &Program {
        match &self.vendor {
            Vendor::Here(program) => program,
            Vendor::Hosted(_) => panic!("no program"),
        }
    }

    pub fn set_behavior(&self, behavior: Behavior) {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.set_behavior(behavior),
            Vendor::Here(program) => program.set_behavior(&behavior),
        }
    }

    /// Sets the response to all requests that are not rejected.
    pub fn answer_with(&self, sent: Value) {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.answer_with(sent),
            Vendor::Here(program) => program.answer_with(&sent),
        }
    }

    /// Returns the number of calls to the vendor.
    pub fn calls(&self) -> usize {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.requests().len(),
            Vendor::Here(program) => program.runs().len(),
        }
    }

    /// Waits for this number of calls to the vendor.
    pub async fn asked(&self, times: usize) {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.asked(times).await,
            Vendor::Here(program) => program.asked(times).await,
        }
    }

    /// Returns whether the connection or the program was ended within a second, before the response was complete.
    pub async fn was_left(&self) -> bool {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.was_left().await,
            Vendor::Here(program) => program.was_left().await,
        }
    }

    pub async fn hear(&self, request: TranscribeRequest) -> Result<Transcript, VoiceError> {
        self.voice.transcribe(request).await
    }

    /// Transcribes, and asserts that the fake vendor accepted the request.
    pub async fn heard(&self, request: TranscribeRequest) -> Transcript {
        let heard = self.hear(request).await;
        let complaints = match &self.vendor {
            Vendor::Hosted(listener) => listener.server.complaints(),
            Vendor::Here(program) => program.complaints(),
        };
        assert!(complaints.is_empty(), "{}: {complaints:?}", self.id);
        heard.unwrap_or_else(|error| panic!("{}: {error}", self.id))
    }

    /// Returns the error reported to the caller.
    pub async fn refused(&self, request: TranscribeRequest) -> Problem {
        match self.hear(request).await {
            Ok(heard) => panic!("{} heard {heard:?}", self.id),
            Err(error) => problem(error),
        }
    }

    /// Returns the values of a field in the last request with audio, or of an option in the last
    /// run.
    pub async fn sent(&self, name: &str) -> Vec<String> {
        match &self.vendor {
            Vendor::Hosted(listener) => stt_cloud::sent(self.id, listener, name).await,
            Vendor::Here(program) => {
                let last = program.runs().pop().unwrap();
                last.option(name).map(str::to_owned).into_iter().collect()
            }
        }
    }

    /// Returns the body of the last request, or the input file of the last run.
    pub fn last_body(&self) -> Vec<u8> {
        match &self.vendor {
            Vendor::Hosted(listener) => {
                let last = listener.server.requests().pop().unwrap();
                last.body.to_vec()
            }
            Vendor::Here(program) => program.runs().pop().unwrap().audio,
        }
    }
}
