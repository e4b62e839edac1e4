//! Opens a `Voice` over its own database.

use gatehouse_domain::trace::Tracer;
use gatehouse_domain::{Actor, Clock, ManualClock, Problem, Random, SystemRandom, Timestamp};
use gatehouse_outbound::{Outbound, OutboundSettings};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings};
use gatehouse_store::testing::{TestDatabase, sqlite};
use gatehouse_voice::{
    ProviderSettings, SectionSettings, SttId, Timeouts, TtsId, Voice, VoiceError, VoiceParts,
    VoiceSettings,
};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// 2026-11-20.
pub const START: Timestamp = Timestamp::from_millis(1_795_132_800_000);

/// The dependencies of a `Voice`.
pub struct Harness {
    pub secrets: Secrets,
    pub clock: Arc<ManualClock>,
    pub database: TestDatabase,
}

impl Harness {
    /// Opens a harness without a vault.
    pub async fn new() -> Self {
        Self::with_vault(false).await
    }

    pub async fn with_vault(vault_enabled: bool) -> Self {
        let database = sqlite();
        let clock = Arc::new(ManualClock::at(START));
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let settings = SecretsSettings {
            vault_enabled,
            vault_enabled_fixed: false,
            plaintext_while_sealed: true,
            keep_plaintext_provider_keys: true,
            data_dir: database.directory().to_owned(),
        };
        let store = database.open().await;
        let as_clock: Arc<dyn Clock> = clock.clone();
        let kdf = KdfQueue::new(2);
        let secrets = Secrets::open(store, kdf, as_clock, random, settings);
        Self {
            secrets: secrets.await.unwrap(),
            clock,
            database,
        }
    }

    pub async fn voice(&self, settings: VoiceSettings) -> Voice {
        self.traced_voice(settings, Tracer::default()).await
    }

    pub async fn traced_voice(&self, settings: VoiceSettings, tracer: Tracer) -> Voice {
        let parts = VoiceParts {
            store: self.database.open().await,
            secrets: self.secrets.clone(),
            outbound: Outbound::new(OutboundSettings::default()).unwrap(),
            clock: self.clock.clone(),
            random: Arc::new(SystemRandom),
            tracer,
            data_dir: self.database.directory().to_owned(),
        };
        Voice::open(parts, settings)
    }

    pub async fn store_key(&self, id: &str, key: &str, base_url: &str) {
        let key = SecretString::from(key);
        let actor = Actor::cli();
        let kind = if id.starts_with("tts_") {
            "tts"
        } else if id.starts_with("stt_") {
            "stt"
        } else {
            "openai"
        };
        let stored = self
            .secrets
            .set_provider_key(&actor, id, key, (kind, base_url));
        stored.await.unwrap();
    }
}

/// Settings with short timeouts and this process's `PATH`.
#[expect(clippy::disallowed_methods, reason = "the tests' own environment")]
pub fn settings() -> VoiceSettings {
    let path = std::env::var_os("PATH").unwrap_or_default();
    VoiceSettings {
        local_concurrency: 2,
        cache_max_bytes: 0,
        audio_max_bytes: 64 << 20,
        child_variables: vec![("PATH".to_owned(), path)],
        timeouts: Timeouts {
            answer: Duration::from_secs(2),
            idle: Duration::from_secs(2),
            program: Duration::from_mins(1),
            // Tests of retries set this themselves.
            retries_total: Duration::ZERO,
            retry_base: Duration::ZERO,
        },
        ..VoiceSettings::default()
    }
}

/// Settings for one text-to-speech provider with this key and address.
pub fn tts_at(id: TtsId, base_url: &str, key: &str) -> VoiceSettings {
    tts_with(
        id,
        ProviderSettings {
            base_url: Some(Url::parse(base_url).unwrap()),
            api_key: Some(SecretString::from(key)),
            ..ProviderSettings::default()
        },
    )
}

/// Settings for one text-to-speech provider.
pub fn tts_with(id: TtsId, provider: ProviderSettings) -> VoiceSettings {
    VoiceSettings {
        tts: SectionSettings {
            providers: BTreeMap::from([(id, provider)]),
            ..SectionSettings::default()
        },
        ..settings()
    }
}

/// Settings for one speech-to-text provider with this key and address.
pub fn stt_at(id: SttId, base_url: &str, key: &str) -> VoiceSettings {
    stt_with(
        id,
        ProviderSettings {
            base_url: Some(Url::parse(base_url).unwrap()),
            api_key: Some(SecretString::from(key)),
            ..ProviderSettings::default()
        },
    )
}

/// Settings for one speech-to-text provider.
pub fn stt_with(id: SttId, provider: ProviderSettings) -> VoiceSettings {
    VoiceSettings {
        stt: SectionSettings {
            providers: BTreeMap::from([(id, provider)]),
            ..SectionSettings::default()
        },
        ..settings()
    }
}

/// Returns the error reported to a caller.
pub fn problem(error: VoiceError) -> Problem {
    error.into()
}
