//! Tests of Wyoming programs as the servers of `tts_local_2` and `stt_local_1`, against a fake program that accepts
//! only what the protocol describes.

mod checks;
mod listens;
mod speaks;

use crate::harness::{Harness, problem, settings};
use crate::vendor::wyoming::Wyoming;
use gatehouse_domain::Problem;
use gatehouse_voice::{
    OfferedVoice, ProviderSettings, SttId, TtsId, Voice, VoiceError, VoiceSettings,
};
use std::time::Duration;

/// A `Voice` whose speaker and listener are the same program.
struct Bench {
    program: Wyoming,
    harness: Harness,
    settings: VoiceSettings,
}

impl Bench {
    async fn new() -> Self {
        let program = Wyoming::start().await;
        let provider = ProviderSettings {
            base_url: Some(program.url()),
            ..ProviderSettings::default()
        };
        let mut settings = settings();
        settings.timeouts.answer = Duration::from_secs(20);
        settings.timeouts.idle = Duration::from_secs(20);
        settings
            .tts
            .providers
            .insert(TtsId::Coqui, provider.clone());
        settings.stt.providers.insert(SttId::Voxtral, provider);
        Self {
            program,
            harness: Harness::new().await,
            settings,
        }
    }

    fn tts(&mut self) -> &mut ProviderSettings {
        self.settings.tts.providers.get_mut(&TtsId::Coqui).unwrap()
    }

    fn stt(&mut self) -> &mut ProviderSettings {
        let providers = &mut self.settings.stt.providers;
        providers.get_mut(&SttId::Voxtral).unwrap()
    }

    async fn voice(&self) -> Voice {
        self.harness.voice(self.settings.clone()).await
    }

    async fn voices(&self) -> Result<Vec<OfferedVoice>, VoiceError> {
        self.voice().await.voices(None).await
    }

    fn assert_no_complaints(&self) {
        assert_eq!(self.program.complaints(), Vec::<String>::new());
    }
}

/// Returns the message of an error that the provider's server caused.
fn failed(error: VoiceError) -> String {
    let Problem {
        code,
        message,
        details,
        ..
    } = problem(error);
    assert_eq!(code.name(), "PROVIDER_FAILED", "{message}");
    assert!(details.contains_key("provider"), "{message}");
    message
}
