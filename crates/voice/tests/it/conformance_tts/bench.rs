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
use std::ops::Deref;
use std::time::Duration;
use url::Url;

/// The text of most cases.
pub const TEXT: &str = "Hello, world. How are you today?";

enum Vendor {
    Http(HttpVendor),
    Program(Program),
}

/// A fake vendor that is called over HTTP.
struct HttpVendor {
    server: Box<dyn Deref<Target = Server> + Send + Sync>,
    base_url: Url,
    /// The key, and the name of the header that contains it.
    key: Option<(&'static str, &'static str)>,
    read: fn(&ReceivedRequest) -> SentRequest,
}

impl Vendor {
    async fn start(id: TtsId) -> Self {
        match id {
            TtsId::ElevenLabs => {
                let vendor = ElevenLabs::start().await;
                let (url, key) = (vendor.base_url(), Some((ElevenLabs::KEY, "xi-api-key")));
                Self::http(vendor, url, key, SentRequest::to_elevenlabs)
            }
            TtsId::OpenAi => {
                let vendor = OpenAiTts::start().await;
                let (url, key) = (vendor.base_url(), Some((OpenAiTts::KEY, "authorization")));
                Self::http(vendor, url, key, SentRequest::to_openai)
            }
            TtsId::Google => {
                let vendor = GoogleTts::start().await;
                let (url, key) = (vendor.base_url(), Some((GoogleTts::KEY, "x-goog-api-key")));
                Self::http(vendor, url, key, SentRequest::to_google)
            }
            TtsId::Coqui => {
                let vendor = Coqui::start().await;
                let url = vendor.base_url();
                Self::http(vendor, url, None, SentRequest::to_coqui)
            }
            TtsId::Piper => Self::Program(Program::piper()),
        }
    }

    fn http(
        vendor: impl Deref<Target = Server> + Send + Sync + 'static,
        base_url: Url,
        key: Option<(&'static str, &'static str)>,
        read: fn(&ReceivedRequest) -> SentRequest,
    ) -> Self {
        Self::Http(HttpVendor {
            server: Box::new(vendor),
            base_url,
            key,
            read,
        })
    }
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
        let vendor = Vendor::start(id).await;
        let mut provider = ProviderSettings::default();
        match &vendor {
            Vendor::Http(http) => {
                provider.base_url = Some(http.base_url.clone());
                provider.api_key = http.key.map(|(key, _)| SecretString::from(key));
            }
            Vendor::Program(program) => {
                provider.binary_path = Some(program.binary());
                provider.model_path = Some(program.model());
            }
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

    fn http(&self) -> &HttpVendor {
        match &self.vendor {
            Vendor::Http(vendor) => vendor,
            Vendor::Program(_) => panic!("a program"),
        }
    }

    pub fn server(&self) -> &Server {
        &self.http().server
    }

    pub fn program(&self) -> &Program {
        match &self.vendor {
            Vendor::Program(program) => program,
            Vendor::Http(_) => panic!("no program"),
        }
    }

    pub fn is_program(&self) -> bool {
        matches!(self.vendor, Vendor::Program(_))
    }

    pub fn set_behavior(&self, behavior: Behavior) {
        match &self.vendor {
            Vendor::Program(program) => program.set_behavior(&behavior),
            Vendor::Http(vendor) => vendor.server.set_behavior(behavior),
        }
    }

    /// Returns the number of calls to the vendor.
    pub fn calls(&self) -> usize {
        match &self.vendor {
            Vendor::Program(program) => program.runs().len(),
            Vendor::Http(vendor) => vendor.server.requests().len(),
        }
    }

    /// Returns the reasons for the vendor's rejections.
    pub fn complaints(&self) -> Vec<String> {
        match &self.vendor {
            Vendor::Program(program) => program.complaints(),
            Vendor::Http(vendor) => vendor.server.complaints(),
        }
    }

    /// Waits for this number of calls to the vendor.
    pub async fn asked(&self, times: usize) {
        match &self.vendor {
            Vendor::Program(program) => program.asked(times).await,
            Vendor::Http(vendor) => vendor.server.asked(times).await,
        }
    }

    /// Returns whether the connection or the program was ended within a second, before the response was complete.
    pub async fn was_left(&self) -> bool {
        match &self.vendor {
            Vendor::Program(program) => program.was_left().await,
            Vendor::Http(vendor) => vendor.server.was_left().await,
        }
    }

    pub fn key(&self) -> &'static str {
        self.http().key.unwrap().0
    }

    /// Returns the name of the header that contains the key.
    pub fn key_header(&self) -> &'static str {
        self.http().key.unwrap().1
    }

    pub fn facts(&self) -> Facts {
        facts(self.id)
    }

    /// Returns the provider's settings, to be changed before the `Voice` is opened.
    pub fn provider(&mut self) -> &mut ProviderSettings {
        self.settings.tts.providers.get_mut(&self.id).unwrap()
    }

    pub async fn voice(&self) -> Voice {
        self.harness.voice(self.settings.clone()).await
    }

    pub async fn say(&self, request: SpeechRequest) -> Result<Converted, VoiceError> {
        self.voice().await.convert(request).await
    }

    /// Synthesizes a request and returns the single request that the vendor received. Panics if the vendor has
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

    /// Returns all requests that the vendor received, in order.
    pub fn all_sent(&self) -> Vec<SentRequest> {
        match &self.vendor {
            Vendor::Program(program) => program.runs().iter().map(SentRequest::to_piper).collect(),
            Vendor::Http(vendor) => vendor.server.requests().iter().map(vendor.read).collect(),
        }
    }

    /// Returns the error reported to the caller. Asserts that it contains nothing of the vendor's response, the key or
    /// the text.
    pub fn problem_of(&self, error: VoiceError) -> Problem {
        let shown = format!("{error} {error:?}");
        let problem = problem(error);
        let details = serde_json::Value::Object(problem.details.clone());
        let key = match &self.vendor {
            Vendor::Http(vendor) => vendor.key.map_or("no key", |(key, _)| key),
            Vendor::Program(_) => "no key",
        };
        for secret in [SECRET_BODY, key, TEXT] {
            for answered_with in [&shown, &problem.message, &details.to_string()] {
                assert!(!answered_with.contains(secret), "{answered_with}");
            }
        }
        problem
    }

    /// Returns whether the vendor was not called.
    pub fn is_untouched(&self) -> bool {
        self.calls() == 0
    }

    /// Returns an address without a server.
    pub async fn nowhere() -> Url {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        Url::parse(&format!("http://{address}/v1")).unwrap()
    }
}
