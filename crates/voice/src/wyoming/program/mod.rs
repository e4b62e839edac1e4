//! Calls of Wyoming programs, such as wyoming-piper and wyoming-faster-whisper. Each call has its own connection, which
//! is closed when the call is dropped.
//!
//! A program is not a provider of its own, because stored settings, personas and clients refer to the fixed IDs of
//! providers. A Wyoming program is another kind of server behind the two providers for the owner's own servers,
//! `tts_local_2` and `stt_local_1`. Their `endpoint` is then `tcp://host:port`, as in the programs' own option `--uri`.
//!
//! Sources: <https://github.com/OHF-Voice/wyoming> and the handlers of wyoming-piper 2.5.2, wyoming-faster-whisper
//! 3.8.1 and wyoming-whisper-cpp:
//! - Programs for transcription close the connection after the transcript. They may send the transcript before the
//!   audio ends if they detect the end of speech themselves.
//! - A program that transcribes in pieces sends `transcript-start`, `transcript-chunk`, `transcript` and
//!   `transcript-stop`. The client does not ask beforehand whether a program does this.
//! - The streaming of text to be spoken (`synthesize-start`) is not used, because the text of a call is complete.
//! - wyoming-piper closes the connection after an `error`, and sends the audio sentence by sentence.
//! - Without `name`, and without `voice`, the program uses the voice or model that it was started with.

mod check;
mod connect;
mod info;
mod listen;
mod speak;

pub(crate) use check::check;
pub(crate) use info::voices;
pub(crate) use listen::{listen, transcribe_stream};
pub(crate) use speak::speak;

use url::Url;

/// Returns whether the address belongs to a Wyoming program.
pub(crate) fn is_at(address: &Url) -> bool {
    address.scheme() == "tcp"
}

/// Returns a voice, and the speaker that follows it after `#`.
fn voice_and_speaker(voice: &str) -> (&str, Option<&str>) {
    match voice.rsplit_once('#') {
        Some((voice, speaker)) => (voice, Some(speaker)),
        None => (voice, None),
    }
}
