//! Where a provider is tried: a room, the vendor it calls, and what is known of both.

use super::said::Said;
use crate::harness::{Home, problem, settings};
use crate::vendor::coqui::Coqui;
use crate::vendor::elevenlabs::ElevenLabs;
use crate::vendor::google_tts::GoogleTts;
use crate::vendor::mood::{SECRET_BODY, Seen, Server};
use crate::vendor::openai_tts::OpenAiTts;
use gatehouse_domain::Problem;
use gatehouse_voice::{
    Converted, SpeechRequest, TtsId, TtsProviderSettings, Voice, VoiceError, VoiceSettings,
};
use secrecy::SecretString;
use std::time::Duration;
use url::Url;

/// What everybody says here.
pub const TEXT: &str = "Hello, world. How are you today?";

/// Cases that a provider cannot hold.
pub struct Lack {
    pub id: TtsId,
    pub why: &'static str,
    pub cases: &'static [&'static str],
}

/// What is lacking, and why.
pub const LACKS: &[Lack] = &[
    Lack {
        id: TtsId::ElevenLabs,
        why: "its request has no instructions: of a persona, voice and numbers arrive",
        cases: &[
            "instructions_arrive",
            "a_prompt_arrives_as_instructions",
            "without_a_binding_the_prompt_is_kept",
        ],
    },
    Lack {
        id: TtsId::ElevenLabs,
        why: "its request has no pitch, and the settings no language for it",
        cases: &["a_bindings_pitch_arrives", "the_settings_language_arrives"],
    },
    Lack {
        id: TtsId::OpenAi,
        why: "its request has no stability, similarity, pitch or language",
        cases: &[
            "stability_and_similarity_arrive",
            "the_settings_stability_and_similarity_arrive",
            "a_bindings_pitch_arrives",
            "the_settings_language_arrives",
        ],
    },
    Lack {
        id: TtsId::OpenAi,
        why: "it takes every speed that a request may have",
        cases: &["a_speed_beyond_the_vendors_is_moved_and_told"],
    },
    Lack {
        id: TtsId::Google,
        why: "a voice's name says the model, too",
        cases: &["the_requests_model_arrives", "the_settings_model_arrives"],
    },
    Lack {
        id: TtsId::Google,
        why: "its request has no stability, similarity or instructions",
        cases: &[
            "stability_and_similarity_arrive",
            "the_settings_stability_and_similarity_arrive",
            "instructions_arrive",
            "a_prompt_arrives_as_instructions",
            "without_a_binding_the_prompt_is_kept",
        ],
    },
    Lack {
        id: TtsId::Coqui,
        why: "its request has no speed, stability, similarity, pitch or instructions",
        cases: &[
            "the_requests_speed_arrives",
            "the_settings_speed_arrives",
            "a_speed_beyond_the_vendors_is_moved_and_told",
            "stability_and_similarity_arrive",
            "the_settings_stability_and_similarity_arrive",
            "a_bindings_numbers_arrive",
            "a_bindings_pitch_arrives",
            "instructions_arrive",
            "a_prompt_arrives_as_instructions",
            "without_a_binding_the_prompt_is_kept",
        ],
    },
    Lack {
        id: TtsId::Coqui,
        why: "the settings have no language for it",
        cases: &["the_settings_language_arrives"],
    },
    Lack {
        id: TtsId::Coqui,
        why: "it has no keys; its vendor refuses a request that has one",
        cases: &[
            "the_key_is_in_its_header_only",
            "a_wrong_key_is_told_without_it",
            "without_a_key_nobody_is_called",
            "a_key_that_no_header_may_have_is_told_without_it",
            "a_key_of_the_vault_arrives",
        ],
    },
];

/// What is known of a provider by its vendor's documents and the specification.
pub struct Facts {
    /// A voice that is not the usual one, and one more.
    pub voices: [&'static str; 2],
    /// What is asked for when nothing is set.
    pub usual_voice: Option<&'static str>,
    pub usual_model: Option<&'static str>,
    /// A model that is not the usual one.
    pub model: &'static str,
    /// Characters, which are bytes here, of one request.
    pub most: usize,
    /// A format that it makes itself.
    pub native: &'static str,
    /// A speed within its range.
    pub speed: f64,
    /// The least and the greatest.
    pub speeds: [f64; 2],
    /// Members of a request that it does not follow.
    pub ignores: &'static [&'static str],
}

enum Vendor {
    ElevenLabs(ElevenLabs),
    OpenAi(OpenAiTts),
    Google(GoogleTts),
    Coqui(Coqui),
}

/// A room and a vendor.
pub struct Bench {
    pub id: TtsId,
    pub home: Home,
    pub settings: VoiceSettings,
    vendor: Vendor,
}

impl Bench {
    pub async fn new(id: TtsId) -> Self {
        let (vendor, base_url, key) = match id {
            TtsId::ElevenLabs => {
                let vendor = ElevenLabs::start().await;
                let url = vendor.base_url();
                (Vendor::ElevenLabs(vendor), url, Some(ElevenLabs::KEY))
            }
            TtsId::OpenAi => {
                let vendor = OpenAiTts::start().await;
                let url = vendor.base_url();
                (Vendor::OpenAi(vendor), url, Some(OpenAiTts::KEY))
            }
            TtsId::Google => {
                let vendor = GoogleTts::start().await;
                let url = vendor.base_url();
                (Vendor::Google(vendor), url, Some(GoogleTts::KEY))
            }
            TtsId::Coqui => {
                let vendor = Coqui::start().await;
                let url = vendor.base_url();
                (Vendor::Coqui(vendor), url, None)
            }
            TtsId::Piper => panic!("a program: tests/it/local.rs"),
        };
        let provider = TtsProviderSettings {
            base_url: Some(base_url),
            api_key: key.map(SecretString::from),
            ..TtsProviderSettings::default()
        };
        let mut settings = settings();
        settings.patience.answer = Duration::from_secs(20);
        settings.patience.idle = Duration::from_secs(20);
        settings.tts.providers.insert(id, provider);
        settings.tts.max_text_length = 20_000;
        Self {
            id,
            home: Home::new().await,
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
        }
    }

    pub fn key(&self) -> &'static str {
        match self.vendor {
            Vendor::ElevenLabs(_) => ElevenLabs::KEY,
            Vendor::OpenAi(_) => OpenAiTts::KEY,
            Vendor::Google(_) => GoogleTts::KEY,
            Vendor::Coqui(_) => panic!("no keys"),
        }
    }

    /// The name of the header that the key is in.
    pub fn key_header(&self) -> &'static str {
        match self.vendor {
            Vendor::ElevenLabs(_) => "xi-api-key",
            Vendor::OpenAi(_) => "authorization",
            Vendor::Google(_) => "x-goog-api-key",
            Vendor::Coqui(_) => panic!("no keys"),
        }
    }

    pub fn facts(&self) -> Facts {
        match self.vendor {
            Vendor::ElevenLabs(_) => Facts {
                voices: [ElevenLabs::VOICE, ElevenLabs::OTHER_VOICE],
                usual_voice: Some("JBFqnCBsd6RMkjVDRZzb"),
                usual_model: Some("eleven_multilingual_v2"),
                model: "eleven_flash_v2_5",
                most: 5000,
                native: "mp3",
                speed: 1.1,
                speeds: [0.7, 1.2],
                ignores: &["instructions"],
            },
            Vendor::OpenAi(_) => Facts {
                voices: ["nova", "shimmer"],
                usual_voice: Some("alloy"),
                usual_model: Some("gpt-4o-mini-tts"),
                model: "tts-1-hd",
                most: 4096,
                native: "mp3",
                speed: 1.5,
                speeds: [0.25, 4.0],
                ignores: &["stability", "similarityBoost"],
            },
            Vendor::Google(_) => Facts {
                voices: [GoogleTts::VOICE, GoogleTts::GERMAN_VOICE],
                usual_voice: None,
                usual_model: None,
                model: "-",
                most: 5000,
                native: "mp3",
                speed: 1.5,
                speeds: [0.25, 2.0],
                ignores: &["model", "stability", "similarityBoost", "instructions"],
            },
            Vendor::Coqui(_) => Facts {
                voices: [Coqui::SPEAKER, Coqui::OTHER_SPEAKER],
                usual_voice: None,
                usual_model: None,
                model: "tts_models/en/vctk/vits",
                most: 1000,
                native: "wav",
                speed: 1.0,
                speeds: [1.0, 1.0],
                ignores: &["speed", "stability", "similarityBoost", "instructions"],
            },
        }
    }

    /// The provider's own settings, to be changed before the room is opened.
    pub fn provider(&mut self) -> &mut TtsProviderSettings {
        self.settings.tts.providers.get_mut(&self.id).unwrap()
    }

    pub async fn voice(&self) -> Voice {
        self.home.voice(self.settings.clone()).await
    }

    pub async fn say(&self, request: SpeechRequest) -> Result<Converted, VoiceError> {
        self.voice().await.convert(request).await
    }

    /// Says it, and shows the one request that the vendor got. Fails with what the vendor complains of.
    pub async fn heard(&self, request: SpeechRequest) -> (Converted, Said) {
        let result = self.say(request).await;
        assert_eq!(self.server().complaints(), Vec::<String>::new());
        let converted = result.unwrap();
        assert_eq!(converted.provider, self.id);
        let requests = self.server().requests();
        assert_eq!(requests.len(), 1, "requests");
        (converted, self.said(&requests[0]))
    }

    pub fn said(&self, seen: &Seen) -> Said {
        match self.vendor {
            Vendor::ElevenLabs(_) => Said::to_elevenlabs(seen),
            Vendor::OpenAi(_) => Said::to_openai(seen),
            Vendor::Google(_) => Said::to_google(seen),
            Vendor::Coqui(_) => Said::to_coqui(seen),
        }
    }

    /// All that the vendor was told, in order.
    pub fn all_said(&self) -> Vec<Said> {
        let requests = self.server().requests();
        requests.iter().map(|seen| self.said(seen)).collect()
    }

    /// What the caller is told of this error, which must have nothing in it of the vendor's answer, the
    /// key or the text.
    pub fn told(&self, error: VoiceError) -> Problem {
        let shown = format!("{error} {error:?}");
        let problem = problem(error);
        let details = serde_json::Value::Object(problem.details.clone());
        let key = match self.vendor {
            Vendor::Coqui(_) => "no key",
            _ => self.key(),
        };
        for secret in [SECRET_BODY, key, TEXT] {
            for told in [&shown, &problem.message, &details.to_string()] {
                assert!(!told.contains(secret), "{told}");
            }
        }
        problem
    }

    /// Nobody was called.
    pub fn is_untouched(&self) -> bool {
        self.server().requests().is_empty()
    }

    /// An address where nobody is.
    pub async fn nowhere() -> Url {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        Url::parse(&format!("http://{address}/v1")).unwrap()
    }
}
