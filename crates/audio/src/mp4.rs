//! MPEG-4 files with AAC or Opus: `.m4a` and `.mp4`, whole or in fragments as browsers record them (ISO
//! 14496-12; ISO 14496-14 for AAC; "Encapsulation of Opus in ISO Base Media File Format" for Opus).

mod boxes;
mod entry;
mod samples;

use crate::AudioError;
use crate::adts::BLOCK;
use crate::opus_decode;
use crate::output::{Output, Trim};
use crate::read::{big, big32};
use crate::sample::{millis, scale};
use boxes::{child, children};
use entry::Codec;
use samples::File;

/// The first audio track.
struct Track<'a> {
    /// The track ID that fragments refer to.
    id: u32,
    codec: Codec,
    table: &'a [u8],
    edit: Option<Edit>,
}

/// The audible part of the track, in samples.
#[derive(Clone, Copy)]
struct Edit {
    skip: u64,
    /// The number of samples; 0 if it is unknown, as in fragments.
    samples: u64,
}

/// Duration in milliseconds.
pub(crate) fn duration_ms(bytes: &[u8]) -> Result<u64, AudioError> {
    let movie = movie(bytes)?;
    let track = Track::find(movie)?;
    let samples = track.length(bytes, movie)?;
    if samples == 0 {
        return Err(AudioError::Empty);
    }
    Ok(millis(samples, track.codec.rate()))
}

/// Decodes the file.
pub(crate) fn decode(bytes: &[u8], output: &mut Output<'_>) -> Result<(), AudioError> {
    let movie = movie(bytes)?;
    let track = Track::find(movie)?;
    let mut trim = Trim::new(track.skip(), track.length(bytes, movie)?);
    if trim.is_over() {
        return Ok(());
    }
    let mut decoder = output.made(track.codec.decoder()?)?;
    track.walk(bytes, movie, &mut |packet| {
        output.packet(&mut decoder, &mut trim, packet)
    })
}

fn movie(bytes: &[u8]) -> Result<&[u8], AudioError> {
    if bytes.get(4..8) != Some(b"ftyp") {
        return Err(AudioError::Unreadable);
    }
    child(bytes, *b"moov").ok_or(AudioError::Unreadable)
}

impl<'a> Track<'a> {
    fn find(movie: &'a [u8]) -> Result<Self, AudioError> {
        let scale = child(movie, *b"mvhd").and_then(time_scale);
        children(movie)
            .filter(|part| &part.name == b"trak")
            .find_map(|part| Self::read(part.content, scale.unwrap_or_default()))
            .ok_or(AudioError::Unreadable)
    }

    fn read(track: &'a [u8], movie_scale: u32) -> Option<Self> {
        let media = child(track, *b"mdia")?;
        let handler = child(media, *b"hdlr")?;
        if handler.get(8..12)? != b"soun" {
            return None;
        }
        let table = child(child(media, *b"minf")?, *b"stbl")?;
        let codec = Codec::read(child(table, *b"stsd")?)?;
        let head = child(track, *b"tkhd")?;
        let at = if head.first() == Some(&1) { 20 } else { 12 };
        let media_scale = child(media, *b"mdhd").and_then(time_scale)?;
        let edit = child(track, *b"edts")
            .and_then(|edits| child(edits, *b"elst"))
            .and_then(|list| Edit::read(list, movie_scale, media_scale, codec.rate()));
        Some(Self {
            id: big32(head, at)?,
            codec,
            table,
            edit,
        })
    }

    /// Samples to drop at the start.
    fn skip(&self) -> u64 {
        match (&self.codec, self.edit) {
            (_, Some(edit)) => edit.skip,
            (Codec::Opus(head), None) => head.pre_skip,
            (Codec::Aac { .. }, None) => 0,
        }
    }

    /// Returns the number of audible samples.
    fn length(&self, bytes: &[u8], movie: &[u8]) -> Result<u64, AudioError> {
        let mut samples = 0_u64;
        self.walk(bytes, movie, &mut |packet| {
            let count = match &self.codec {
                Codec::Opus(_) => opus_decode::samples(packet).unwrap_or_default(),
                Codec::Aac { .. } => BLOCK,
            };
            samples = samples.saturating_add(count);
            Ok(())
        })?;
        let there = samples.saturating_sub(self.skip());
        Ok(match self.edit {
            Some(edit) if edit.samples > 0 => there.min(edit.samples),
            _ => there,
        })
    }

    /// Reports each packet that is present, in order.
    fn walk(
        &self,
        bytes: &[u8],
        movie: &[u8],
        each: &mut dyn FnMut(&[u8]) -> Result<(), AudioError>,
    ) -> Result<(), AudioError> {
        let mut file = File::new(bytes);
        samples::in_table(&mut file, self.table, each)?;
        samples::in_fragments(&mut file, movie, self.id, each)
    }
}

impl Edit {
    /// Returns the first edit that is not a pause (ISO 14496-12, 8.6.6).
    fn read(list: &[u8], movie_scale: u32, media_scale: u32, rate: u32) -> Option<Self> {
        let long = list.first() == Some(&1);
        let width = if long { 8 } else { 4 };
        let pause = if long { u64::MAX } else { u64::from(u32::MAX) };
        let count = big32(list, 4)?;
        let entries = list.get(8..)?.chunks_exact(width * 2 + 4);
        let rate = u64::from(rate);
        entries
            .take(usize::try_from(count).ok()?)
            .filter_map(|entry| Some((big(entry, 0, width)?, big(entry, width, width)?)))
            .find(|(_, start)| *start != pause)
            .map(|(length, start)| Self {
                skip: scale(start, rate, u64::from(media_scale)),
                samples: scale(length, rate, u64::from(movie_scale)),
            })
    }
}

/// Ticks per second of a `mvhd` or `mdhd`.
fn time_scale(header: &[u8]) -> Option<u32> {
    let at = if header.first() == Some(&1) { 20 } else { 12 };
    big32(header, at)
}

#[cfg(test)]
mod tests;
