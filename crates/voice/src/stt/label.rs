//! What audio is called when it goes out: a file name's ending and a media type.

use super::SttCall;
use gatehouse_audio::Kind;

/// The ending without its full stop, and the media type: what the bytes were recognised as, else what
/// the caller says that they are. Vendors know Opus as Ogg.
pub(super) fn label(call: &SttCall) -> (&'static str, &'static str) {
    if let Some(kind) = call.kind {
        let ending = match kind {
            Kind::OggOpus => Kind::Ogg.as_str(),
            kind => kind.as_str(),
        };
        return (ending, kind.mime_type());
    }
    match call.declared.as_deref().unwrap_or_default() {
        "mp3" => ("mp3", "audio/mpeg"),
        "opus" | "ogg" => ("ogg", "audio/ogg"),
        "aac" => ("aac", "audio/aac"),
        "pcm" => ("pcm", "audio/pcm"),
        "wav" => ("wav", "audio/wav"),
        "webm" => ("webm", "audio/webm"),
        "flac" => ("flac", "audio/flac"),
        "m4a" => ("m4a", "audio/mp4"),
        _ => ("bin", "application/octet-stream"),
    }
}
