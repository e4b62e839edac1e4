//! Where a listener is tried: a room, and the vendor or program that it asks.

use crate::harness::{Home, problem, stt_with};
use crate::stt_cloud::{self, Listener};
use crate::vendor::mood::Mood;
use crate::vendor::program::{Program, TRANSDUCER};
use gatehouse_domain::Problem;
use gatehouse_voice::{
    SttId, SttProviderSettings, TranscribeRequest, Transcript, Voice, VoiceError, VoiceSettings,
};
use serde_json::Value;
use std::time::Duration;

enum Vendor {
    Hosted(Listener),
    Here(Program),
}

/// A room with one listener.
pub struct Desk {
    pub id: SttId,
    pub voice: Voice,
    pub home: Home,
    vendor: Vendor,
}

pub const fn is_program(id: SttId) -> bool {
    matches!(id, SttId::WhisperCli | SttId::SherpaOnnx)
}

impl Desk {
    pub async fn new(id: SttId) -> Self {
        Self::open(id, |_| ()).await
    }

    /// One that loses patience soon; programs have time to be started on a busy machine.
    pub async fn hasty(id: SttId) -> Self {
        Self::open(id, |settings| {
            settings.patience.answer = Duration::from_millis(400);
            settings.patience.idle = Duration::from_millis(400);
            settings.patience.program = Duration::from_millis(1500);
        })
        .await
    }

    /// With settings besides address and key.
    pub async fn with(id: SttId, change: impl FnOnce(&mut SttProviderSettings)) -> Self {
        Self::open(id, |settings| {
            change(settings.stt.providers.get_mut(&id).unwrap());
        })
        .await
    }

    /// Where there are several models, with one that tells times.
    pub async fn with_times(id: SttId) -> Self {
        Self::with(id, |settings| {
            if id == SttId::SherpaOnnx {
                let model = settings.model_path.as_mut().unwrap();
                model.set_file_name(TRANSDUCER);
            }
        })
        .await
    }

    /// It waits longer than any test, unless that is changed.
    pub async fn open(id: SttId, change: impl FnOnce(&mut VoiceSettings)) -> Self {
        let vendor = match id {
            SttId::WhisperCli => Vendor::Here(Program::whisper_cli()),
            SttId::SherpaOnnx => Vendor::Here(Program::sherpa_onnx()),
            _ => Vendor::Hosted(stt_cloud::listener(id).await),
        };
        let place = match &vendor {
            Vendor::Hosted(listener) => stt_cloud::place(id, listener),
            Vendor::Here(program) => SttProviderSettings {
                binary_path: Some(program.binary()),
                model_path: Some(program.model()),
                ..SttProviderSettings::default()
            },
        };
        let mut settings = stt_with(id, place);
        settings.patience.answer = Duration::from_secs(30);
        settings.patience.idle = Duration::from_secs(30);
        change(&mut settings);
        let home = Home::new().await;
        Self {
            id,
            voice: home.voice(settings).await,
            home,
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

    pub fn set_mood(&self, mood: Mood) {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.set_mood(mood),
            Vendor::Here(program) => program.set_mood(&mood),
        }
    }

    /// What is answered from now on to whatever is not refused.
    pub fn answer_with(&self, said: Value) {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.answer_with(said),
            Vendor::Here(program) => program.answer_with(&said),
        }
    }

    /// How often the vendor was asked.
    pub fn calls(&self) -> usize {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.requests().len(),
            Vendor::Here(program) => program.runs().len(),
        }
    }

    /// Waits until the vendor was asked so often.
    pub async fn asked(&self, times: usize) {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.asked(times).await,
            Vendor::Here(program) => program.asked(times).await,
        }
    }

    /// Whether within a second the connection, or the program, was ended before the answer's end.
    pub async fn was_left(&self) -> bool {
        match &self.vendor {
            Vendor::Hosted(listener) => listener.server.was_left().await,
            Vendor::Here(program) => program.was_left().await,
        }
    }

    pub async fn hear(&self, request: TranscribeRequest) -> Result<Transcript, VoiceError> {
        self.voice.transcribe(request).await
    }

    /// What was heard, or why the vendor refused.
    pub async fn heard(&self, request: TranscribeRequest) -> Transcript {
        let heard = self.hear(request).await;
        let complaints = match &self.vendor {
            Vendor::Hosted(listener) => listener.server.complaints(),
            Vendor::Here(program) => program.complaints(),
        };
        assert!(complaints.is_empty(), "{}: {complaints:?}", self.id);
        heard.unwrap_or_else(|error| panic!("{}: {error}", self.id))
    }

    /// What a caller is told.
    pub async fn refused(&self, request: TranscribeRequest) -> Problem {
        match self.hear(request).await {
            Ok(heard) => panic!("{} heard {heard:?}", self.id),
            Err(error) => problem(error),
        }
    }

    /// The values of a field of the last request that brought audio, or of an option of the last run.
    pub async fn sent(&self, name: &str) -> Vec<String> {
        match &self.vendor {
            Vendor::Hosted(listener) => stt_cloud::sent(self.id, listener, name).await,
            Vendor::Here(program) => {
                let last = program.runs().pop().unwrap();
                last.option(name).map(str::to_owned).into_iter().collect()
            }
        }
    }

    /// The last request's body, or the file that the last run was given.
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
