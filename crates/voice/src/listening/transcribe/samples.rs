//! Decodes recordings for recognizers that need samples.

use super::RECOGNISERS_RATE;
use crate::VoiceError;
use crate::cpu::CpuPermits;
use crate::stt::{SttCall, SttProvider};
use bytes::Bytes;
use gatehouse_audio::{AudioError, Format, Kind, decode, encode, to_pcm, to_wav};

/// The longest audio to decode. Real speech in a file below 25 MiB is shorter.
const MAX_DECODED_SECONDS: u32 = 2 * 60 * 60;

/// Returns the audio in a format that this provider accepts. Unrecognized audio is sent to a vendor with the declared
/// format. For a local program it is an error.
pub(super) async fn fitting(
    cpu: &CpuPermits,
    provider: &'static SttProvider,
    audio: &Bytes,
    kind: Option<Kind>,
) -> Result<(Bytes, Option<Kind>), VoiceError> {
    let (audio, kind) = match kind {
        None if !provider.about.is_hosted() => {
            return Err(VoiceError::invalid(
                "audio",
                "is not audio in a known format",
            ));
        }
        Some(kind) if !(provider.accepts)(kind) => {
            let audio = audio.clone();
            let made = cpu.run(move || {
                made_for(provider, &audio, kind).map_err(|error| unreadable(kind, &error))
            });
            let (made, kind) = made.await?;
            (made, Some(kind))
        }
        kind => (audio.clone(), kind),
    };
    if audio.len() > provider.max_bytes {
        let max_bytes = u64::try_from(provider.max_bytes).unwrap_or(u64::MAX);
        return Err(VoiceError::TooLarge { max_bytes });
    }
    Ok((audio, kind))
}

/// Converts to WAV, or to Opus if the WAV is too large and the provider accepts Opus.
fn made_for(provider: &SttProvider, audio: &[u8], kind: Kind) -> Result<(Bytes, Kind), AudioError> {
    let wav = to_wav(audio, kind, RECOGNISERS_RATE, MAX_DECODED_SECONDS)?;
    if wav.len() <= provider.max_bytes || !(provider.accepts)(Kind::OggOpus) {
        return Ok((wav.into(), Kind::Wav));
    }
    let sound = decode(&wav, Kind::Wav, MAX_DECODED_SECONDS)?;
    drop(wav);
    Ok((encode(&sound, Format::Opus)?.into(), Kind::OggOpus))
}

/// Returns the audio of a call as raw samples at [`RECOGNISERS_RATE`].
pub(crate) async fn samples(cpu: &CpuPermits, call: &SttCall) -> Result<Bytes, VoiceError> {
    let missing = VoiceError::Internal("a provider was called with unrecognized audio");
    let (audio, kind) = (call.audio.clone(), call.kind.ok_or(missing)?);
    cpu.run(move || {
        let pcm = to_pcm(&audio, kind, RECOGNISERS_RATE, MAX_DECODED_SECONDS);
        Ok(pcm.map_err(|error| unreadable(kind, &error))?.into())
    })
    .await
}

fn unreadable(kind: Kind, error: &AudioError) -> VoiceError {
    let reason = match error {
        AudioError::TooLong { max_seconds } => format!("lasts longer than {max_seconds} seconds"),
        AudioError::Empty => "contains no sound".to_owned(),
        _ => format!("cannot be read as {}", kind.as_str()),
    };
    VoiceError::invalid("audio", reason)
}
