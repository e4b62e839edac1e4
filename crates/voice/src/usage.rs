//! Usage metrics and spans: requests, characters and seconds per provider. They never contain texts.

use crate::VoiceError;
use crate::last_use::{LastUses, Setup};
use crate::resources::Resources;
use crate::{SttId, TtsId};
use gatehouse_domain::trace::{self, ActiveSpan, SpanKind};
use std::time::Instant;

/// A provider call that is being measured.
pub(crate) struct Counting {
    kind: &'static str,
    provider: &'static str,
    began: Instant,
    span: ActiveSpan,
    last_uses: LastUses,
    setup: Setup,
    is_test: bool,
    is_unsaved_key: bool,
}

/// Starts measuring a call for speech. Its span ends with the audio.
pub(crate) fn begin_speech(id: TtsId, resources: &Resources, setup: Setup) -> Counting {
    begin(("tts", id.as_str()), "speech.synthesize", resources, setup)
}

/// Starts measuring a call for a transcript. Its span ends with the text.
pub(crate) fn begin_transcript(id: SttId, resources: &Resources, setup: Setup) -> Counting {
    begin(("stt", id.as_str()), "speech.transcribe", resources, setup)
}

fn begin(
    (kind, provider): (&'static str, &'static str),
    span: &'static str,
    resources: &Resources,
    setup: Setup,
) -> Counting {
    let mut span = trace::child(span, SpanKind::Client);
    span.set("gatehouse.speech.provider", provider);
    Counting {
        kind,
        provider,
        began: Instant::now(),
        span,
        last_uses: resources.last_uses.clone(),
        setup,
        is_test: resources.is_test,
        is_unsaved_key: resources.unsaved_key.is_some(),
    }
}

impl Counting {
    /// Records the result and returns it unchanged.
    pub(crate) fn of<T>(mut self, ended: Result<T, VoiceError>) -> Result<T, VoiceError> {
        let provider = (self.kind, self.provider);
        // The failure of an unsaved key must not replace the outcome of the stored key.
        if ended.is_ok() || !self.is_unsaved_key {
            self.last_uses
                .record(provider, self.setup, self.is_test, &ended);
        }
        let outcome = match &ended {
            Ok(_) => "ok",
            Err(error) => error.code().name(),
        };
        let labels = [("kind", self.kind), ("provider", self.provider)];
        let seconds = self.began.elapsed().as_secs_f64();
        metrics::histogram!("voice_request_duration_seconds", &labels).record(seconds);
        let [kind, provider] = labels;
        let labels = [kind, provider, ("outcome", outcome)];
        metrics::counter!("voice_requests_total", &labels).increment(1);
        if let Err(error) = &ended {
            self.span.fail(outcome);
            tracing::info!(kind = self.kind, provider = self.provider, %error, "a voice request failed");
        }
        ended
    }
}

/// Records the length of a text sent to a provider.
pub(crate) fn characters(id: TtsId, count: usize) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    metrics::counter!("voice_characters_total", "provider" => id.as_str()).increment(count);
}

/// Records the duration of synthesized audio.
pub(crate) fn spoken_for(id: TtsId, duration_ms: u64) {
    seconds("spoken", id.as_str(), duration_ms);
}

/// Records the duration of transcribed audio.
pub(crate) fn recognized(id: SttId, duration_ms: u64) {
    seconds("heard", id.as_str(), duration_ms);
}

/// The sum of the histogram is the usage in seconds.
#[expect(clippy::cast_precision_loss, reason = "a duration in a histogram")]
fn seconds(direction: &'static str, provider: &'static str, duration_ms: u64) {
    let labels = [("direction", direction), ("provider", provider)];
    metrics::histogram!("voice_audio_seconds", &labels).record(duration_ms as f64 / 1000.0);
}
