//! Detects audio in a different container than requested. Some servers ignore the requested format.

use super::observed::Body;
use crate::TtsId;
use crate::VoiceError;
use crate::cpu::CpuPermits;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream;
use gatehouse_audio::{AudioError, Kind, Sound, decode, sniff};

/// Enough bytes to recognize a container.
const HEAD_BYTES: usize = 64;
/// The longest sound that is decoded, in seconds. Texts are much shorter.
const MAX_SECONDS: u32 = 4 * 3600;

/// Returns the type of the audio if it is clearly not the wanted one. Audio of an unknown type is accepted.
pub(super) fn other_kind(bytes: &[u8], wanted: Kind) -> Option<Kind> {
    let found = sniff(bytes)?;
    let is_wanted = match wanted {
        // Raw samples may contain the start of a frame by chance, but not the signature of a container.
        Kind::Pcm { .. } => matches!(found, Kind::Mp3 | Kind::Aac) && !bytes.starts_with(b"ID3"),
        wanted => found == wanted,
    };
    (!is_wanted).then_some(found)
}

/// Checks like [`other_kind`], for the first bytes of audio.
pub(super) fn other_kind_of_head(head: &[u8], wanted: Kind) -> Option<Kind> {
    // If an ID3 tag is longer than the head, the data after it is unknown. It is usually MP3.
    if matches!(wanted, Kind::Aac | Kind::Flac) && head.starts_with(b"ID3") {
        return None;
    }
    other_kind(head, wanted)
}

/// Reads the first bytes, and returns them together with the whole body.
pub(super) async fn peek(body: Body) -> Result<(Bytes, Body), VoiceError> {
    // The end of a body that is shorter than the head is reached here, and again by the reader of the returned body.
    let mut body = body.fuse();
    let mut head = BytesMut::new();
    while head.len() < HEAD_BYTES
        && let Some(piece) = body.next().await
    {
        head.extend_from_slice(&piece?);
    }
    let head = head.freeze();
    let first = (!head.is_empty()).then(|| Ok(head.clone()));
    Ok((head, stream::iter(first).chain(body).boxed()))
}

/// Reads a body to its end.
pub(super) async fn read(mut body: Body) -> Result<Bytes, VoiceError> {
    let mut audio = BytesMut::new();
    while let Some(piece) = body.next().await {
        audio.extend_from_slice(&piece?);
    }
    Ok(audio.freeze())
}

/// Decodes audio of a recognized kind.
pub(super) async fn decoded(
    cpu: &CpuPermits,
    id: TtsId,
    audio: Bytes,
    kind: Kind,
) -> Result<Sound, VoiceError> {
    let work = move || decode(&audio, kind, MAX_SECONDS).map_err(|error| broken(id, &error));
    cpu.run(work).await
}

/// Returns the error for audio of a provider that cannot be decoded or encoded.
pub(super) fn broken(id: TtsId, error: &AudioError) -> VoiceError {
    match error {
        AudioError::Empty => VoiceError::failed(id.as_str(), "returned no audio", true),
        AudioError::Unreadable | AudioError::TooLong { .. } => {
            VoiceError::failed(id.as_str(), "returned something other than audio", false)
        }
        AudioError::NoEncoder(_) => VoiceError::not_configured(
            "mp3",
            "This build cannot encode MP3. Request another format, such as opus.",
        ),
        AudioError::Encoder => VoiceError::Internal("the audio could not be encoded"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_audio::{Format, encode};

    #[test]
    fn another_container_is_recognized_and_samples_are_not_taken_for_one() {
        let sound = Sound {
            rate: 24_000,
            samples: (0..24_000).map(|n| (n % 200) * 100 - 10_000).collect(),
        };
        let formats = [Format::Mp3, Format::Opus, Format::Wav, Format::Flac];
        for given in formats {
            let audio = encode(&sound, given).unwrap();
            for wanted in formats {
                let expected = (given != wanted).then(|| given.kind());
                assert_eq!(other_kind(&audio, wanted.kind()), expected);
            }
            let expected = (given != Format::Mp3).then(|| given.kind());
            assert_eq!(other_kind(&audio, Format::Pcm.kind()), expected);
        }
        let samples = encode(&sound, Format::Pcm).unwrap();
        for wanted in formats {
            assert_eq!(other_kind(&samples, wanted.kind()), None);
        }
    }

    #[tokio::test]
    async fn a_body_can_be_shorter_than_the_head() {
        for length in [0, 1, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 1] {
            let audio = Bytes::from(vec![7_u8; length]);
            // Panics if it is polled after its end.
            let body = stream::unfold(Some(audio.clone()), |audio| async move {
                audio.map(|audio| (Ok(audio), None))
            });
            let (head, body) = peek(body.boxed()).await.unwrap();
            assert_eq!(head, audio);
            assert_eq!(read(body).await.unwrap(), audio);
        }
    }

    #[test]
    fn what_follows_a_long_tag_may_be_what_was_asked_for() {
        // ID3v2.4 of 1,024 bytes.
        let head = [b"ID3\x04\0\0\0\0\x08\0".as_slice(), &[0x20; 54]].concat();
        assert_eq!(sniff(&head), Some(Kind::Mp3));
        for wanted in [Kind::Aac, Kind::Flac, Kind::Mp3] {
            assert_eq!(other_kind_of_head(&head, wanted), None);
        }
        assert_eq!(other_kind_of_head(&head, Kind::Wav), Some(Kind::Mp3));
    }
}
