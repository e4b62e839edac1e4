//! What media types and file names say of audio.

/// A media type without its parameters.
pub(super) fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// What programs send with audio, also those that do not know what they send.
pub(super) fn may_be_audio(media_type: &str) -> bool {
    media_type.is_empty()
        || media_type.starts_with("audio/")
        || format_of(media_type).is_some()
        || media_type == "application/octet-stream"
        // What curl's `--data-binary` says when nobody says anything.
        || media_type == "application/x-www-form-urlencoded"
}

/// Bare samples as telephones and RTP send them (RFC 3551, section 4.5.11; RFC 3190): big-endian, at a rate
/// and with channels that only the parameters tell. Our `pcm` is another thing, and noise would come out.
pub(super) fn is_network_pcm(media_type: &str) -> bool {
    matches!(
        media_type,
        "audio/l8" | "audio/l16" | "audio/l20" | "audio/l24"
    )
}

/// The format that a media type names (the IANA registry, and what browsers and older programs send).
pub(super) fn format_of(media_type: &str) -> Option<&'static str> {
    Some(match media_type {
        "audio/mpeg" | "audio/mp3" | "audio/x-mp3" | "audio/mpeg3" => "mp3",
        "audio/opus" => "opus",
        "audio/ogg" | "application/ogg" | "video/ogg" | "audio/vorbis" => "ogg",
        "audio/aac" | "audio/aacp" | "audio/x-aac" => "aac",
        "audio/pcm" => "pcm",
        "audio/wav" | "audio/wave" | "audio/x-wav" | "audio/vnd.wave" => "wav",
        "audio/webm" | "video/webm" => "webm",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" | "video/mp4" => "m4a",
        _ => return None,
    })
}

/// The format that a file's name ends with.
pub(super) fn format_of_file(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "mp3" | "mpga" | "mpeg" => "mp3",
        "opus" => "opus",
        "ogg" | "oga" => "ogg",
        "aac" => "aac",
        "pcm" => "pcm",
        "wav" => "wav",
        "webm" => "webm",
        "flac" => "flac",
        "m4a" | "mp4" => "m4a",
        _ => return None,
    })
}
