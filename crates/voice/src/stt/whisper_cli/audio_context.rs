//! Computes which part of its window whisper.cpp encodes for a recording: `audio_ctx` in its examples.
//!
//! By default, the encoder processes 30 seconds even for a short recording. If the context fits the recording too
//! tightly, the decoder repeats words or loses the last one (<https://github.com/ggml-org/whisper.cpp/issues/1855>,
//! issue 1951). The context therefore has a margin and a minimum.
//!
//! Encoders of Core ML and `OpenVINO` are compiled for the whole window and return wrong results with a smaller context
//! (issue 2405). whisper.cpp loads them from files next to the model, depending on its build options.

use crate::stt::SttCall;
use std::path::{Path, PathBuf};

/// Bytes of the 16 kHz WAV per position of the encoder: 20 ms.
const BYTES_A_POSITION: usize = 640;
/// The positions of the window of 30 seconds.
const WINDOW: usize = 1500;
/// Positions after the end of the recording: 2.56 seconds.
const MARGIN: usize = 128;
/// The smallest context: 10.24 seconds. In a trial with a context of 7.68 seconds, "tiny.en" transcribed twice as many
/// words wrongly.
const LEAST: usize = 512;
/// Contexts are multiples of this number of positions.
const STEP: usize = 64;

/// Returns the number of positions to encode for the recording of a call; 0 is the whole window.
pub(super) async fn fitting(call: &SttCall, model: &Path) -> usize {
    let is_on = call.settings.fit_audio_context.unwrap_or(true);
    if is_on && !has_compiled_encoder(model).await {
        positions(call.audio.len())
    } else {
        0
    }
}

/// Returns the positions for a 16 kHz WAV, whose header counts as sound.
fn positions(wav_bytes: usize) -> usize {
    let needed = wav_bytes.div_ceil(BYTES_A_POSITION) + MARGIN;
    let positions = needed.max(LEAST).next_multiple_of(STEP);
    if positions < WINDOW { positions } else { 0 }
}

/// Returns whether this is the context for recordings of at most 7.68 seconds.
pub(super) const fn is_least(positions: usize) -> bool {
    positions == LEAST
}

/// Returns whether there is an encoder of Core ML or `OpenVINO` for the model. The names are those
/// of `whisper_get_coreml_path_encoder` and `whisper_openvino_get_path_encoder`.
async fn has_compiled_encoder(model: &Path) -> bool {
    for path in compiled_encoders(model) {
        if tokio::fs::try_exists(&path).await.unwrap_or(true) {
            return true;
        }
    }
    false
}

fn compiled_encoders(model: &Path) -> [PathBuf; 2] {
    let stem = model.file_stem().unwrap_or_default();
    let name: &str = &stem.to_string_lossy();
    // For Core ML, the name does not include a quantization such as `-q5_0`.
    let (before, after) = name.rsplit_once('-').unwrap_or((name, ""));
    let is_quantized = after.len() == 4 && after.starts_with('q') && after.get(2..3) == Some("_");
    let plain = if is_quantized { before } else { name };
    let names = [
        format!("{name}-encoder-openvino.xml"),
        format!("{plain}-encoder.mlmodelc"),
    ];
    names.map(|name| model.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the size of a recording with its header.
    fn wav(samples: usize) -> usize {
        44 + 2 * samples
    }

    #[test]
    fn a_recording_has_its_length_and_a_margin_between_the_minimum_and_the_window() {
        let second = 16_000;
        for (samples, expected) in [
            (0, 512),
            (2 * second, 512),
            // 384 positions and the margin.
            (384 * 320 - 22, 512),
            (384 * 320 - 21, 576),
            (10 * second, 640),
            // The last multiple below the window.
            (1344 * 320 - 22, 1472),
            (1344 * 320 - 21, 0),
            (30 * second, 0),
            (31 * second, 0),
            (3600 * second, 0),
        ] {
            let positions = positions(wav(samples));
            assert_eq!(positions, expected, "{samples} samples");
            assert_eq!(is_least(positions), expected == 512, "{samples} samples");
        }
    }

    #[test]
    fn each_context_covers_its_recording_and_the_margin() {
        for samples in (0..30 * 16_000).step_by(37) {
            let positions = positions(wav(samples));
            assert!(positions == 0 || positions * 320 >= samples + MARGIN * 320);
            assert!(positions < WINDOW && positions.is_multiple_of(STEP));
        }
    }

    #[test]
    fn compiled_encoders_are_named_after_the_model() {
        for (model, openvino, core_ml) in [
            ("ggml-base.en.bin", "ggml-base.en", "ggml-base.en"),
            ("ggml-base-q5_1.bin", "ggml-base-q5_1", "ggml-base"),
            (
                "ggml-large-v3-turbo.bin",
                "ggml-large-v3-turbo",
                "ggml-large-v3-turbo",
            ),
            ("model", "model", "model"),
        ] {
            let expected = [
                format!("/m/{openvino}-encoder-openvino.xml"),
                format!("/m/{core_ml}-encoder.mlmodelc"),
            ];
            let found = compiled_encoders(&Path::new("/m").join(model));
            assert_eq!(found, expected.map(PathBuf::from));
        }
    }
}
