//! Derives audio formats from media types and file names.

/// Returns a media type without its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Returns whether a client may send audio with this media type, including generic types.
pub(super) fn may_be_audio(media_type: &str) -> bool {
    media_type.is_empty()
        || media_type.starts_with("audio/")
        || format_of(media_type).is_some()
        || media_type == "application/octet-stream"
        // curl's `--data-binary` sends this content type by default.
        || media_type == "application/x-www-form-urlencoded"
}

/// Returns whether the type means raw samples in telephony and RTP (RFC 3551, section 4.5.11; RFC 3190). Such samples
/// are big-endian, and only the parameters contain the rate and the channels. Decoding them as our `pcm` would produce
/// noise.
pub(super) fn is_network_pcm(media_type: &str) -> bool {
    matches!(
        media_type,
        "audio/l8" | "audio/l16" | "audio/l20" | "audio/l24"
    )
}

/// Returns the format that a media type names (the IANA registry, and what browsers and older programs send).
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

/// Returns the format according to the file extension.
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
