//! The test bench of a text-to-speech provider: a `Voice`, the fake vendor that it calls, and facts about
//! both.

use super::facts::{Facts, facts};
use super::sent_request::SentRequest;
use crate::harness::{Harness, problem, settings};
use crate::vendor::coqui::Coqui;
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::fake_server::{Behavior, ReceivedRequest, SECRET_BODY, Server};
use crate::vendor::google_tts::GoogleTts;
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::program::Program;
use gatehouse_domain::Problem;
use gatehouse_voice::{
    Converted, ProviderSettings, SpeechRequest, TtsId, Voice, VoiceError, VoiceSettings,
};
use secrecy::SecretString;
use std::time::Duration;
use url::Url;

/// The text of most cases.
pub const TEXT: &str = "Hello, world. How are you today?";

enum Vendor {
    ElevenLabs(ElevenLabs),
    OpenAi(OpenAiTts),
    Google(GoogleTts),
    Coqui(Coqui),
    Piper(Program),
}

/// A `Voice` and a vendor.
pub struct Bench {
    pub id: TtsId,
    pub harness: Harness,
    pub settings: VoiceSettings,
    vendor: Vendor,
}

impl Bench {
    pub async fn new(id: TtsId) -> Self {
        let (vendor, base_url, key) = match id {
            TtsId::ElevenLabs => {
                let vendor = ElevenLabs::start().await;
                let url = Some(vendor.base_url());
                (Vendor::ElevenLabs(vendor), url, Some(ElevenLabs::KEY))
            }
            TtsId::OpenAi => {
                let vendor = OpenAiTts::start().await;
                let url = Some(vendor.base_url());
                (Vendor::OpenAi(vendor), url, Some(OpenAiTts::KEY))
            }
            TtsId::Google => {
                let vendor = GoogleTts::start().await;
                let url = Some(vendor.base_url());
                (Vendor::Google(vendor), url, Some(GoogleTts::KEY))
            }
            TtsId::Coqui => {
                let vendor = Coqui::start().await;
                let url = Some(vendor.base_url());
                (Vendor::Coqui(vendor), url, None)
            }
            TtsId::Piper => (Vendor::Piper(Program::piper()), None, None),
        };
        let mut provider = ProviderSettings {
            base_url,
            api_key: key.map(SecretString::from),
            ..ProviderSettings::default()
        };
        if let Vendor::Piper(program) = &vendor {
            provider.binary_path = Some(program.binary());
            provider.model_path = Some(program.model());
        }
        let mut settings = settings();
        settings.timeouts.answer = Duration::from_secs(20);
        settings.timeouts.idle = Duration::from_secs(20);
        settings.tts.providers.insert(id, provider);
        settings.speaking.max_text_length = 20_000;
        Self {
            id,
            harness: Harness::new().await,
            settings,
            vendor,
        }
    }

    pub fn server(&self) -> &Server {
        match &self.vendor {
            Vendor::ElevenLabs(vendor) => vendor,
            Vendor::OpenAi(vendor) => vendor,
            Vendor::Google(vendor) => vendor,
            Vendor::Coqui(vendor) => vendor,
            Vendor::Piper(_) => panic!("a program"),
        }
    }

    pub fn program(&self) -> &Program {
        match &self.vendor {
            Vendor::Piper(program) => program,
            _ => panic!("no program"),
        }
    }

    pub fn is_program(&self) -> bool {
        matches!(self.vendor, Vendor::Piper(_))
    }

    pub fn set_behavior(&self, behavior: Behavior) {
        match &self.vendor {
            Vendor::Piper(program) => program.set_behavior(&behavior),
            _ => self.server().set_behavior(behavior),
        }
    }

    /// The number of calls to the vendor.
    pub fn calls(&self) -> usize {
        match &self.vendor {
            Vendor::Piper(program) => program.runs().len(),
            _ => self.server().requests().len(),
        }
    }

    /// The reasons for the vendor's rejections.
    pub fn complaints(&self) -> Vec<String> {
        match &self.vendor {
            Vendor::Piper(program) => program.complaints(),
            _ => self.server().complaints(),
        }
    }

    /// Waits for this number of calls to the vendor.
    pub async fn asked(&self, times: usize) {
        match &self.vendor {
            Vendor::Piper(program) => program.asked(times).await,
            _ => self.server().asked(times).await,
        }
    }

    /// Whether the connection or the program was ended within a second, before the response was complete.
    pub async fn was_left(&self) -> bool {
        match &self.vendor {
            Vendor::Piper(program) => program.was_left().await,
            _ => self.server().was_left().await,
        }
    }

    pub fn key(&self) -> &'static str {
        match self.vendor {
            Vendor::ElevenLabs(_) => ElevenLabs::KEY,
            Vendor::OpenAi(_) => OpenAiTts::KEY,
            Vendor::Google(_) => GoogleTts::KEY,
            Vendor::Coqui(_) | Vendor::Piper(_) => panic!("no keys"),
        }
    }

    /// The name of the header that contains the key.
    pub fn key_header(&self) -> &'static str {
        match self.vendor {
            Vendor::ElevenLabs(_) => "xi-api-key",
            Vendor::OpenAi(_) => "authorization",
            Vendor::Google(_) => "x-goog-api-key",
            Vendor::Coqui(_) | Vendor::Piper(_) => panic!("no keys"),
        }
    }

    pub fn facts(&self) -> Facts {
        facts(self.id)
    }

    /// The provider's settings, to be changed before the `Voice` is opened.
    pub fn provider(&mut self) -> &mut ProviderSettings {
        self.settings.tts.providers.get_mut(&self.id).unwrap()
    }

    pub async fn voice(&self) -> Voice {
        self.harness.voice(self.settings.clone()).await
    }

    pub async fn say(&self, request: SpeechRequest) -> Result<Converted, VoiceError> {
        self.voice().await.convert(request).await
    }

    /// Synthesizes, and returns the single request that the vendor received. Panics if the vendor has
    /// complaints.
    pub async fn heard(&self, request: SpeechRequest) -> (Converted, SentRequest) {
        let result = self.say(request).await;
        assert_eq!(self.complaints(), Vec::<String>::new());
        let converted = result.unwrap();
        assert_eq!(converted.provider, self.id);
        let mut all = self.all_sent();
        assert_eq!(all.len(), 1, "requests");
        (converted, all.pop().unwrap())
    }

    fn sent(&self, seen: &ReceivedRequest) -> SentRequest {
        match self.vendor {
            Vendor::ElevenLabs(_) => SentRequest::to_elevenlabs(seen),
            Vendor::OpenAi(_) => SentRequest::to_openai(seen),
            Vendor::Google(_) => SentRequest::to_google(seen),
            Vendor::Coqui(_) => SentRequest::to_coqui(seen),
            Vendor::Piper(_) => panic!("a program"),
        }
    }

    /// All requests that the vendor received, in order.
    pub fn all_sent(&self) -> Vec<SentRequest> {
        if let Vendor::Piper(program) = &self.vendor {
            return program.runs().iter().map(SentRequest::to_piper).collect();
        }
        let requests = self.server().requests();
        requests.iter().map(|seen| self.sent(seen)).collect()
    }

    /// The error reported to the caller. Asserts that it contains nothing of the vendor's response, the key
    /// or the text.
    pub fn problem_of(&self, error: VoiceError) -> Problem {
        let shown = format!("{error} {error:?}");
        let problem = problem(error);
        let details = serde_json::Value::Object(problem.details.clone());
        let key = match self.vendor {
            Vendor::Coqui(_) | Vendor::Piper(_) => "no key",
            _ => self.key(),
        };
        for secret in [SECRET_BODY, key, TEXT] {
            for answered_with in [&shown, &problem.message, &details.to_string()] {
                assert!(!answered_with.contains(secret), "{answered_with}");
            }
        }
        problem
    }

    /// Whether the vendor was not called.
    pub fn is_untouched(&self) -> bool {
        self.calls() == 0
    }

    /// An address without a server.
    pub async fn nowhere() -> Url {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        Url::parse(&format!("http://{address}/v1")).unwrap()
    }
}
