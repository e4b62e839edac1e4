//! The description that comes with a voice of Piper.

use crate::VoiceError;
use crate::programs::open_file;
use serde::Deserialize;
use std::path::Path;
use tokio::io::AsyncReadExt;

const CONFIG: &str = "voice.tts.tts_local_1.config_path";

/// The largest voice description to read. Real ones have about 5 kB, or 30 kB with a thousand speakers.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// The fields of the voice description that are used.
#[derive(Deserialize)]
pub(super) struct Described {
    pub(super) audio: Audio,
    #[serde(default)]
    pub(super) inference: Inference,
}

#[derive(Deserialize)]
pub(super) struct Audio {
    /// Samples per second.
    pub(super) sample_rate: u32,
}

#[derive(Default, Deserialize)]
pub(super) struct Inference {
    /// The default of the voice.
    pub(super) length_scale: Option<f64>,
}

impl Described {
    pub(super) async fn read(path: &Path) -> Result<Self, VoiceError> {
        let unreadable =
            || VoiceError::not_configured(CONFIG, "The voice's .json file is missing or invalid.");
        let file = open_file(path).await.map_err(|_| unreadable())?;
        let mut text = Vec::new();
        let read = file.take(MAX_CONFIG_BYTES).read_to_end(&mut text).await;
        read.map_err(|_| unreadable())?;
        let described: Self = serde_json::from_slice(&text).map_err(|_| unreadable())?;
        if (1..=384_000).contains(&described.audio.sample_rate) {
            Ok(described)
        } else {
            Err(unreadable())
        }
    }
}
