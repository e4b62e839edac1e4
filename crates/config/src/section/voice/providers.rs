//! The voice providers as named in settings: by id, or by the vendor's name. The crate `voice` has
//! its own table, which this crate cannot import; a test in `rpc` compares the two.

use crate::suggest;
use crate::value::InvalidValue;

/// An id and the vendor's name, which is an alias of it.
pub type Named = (&'static str, &'static str);

/// The text-to-speech providers.
pub const TTS_PROVIDERS: &[Named] = &[
    ("tts_cloud_1", "elevenlabs"),
    ("tts_cloud_2", "openai"),
    ("tts_cloud_3", "google"),
    ("tts_local_1", "piper"),
    ("tts_local_2", "coqui"),
];

/// The speech-to-text providers.
pub const STT_PROVIDERS: &[Named] = &[
    ("stt_cloud_1", "whisper"),
    ("stt_cloud_2", "groq"),
    ("stt_cloud_3", "deepgram"),
    ("stt_cloud_4", "google"),
    ("stt_cloud_5", "mistral"),
    ("stt_local_1", "voxtral-local"),
    ("stt_local_2", "whisper-cli"),
    ("stt_local_3", "sherpa-onnx"),
];

/// The sections with a table for each provider.
pub(crate) const SECTIONS: [(&str, &[Named]); 2] =
    [("voice.tts", TTS_PROVIDERS), ("voice.stt", STT_PROVIDERS)];

/// Resolves an id or a vendor's name to the id.
pub(crate) fn id_of(providers: &[Named], name: &str) -> Result<&'static str, InvalidValue> {
    let found = providers
        .iter()
        .find(|(id, alias)| [*id, *alias].contains(&name));
    found.map(|(id, _)| *id).ok_or_else(|| {
        let names = providers.iter().flat_map(|(id, alias)| [*id, *alias]);
        let near = suggest::nearest(name, names).unwrap_or_default();
        let all: Vec<String> = providers
            .iter()
            .map(|(id, alias)| format!("{id} ({alias})"))
            .collect();
        InvalidValue::new(format!(
            "unknown provider; did you mean `{near}`? Expected one of {}",
            all.join(", ")
        ))
    })
}
