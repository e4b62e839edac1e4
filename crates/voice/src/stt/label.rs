//! What audio is called when it goes out: a file name's ending and a media type.

use super::SttCall;
use gatehouse_audio::Kind;

/// The ending without its full stop, and the media type: what the bytes were recognised as, else what
/// the caller says that they are. Vendors know Opus as Ogg.
pub(super) fn label(call: &SttCall) -> (&'static str, &'static str) {
    let declared = || call.declared.as_deref().and_then(Kind::named);
    match call.kind.or_else(declared) {
        Some(Kind::OggOpus) => (Kind::Ogg.as_str(), Kind::Ogg.mime_type()),
        Some(kind) => (kind.as_str(), kind.mime_type()),
        None => ("bin", "application/octet-stream"),
    }
}
