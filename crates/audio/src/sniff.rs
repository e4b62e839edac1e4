//! Recognizes the kind of audio from its first bytes.

use crate::frames::{begins, id3_length};
use crate::{Kind, adts, mp3};

/// Returns the kind of `bytes`, or `None` if they are not recognized as audio. The head of a file is enough. Never
/// returns [`Kind::Pcm`], which has no signature.
pub fn sniff(bytes: &[u8]) -> Option<Kind> {
    let mut rest = bytes;
    let mut tagged = false;
    loop {
        let tag = id3_length(rest);
        if tag == 0 {
            break;
        }
        tagged = true;
        rest = rest.get(tag..).unwrap_or_default();
        // Encoders pad the tag with zeros.
        let filled = rest.iter().take_while(|byte| **byte == 0).count();
        rest = rest.get(filled..).unwrap_or_default();
    }
    if tagged && rest.len() < 4 {
        // The tag continues past these bytes. Nearly all files with such a tag are MP3.
        return Some(Kind::Mp3);
    }
    marked(rest)
}

fn marked(bytes: &[u8]) -> Option<Kind> {
    let word: &[u8; 4] = bytes.first_chunk()?;
    match word {
        // RIFF WAVE and its 64-bit form (EBU Tech 3306; ITU-R BS.2088).
        b"RIFF" | b"RF64" | b"BW64" => (bytes.get(8..12)? == b"WAVE").then_some(Kind::Wav),
        // EBML (RFC 8794, 11.2.1).
        [0x1A, 0x45, 0xDF, 0xA3] => Some(Kind::Webm),
        b"OggS" => Some(ogg(bytes)),
        b"fLaC" => Some(Kind::Flac),
        _ if bytes.get(4..8) == Some(b"ftyp") => Some(Kind::M4a),
        _ if begins::<adts::Header>(bytes) => Some(Kind::Aac),
        _ if begins::<mp3::Header>(bytes) => Some(Kind::Mp3),
        _ => None,
    }
}

/// Returns the kind of an Ogg file. The first packet determines the kind. It follows the header of the first page (RFC
/// 3533, 6; RFC 7845, 5.1).
fn ogg(bytes: &[u8]) -> Kind {
    let segments = bytes.get(26).copied().map_or(0, usize::from);
    let packet = bytes.get(27 + segments..).unwrap_or_default();
    if packet.starts_with(b"OpusHead") {
        Kind::OggOpus
    } else {
        Kind::Ogg
    }
}
