//! Tests of the hosted speech-to-text providers against their fake vendors: requests and results.
//! `conformance_stt` contains the cases common to all providers.

mod hears;
mod long;
mod reaches;
mod streams;
mod translates;

pub use crate::conformance_stt::bench::Bench;
use crate::vendor::listener::KEY;
pub use crate::vendor::listener::Listener;
use crate::vendor::{deepgram, google_stt, openai_stt};
use bytes::Bytes;
use gatehouse_voice::{ProviderSettings, SttId, TranscribeRequest};
use secrecy::SecretString;

/// The hosted and self-hosted providers.
pub const ALL: [SttId; 6] = [
    SttId::OpenAi,
    SttId::Groq,
    SttId::Deepgram,
    SttId::Google,
    SttId::Mistral,
    SttId::Voxtral,
];

/// Returns the values of a field in the last request with audio, in the format of this vendor.
pub async fn sent(id: SttId, listener: &Listener, name: &str) -> Vec<String> {
    let seen = listener.server.requests();
    let last = seen.last().unwrap();
    match id {
        SttId::Deepgram => {
            let of_name = last.query.iter().filter(|(field, _)| field == name);
            of_name.map(|(_, value)| value.clone()).collect()
        }
        SttId::Google => match &last.json()["config"][name] {
            serde_json::Value::Null => Vec::new(),
            serde_json::Value::String(text) => vec![text.clone()],
            other => vec![other.to_string()],
        },
        _ => {
            let form = openai_stt::form(last).await.unwrap();
            form.all(name).into_iter().map(str::to_owned).collect()
        }
    }
}

/// Returns the address and the key of a fake vendor.
pub fn place(id: SttId, listener: &Listener) -> ProviderSettings {
    let base = match id {
        SttId::Groq => "/openai/v1",
        _ => "/v1",
    };
    ProviderSettings {
        base_url: Some(listener.server.url(base)),
        api_key: (id != SttId::Voxtral).then(|| SecretString::from(KEY)),
        ..ProviderSettings::default()
    }
}

/// Starts the provider's fake vendor.
pub async fn listener(id: SttId) -> Listener {
    match id {
        SttId::OpenAi => openai_stt::openai().await,
        SttId::Groq => openai_stt::groq().await,
        SttId::Deepgram => deepgram::deepgram().await,
        SttId::Google => google_stt::google().await,
        SttId::Mistral => openai_stt::mistral().await,
        SttId::Voxtral => openai_stt::vllm().await,
        SttId::WhisperCli | SttId::SherpaOnnx => panic!("{id} is a program"),
    }
}

/// Returns these samples as WAV (mono, 16,000 samples per second).
pub fn wav(samples: &[i16]) -> Bytes {
    let size = u32::try_from(samples.len() * 2).unwrap();
    let mut wav = b"RIFF".to_vec();
    wav.extend((size + 36).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(32_000_u32.to_le_bytes());
    wav.extend(b"\x02\0\x10\0data");
    wav.extend(size.to_le_bytes());
    wav.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    wav.into()
}

/// 1.5 seconds of arbitrary audio.
pub fn speech() -> TranscribeRequest {
    let samples: Vec<i16> = (0..24_000).map(|n: i16| n % 80 * 10 - 400).collect();
    TranscribeRequest {
        format: Some("wav".to_owned()),
        ..TranscribeRequest::new(wav(&samples))
    }
}
