//! Joins several sounds. Only the samples at the seams change.

use crate::resample::Resampler;
use crate::sample::{narrow, scale, wide};
use crate::{AudioError, Sound};

/// The largest step between two adjacent samples that is not audible as a click: a sixty-fourth of full
/// scale.
const STEP: i32 = 512;
/// Divisor of the sample rate that gives the length of a ramp: 5 ms.
const RAMP: u32 = 200;

/// Joins several sounds without gaps, at the sample rate of the first. If the level jumps between two sounds, the step
/// is spread over the first 5 ms of the second.
///
/// The first sound grows in place. Each further sound is freed after it is appended, so the peak memory is little more
/// than the result.
///
/// # Errors
/// [`AudioError::Empty`] if there are no parts; [`AudioError::Unreadable`] for a rate that cannot be resampled.
pub fn join(parts: Vec<Sound>) -> Result<Sound, AudioError> {
    let more: usize = parts
        .iter()
        .skip(1)
        .map(|part| expected(part, parts.first()))
        .fold(0, usize::saturating_add);
    let mut parts = parts.into_iter();
    let mut whole = parts.next().ok_or(AudioError::Empty)?;
    whole
        .samples
        .try_reserve(more)
        .map_err(|_| AudioError::Encoder)?;
    for part in parts {
        let seam = whole.samples.len();
        append(&mut whole, part)?;
        smooth(&mut whole, seam);
    }
    Ok(whole)
}

/// Number of samples that a part will have after resampling.
fn expected(part: &Sound, first: Option<&Sound>) -> usize {
    let to = first.map_or(part.rate, |first| first.rate);
    if to == part.rate {
        return part.samples.len();
    }
    let samples = wide(part.samples.len());
    narrow(scale(samples, u64::from(to), u64::from(part.rate)))
}

fn append(whole: &mut Sound, part: Sound) -> Result<(), AudioError> {
    if part.rate == whole.rate {
        whole.samples.extend(part.samples);
        return Ok(());
    }
    let mut resampler = Resampler::new(part.rate, whole.rate)?;
    let second = narrow(u64::from(part.rate.max(1)));
    for piece in part.samples.chunks(second) {
        whole.samples.extend(resampler.push(piece)?);
    }
    whole.samples.extend(resampler.finish()?);
    Ok(())
}

/// Spreads a step at `seam` over the samples that follow.
fn smooth(whole: &mut Sound, seam: usize) {
    let Some((before, after)) = whole.samples.split_at_mut_checked(seam) else {
        return;
    };
    let (Some(last), Some(first)) = (before.last(), after.first()) else {
        return;
    };
    let last = i32::from(*last);
    let earlier = before.iter().nth_back(1).map_or(last, |s| i32::from(*s));
    // The slope is extrapolated. Otherwise, a continuous wave would look like a step.
    let due = (last + (last - earlier)).clamp(i32::from(i16::MIN), i32::from(i16::MAX));
    let step = due - i32::from(*first);
    if step.abs() <= STEP {
        return;
    }
    let ramp = i32::try_from(whole.rate / RAMP).unwrap_or(i32::MAX).max(1);
    for (sample, left) in after.iter_mut().zip((1..=ramp).rev()) {
        let moved = i64::from(*sample) + i64::from(step) * i64::from(left) / i64::from(ramp);
        let bounded = moved.clamp(i64::from(i16::MIN), i64::from(i16::MAX));
        *sample = i16::try_from(bounded).unwrap_or(*sample);
    }
}

#[cfg(test)]
mod tests;
