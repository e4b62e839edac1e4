//! Events about speech: its providers and their state.

use crate::events::{EventBus, kinds};
use gatehouse_services::Services;
use gatehouse_voice::{SttStatus, TtsStatus};
use std::sync::Arc;

/// Reports the voice providers if they differ from the last report. Checks this after settings were applied, the vault
/// was opened or sealed, or a key was added or removed.
pub(super) async fn follow_voice(
    services: Arc<Services>,
    bus: EventBus,
) -> impl Future<Output = ()> {
    // The subscription begins here, not at the future's first poll.
    let mut applied = services.config.applied();
    let mut vault = services.secrets.subscribe_status();
    let mut keys = services.secrets.subscribe_provider_keys();
    let mut reported = voice_statuses(&services).await;
    async move {
        loop {
            let changed = tokio::select! {
                changed = applied.changed() => changed,
                changed = vault.changed() => changed,
                changed = keys.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
            let now = voice_statuses(&services).await;
            if now != reported {
                reported = now.clone();
                let params = kinds::VoiceSettingsParams {
                    tts: now.0,
                    stt: now.1,
                };
                bus.publish_kind(&kinds::VOICE_SETTINGS, &params);
            }
        }
    }
}

async fn voice_statuses(services: &Services) -> (TtsStatus, SttStatus) {
    (
        services.voice.tts_status().await,
        services.voice.stt_status().await,
    )
}
