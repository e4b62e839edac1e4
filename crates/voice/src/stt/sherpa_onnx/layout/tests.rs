use super::*;
use tempfile::TempDir;

#[expect(clippy::disallowed_methods, reason = "a test may wait for the disk")]
fn directory(name: &str, files: &[&str]) -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join(name);
    std::fs::create_dir(&directory).unwrap();
    for file in files {
        std::fs::write(directory.join(file), b"").unwrap();
    }
    (parent, directory)
}

/// Returns the options with their file names, the tokens file last.
fn found(name: &str, files: &[&str]) -> Result<Vec<(String, String)>, &'static str> {
    let (_parent, directory) = directory(name, files);
    let layout = Layout::find(&directory)?;
    let tokens = ("tokens", layout.tokens);
    let all = layout.files.into_iter().chain([tokens]);
    Ok(all
        .map(|(option, file)| {
            let file = file.strip_prefix(&directory).unwrap();
            (option.to_owned(), file.to_str().unwrap().to_owned())
        })
        .collect())
}

fn assert_found(name: &str, files: &[&str], wanted: &[(&str, &str)]) {
    let found = found(name, files).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|(option, file)| (option.as_str(), file.as_str()))
        .collect();
    assert_eq!(found, wanted, "{name}");
}

#[test]
fn whisper_as_it_is_or_quantised() {
    let plain = ["base.en-encoder.onnx", "base.en-decoder.onnx"];
    let small = ["base.en-encoder.int8.onnx", "base.en-decoder.int8.onnx"];
    let tokens = "base.en-tokens.txt";
    assert_found(
        "sherpa-onnx-whisper-base.en",
        &[plain[0], small[0], plain[1], small[1], tokens, "test_wavs"],
        &[
            ("whisper-encoder", plain[0]),
            ("whisper-decoder", plain[1]),
            ("tokens", tokens),
        ],
    );
    assert_found(
        "x",
        &[small[0], small[1], tokens],
        &[
            ("whisper-encoder", small[0]),
            ("whisper-decoder", small[1]),
            ("tokens", tokens),
        ],
    );
    let two = [
        "tiny-encoder.onnx",
        "tiny-decoder.onnx",
        "tiny-tokens.txt",
        "base-encoder.onnx",
        "base-decoder.onnx",
        "base-tokens.txt",
    ];
    assert!(found("two", &two).unwrap_err().contains("several"));
}

#[test]
fn models_of_several_files() {
    let epoch = [
        "encoder-epoch-99-avg-1.int8.onnx",
        "encoder-epoch-99-avg-1.onnx",
        "decoder-epoch-99-avg-1.onnx",
        "joiner-epoch-99-avg-1.onnx",
        "tokens.txt",
        "bpe.model",
    ];
    assert_found(
        "sherpa-onnx-zipformer-en-2023-04-01",
        &epoch,
        &[
            ("encoder", epoch[1]),
            ("decoder", epoch[2]),
            ("joiner", epoch[3]),
            ("tokens", "tokens.txt"),
        ],
    );
    assert_found(
        "sherpa-onnx-fire-red-asr-large-zh_en-2025-02-16",
        &["encoder.int8.onnx", "decoder.int8.onnx", "tokens.txt"],
        &[
            ("fire-red-asr-encoder", "encoder.int8.onnx"),
            ("fire-red-asr-decoder", "decoder.int8.onnx"),
            ("tokens", "tokens.txt"),
        ],
    );
    let moonshine = [
        "preprocess.onnx",
        "encode.int8.onnx",
        "uncached_decode.int8.onnx",
        "cached_decode.int8.onnx",
    ];
    assert_found(
        "sherpa-onnx-moonshine-tiny-en-int8",
        &[&moonshine[..], &["tokens.txt"]].concat(),
        &[
            ("moonshine-preprocessor", moonshine[0]),
            ("moonshine-encoder", moonshine[1]),
            ("moonshine-uncached-decoder", moonshine[2]),
            ("moonshine-cached-decoder", moonshine[3]),
            ("tokens", "tokens.txt"),
        ],
    );
}

#[test]
fn a_model_that_says_nothing_goes_by_its_directory() {
    for (name, option) in [
        ("sherpa-onnx-nemo-ctc-en-conformer-medium", "nemo-ctc-model"),
        (
            "sherpa-onnx-zipformer-ctc-zh-int8-2025-07-03",
            "zipformer-ctc-model",
        ),
        ("sherpa-onnx-paraformer-zh-2023-09-14", "paraformer"),
        (
            "sherpa-onnx-sense-voice-zh-en-ja-ko-yue-2024-07-17",
            "sense-voice-model",
        ),
        ("sherpa-onnx-zh-wenet-aishell", "wenet-ctc-model"),
        (
            "sherpa-onnx-telespeech-ctc-int8-zh-2024-06-04",
            "telespeech-ctc",
        ),
        (
            "sherpa-onnx-dolphin-base-ctc-multi-lang-int8",
            "dolphin-model",
        ),
        ("sherpa-onnx-tdnn-yesno", "tdnn-model"),
        ("my own", "nemo-ctc-model"),
    ] {
        let files = ["model.int8.onnx", "tokens.txt"];
        assert_found(name, &files, &[(option, files[0]), ("tokens", files[1])]);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test may wait for the disk")]
fn what_a_model_says_of_itself_counts_more() {
    let (_parent, directory) = directory("sherpa-onnx-nemo-ctc", &["tokens.txt"]);
    // metadata_props (14): key (1) "model_type", value (2) "sense_voice_ctc".
    let model = b"\x72\x1d\x0a\x0amodel_type\x12\x0fsense_voice_ctc";
    std::fs::write(directory.join("ctc.onnx"), model).unwrap();
    let layout = Layout::find(&directory).unwrap();
    let wanted = vec![("sense-voice-model", directory.join("ctc.onnx"))];
    assert_eq!(layout.files, wanted);
    assert_eq!(layout.language, Some("sense-voice-language"));
}

#[test]
fn what_is_missing_is_said() {
    let (_parent, directory) = directory("x", &[]);
    let of = |files| found("x", files).unwrap_err();
    assert!(of(&["tokens.txt"]).contains(".onnx"));
    assert!(of(&["model.onnx"]).contains("tokens.txt"));
    assert!(of(&["a-encoder.onnx", "a-tokens.txt"]).contains("tokens.txt"));
    let error = Layout::find(&directory.join("none")).unwrap_err();
    assert!(error.contains("directory does not exist"));
}
