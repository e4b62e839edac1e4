//! The file name extension and media type under which audio is sent.

use super::SttCall;
use gatehouse_audio::Kind;

/// Returns the extension without its dot and the media type of the recognized kind, or else of the declared one. Opus
/// is labeled as Ogg, the name that vendors use.
pub(super) fn label(call: &SttCall) -> (&'static str, &'static str) {
    let declared = || call.declared.as_deref().and_then(Kind::named);
    match call.kind.or_else(declared) {
        Some(Kind::OggOpus) => (Kind::Ogg.as_str(), Kind::Ogg.mime_type()),
        Some(kind) => (kind.as_str(), kind.mime_type()),
        None => ("bin", "application/octet-stream"),
    }
}
