//! Audio streams in Ogg: identifies the codec and extracts the packets.

use super::Page;
use super::page::Pages;
use crate::decoder::Decoder;
use crate::opus_decode::Head;
use crate::read::{big, little32};
use crate::{AudioError, sample::narrow};

/// The maximum number of bytes of a packet. Pictures in comments are packets too.
const MAX_PACKET: usize = 32 * 1024 * 1024;

/// The decoder's parameters, which come before the first packet.
#[derive(Clone, Debug)]
pub(super) enum Setup {
    Opus(Head),
    Vorbis {
        identification: Vec<u8>,
        setup: Vec<u8>,
        rate: u32,
    },
    Flac {
        stream_info: Vec<u8>,
        rate: u32,
    },
}

impl Setup {
    pub(super) fn decoder(&self) -> Result<Decoder, AudioError> {
        match self {
            Self::Opus(head) => Decoder::opus(head),
            Self::Vorbis {
                identification,
                setup,
                ..
            } => Decoder::vorbis(identification, setup),
            Self::Flac { stream_info, .. } => Decoder::flac(stream_info),
        }
    }
}

/// An event of `walk`.
pub(super) enum Event<'a> {
    /// All headers of a stream were read.
    Start(&'a Setup),
    /// A packet with audio.
    Packet(&'a [u8]),
    /// The end of a page with its granule position.
    Page(u64),
}

/// A stream, during or after its headers.
struct Stream {
    serial: u32,
    state: State,
    /// The expected number of the next page.
    next: u32,
    /// The incomplete packet, or `None` if its start was lost.
    partial: Option<Vec<u8>>,
}

enum State {
    OpusTags(Head),
    /// The first Vorbis header. The second one is skipped.
    VorbisComment(Vec<u8>),
    VorbisSetup(Vec<u8>),
    /// The FLAC STREAMINFO and the number of headers that follow, if declared.
    FlacHeaders(Vec<u8>, Option<u64>),
    Sound,
}

impl State {
    /// Returns the state after the first packet of a stream.
    fn begin(packet: &[u8]) -> Option<Self> {
        if let Some(head) = Head::read(packet) {
            return Some(Self::OpusTags(head));
        }
        if packet.starts_with(b"\x01vorbis") {
            return Some(Self::VorbisComment(packet.to_vec()));
        }
        if packet.starts_with(b"\x7FFLAC") && packet.get(9..13)? == b"fLaC" {
            let count = big(packet, 7, 2).filter(|count| *count > 0);
            return Some(Self::FlacHeaders(packet.get(17..51)?.to_vec(), count));
        }
        None
    }
}

impl Stream {
    /// Handles the next packet.
    fn packet(
        &mut self,
        packet: &[u8],
        each: &mut dyn FnMut(Event<'_>) -> Result<(), AudioError>,
    ) -> Result<(), AudioError> {
        match &mut self.state {
            State::Sound => return each(Event::Packet(packet)),
            State::OpusTags(head) => {
                let head = head.clone();
                self.state = State::Sound;
                each(Event::Start(&Setup::Opus(head)))?;
                // A stream without the second header is invalid, but its audio is usable.
                if !packet.starts_with(b"OpusTags") {
                    return each(Event::Packet(packet));
                }
            }
            State::VorbisComment(first) => {
                if packet.starts_with(b"\x03vorbis") {
                    self.state = State::VorbisSetup(std::mem::take(first));
                }
            }
            State::VorbisSetup(first) => {
                if packet.starts_with(b"\x05vorbis") {
                    let setup = Setup::Vorbis {
                        rate: little32(first, 12).unwrap_or_default(),
                        identification: std::mem::take(first),
                        setup: packet.to_vec(),
                    };
                    self.state = State::Sound;
                    each(Event::Start(&setup))?;
                }
            }
            State::FlacHeaders(info, left) => {
                let is_frame = packet.first() == Some(&0xFF);
                if !is_frame {
                    *left = left.map(|left| left.saturating_sub(1));
                }
                if is_frame || *left == Some(0) {
                    let setup = Setup::Flac {
                        rate: u32::try_from(big(info, 10, 3).unwrap_or_default() >> 4)
                            .unwrap_or_default(),
                        stream_info: std::mem::take(info),
                    };
                    self.state = State::Sound;
                    each(Event::Start(&setup))?;
                    if is_frame {
                        return each(Event::Packet(packet));
                    }
                }
            }
        }
        Ok(())
    }

    /// Handles the next page.
    fn page(
        &mut self,
        page: &Page<'_>,
        each: &mut dyn FnMut(Event<'_>) -> Result<(), AudioError>,
    ) -> Result<(), AudioError> {
        let begun = self.partial.take().filter(|_| page.number == self.next);
        self.next = page.number.wrapping_add(1);
        let mut partial = if page.continues {
            begun
        } else {
            Some(Vec::new())
        };
        let was_sound = matches!(self.state, State::Sound);
        let mut rest = page.body;
        for length in page.lengths {
            let Some((segment, next)) = rest.split_at_checked(usize::from(*length)) else {
                // The file is truncated here.
                partial = None;
                break;
            };
            rest = next;
            if let Some(packet) = &mut partial
                && packet.len() < MAX_PACKET
            {
                packet.extend_from_slice(segment);
            }
            if *length < 255
                && let Some(packet) = partial.replace(Vec::new())
                && !packet.is_empty()
            {
                self.packet(&packet, each)?;
            }
        }
        let ends_whole = page.lengths.last().is_some_and(|length| *length < 255);
        self.partial = if ends_whole { None } else { partial };
        if was_sound && let Some(position) = page.position {
            each(Event::Page(position))?;
        }
        Ok(())
    }
}

/// Reports the audio streams one after another. Skips streams that are multiplexed with the first.
pub(super) fn walk(
    bytes: &[u8],
    each: &mut dyn FnMut(Event<'_>) -> Result<(), AudioError>,
) -> Result<(), AudioError> {
    let mut current: Option<Stream> = None;
    for page in Pages::new(bytes) {
        if page.first {
            let length: usize = narrow_sum(page.lengths);
            let state = State::begin(page.body.get(..length).unwrap_or(page.body));
            let free = current
                .as_ref()
                .is_none_or(|stream| matches!(stream.state, State::Sound));
            if let Some(state) = state.filter(|_| free) {
                current = Some(Stream {
                    serial: page.serial,
                    state,
                    next: page.number.wrapping_add(1),
                    partial: None,
                });
            }
            continue;
        }
        if let Some(stream) = &mut current
            && stream.serial == page.serial
        {
            stream.page(&page, each)?;
        }
    }
    Ok(())
}

/// Bytes of the first packet of a page.
fn narrow_sum(lengths: &[u8]) -> usize {
    let mut sum = 0_u64;
    for length in lengths {
        sum = sum.saturating_add(u64::from(*length));
        if *length < 255 {
            break;
        }
    }
    narrow(sum)
}
