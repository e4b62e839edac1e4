//! Recognizes the model in a directory by its file names, as the project publishes them.
//!
//! - `x-encoder.onnx`, `x-decoder.onnx`, `x-tokens.txt`: Whisper.
//! - `encoder….onnx`, `decoder….onnx`, `joiner….onnx`, `tokens.txt`: a transducer.
//! - The same files without a joiner: Canary if the encoder's metadata says so, otherwise `FireRedASR`.
//! - `preprocess.onnx`, `encode.onnx`, `uncached_decode.onnx`, `cached_decode.onnx`: Moonshine.
//! - A single other `.onnx` file: recognized by its metadata (`model_type`, as in sherpa-onnx itself), else by the
//!   directory's name, else taken as `NeMo` CTC. If there are several, `model…` takes precedence over `ctc…`, and
//!   `ctc…` over the rest.
//!
//! If a file exists both plain and quantized (`.int8`, `.fp16`), the plain file is used. To use the quantized file,
//! delete the plain one.

use super::metadata;
use std::path::{Path, PathBuf};

/// A model with its options.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The value for `--tokens`.
    pub(super) tokens: PathBuf,
    /// Options without their dashes, and their values.
    pub(super) files: Vec<(&'static str, PathBuf)>,
    /// The language option, if the model has one.
    pub(super) language: Option<&'static str>,
}

/// Model types from metadata, a word in the directory's name, and the option. The first entry is the default.
const SINGLE: &[(&[&str], &str, &str)] = &[
    (
        &[
            "EncDecCTCModelBPE",
            "EncDecCTCModel",
            "EncDecHybridRNNTCTCBPEModel",
        ],
        "nemo",
        "nemo-ctc-model",
    ),
    (&["tdnn_lstm"], "tdnn", "tdnn-model"),
    (&["zipformer2_ctc"], "zipformer", "zipformer-ctc-model"),
    (&["wenet_ctc"], "wenet", "wenet-ctc-model"),
    (&["telespeech_ctc"], "telespeech", "telespeech-ctc"),
    (&["sense_voice_ctc"], "sense-voice", SENSE_VOICE),
    (&["paraformer"], "paraformer", "paraformer"),
    (&[], "dolphin", "dolphin-model"),
    (&[], "omnilingual", "omnilingual-asr-model"),
    (&["medasr_ctc"], "medasr", "medasr"),
    (&[], "fire-red-asr2-ctc", "fire-red-asr-ctc"),
];
const SENSE_VOICE: &str = "sense-voice-model";
const WHISPER_LANGUAGE: &str = "whisper-language";
/// Canary's model type.
const CANARY: &str = "EncDecMultiTaskModel";

type FoundLayout = Result<Layout, &'static str>;

impl Layout {
    /// Recognizes the model in a directory. The error is a message for the owner. Blocking.
    pub(super) fn find(directory: &Path) -> FoundLayout {
        let entries = directory.read_dir();
        let entries = entries.map_err(|_error| "The directory does not exist.")?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        let files = Files { directory, names };
        let found = files.whisper()?.or_else(|| files.several());
        found.map_or_else(|| files.single(), Ok)
    }

    /// Returns whether the model translates to English: Whisper does.
    pub(super) fn translates(&self) -> bool {
        self.language == Some(WHISPER_LANGUAGE)
    }
}

struct Files<'a> {
    directory: &'a Path,
    names: Vec<String>,
}

/// Returns a model's file name without its extensions and quantization.
fn stem(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".onnx")?;
    let plain = stem.strip_suffix(".int8");
    Some(plain.or_else(|| stem.strip_suffix(".fp16")).unwrap_or(stem))
}

impl Files<'_> {
    /// Returns the model file whose stem matches. A plain file takes precedence over a quantized
    /// one.
    fn model(&self, is: impl Fn(&str) -> bool) -> Option<PathBuf> {
        let fits = |name: &&String| stem(name).is_some_and(&is);
        let models = self.names.iter().filter(fits);
        let name = models.min_by_key(|name| (name.len(), name.as_str()))?;
        Some(self.directory.join(name))
    }

    fn exact(&self, name: &str) -> Option<PathBuf> {
        let is_there = self.names.iter().any(|each| each == name);
        is_there.then(|| self.directory.join(name))
    }

    fn whisper(&self) -> Result<Option<Layout>, &'static str> {
        let prefixes = self
            .names
            .iter()
            .filter_map(|name| name.strip_suffix("-tokens.txt"));
        let mut all = prefixes.filter_map(|prefix| {
            let part = |part: &str| self.model(|stem| stem.strip_prefix(prefix) == Some(part));
            Some(Layout {
                files: vec![
                    ("whisper-encoder", part("-encoder")?),
                    ("whisper-decoder", part("-decoder")?),
                ],
                tokens: self.exact(&format!("{prefix}-tokens.txt"))?,
                language: Some(WHISPER_LANGUAGE),
            })
        });
        let first = all.next();
        if all.next().is_some() {
            return Err("The directory contains several Whisper models; it must contain one.");
        }
        Ok(first)
    }

    /// Recognizes models of several files, except Whisper.
    fn several(&self) -> Option<Layout> {
        let tokens = self.exact("tokens.txt")?;
        let plain = |files: Vec<(&'static str, PathBuf)>, language| {
            let tokens = tokens.clone();
            Layout {
                tokens,
                files,
                language,
            }
        };
        let named = |name: &'static str| self.model(move |stem| stem == name);
        if let Some(preprocess) = named("preprocess") {
            let files = vec![
                ("moonshine-preprocessor", preprocess),
                ("moonshine-encoder", named("encode")?),
                ("moonshine-uncached-decoder", named("uncached_decode")?),
                ("moonshine-cached-decoder", named("cached_decode")?),
            ];
            return Some(plain(files, None));
        }
        let like = |name: &'static str| self.model(move |stem| stem.starts_with(name));
        let (encoder, decoder) = like("encoder").zip(like("decoder"))?;
        if let Some(joiner) = like("joiner") {
            let files = vec![
                ("encoder", encoder),
                ("decoder", decoder),
                ("joiner", joiner),
            ];
            return Some(plain(files, None));
        }
        if metadata::model_type(&encoder).as_deref() == Some(CANARY) {
            let files = vec![("canary-encoder", encoder), ("canary-decoder", decoder)];
            return Some(plain(files, Some("canary-src-lang")));
        }
        let files = vec![
            ("fire-red-asr-encoder", encoder),
            ("fire-red-asr-decoder", decoder),
        ];
        Some(plain(files, None))
    }

    fn single(&self) -> FoundLayout {
        let like = |name: &'static str| self.model(move |stem| stem.starts_with(name));
        let model = like("model")
            .or_else(|| like("ctc"))
            .or_else(|| self.model(|_| true));
        let model = model.ok_or("The directory contains no .onnx file.")?;
        let tokens = self.exact("tokens.txt");
        let tokens = tokens.ok_or("The directory contains no tokens.txt.")?;
        let option = option(metadata::model_type(&model).as_deref(), self.directory);
        Ok(Layout {
            tokens,
            files: vec![(option, model)],
            language: (option == SENSE_VOICE).then_some("sense-voice-language"),
        })
    }
}

fn option(model_type: Option<&str>, directory: &Path) -> &'static str {
    let name = directory
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let says = |(types, _, _): &&(&[&str], &str, &str)| {
        model_type.is_some_and(|model_type| types.contains(&model_type))
    };
    let is_named = |(_, word, _): &&(&[&str], &str, &str)| name.contains(word);
    let found = SINGLE.iter().find(says);
    let found = found.or_else(|| SINGLE.iter().find(is_named));
    found
        .or(SINGLE.first())
        .map_or("nemo-ctc-model", |(_, _, option)| *option)
}

#[cfg(test)]
mod tests;
