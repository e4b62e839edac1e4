//! Tests of local programs and servers.
//!
//! `GATEHOUSE_TEST_VOICE` names a directory with the real programs (`bin`) and small models for them
//! (`models`), built by `tests/voice-programs`; `cargo xtask test` sets it.

mod bad_days;
mod kept;
mod program_input;
mod real;
mod real_kept;
mod round_trip;
mod sherpa_kept;
mod whisper_server;

use crate::harness::settings;
use gatehouse_voice::{ProviderSettings, SectionSettings, SttId, TtsId, VoiceSettings};
use rustix::process::{Pid, test_kill_process};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The real programs and their models.
struct RealPrograms(PathBuf);

impl RealPrograms {
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment lists what tests may use"
    )]
    fn find() -> Option<Self> {
        let found = std::env::var_os("GATEHOUSE_TEST_VOICE").filter(|path| !path.is_empty());
        if found.is_none() {
            println!("LEFT OUT: voice programs; set GATEHOUSE_TEST_VOICE, or run cargo xtask test");
            let strict =
                std::env::var_os("GATEHOUSE_TEST_STRICT").is_some_and(|value| value == "1");
            assert!(
                !strict,
                "GATEHOUSE_TEST_STRICT=1 and there is no GATEHOUSE_TEST_VOICE"
            );
        }
        Some(Self(found?.into()))
    }

    fn model(&self, name: &str) -> PathBuf {
        let path = self.0.join("models").join(name);
        assert!(path.exists(), "there is no {}", path.display());
        path
    }

    /// Settings with the programs on `PATH`, the tone voice for speech, and all speech-to-text programs.
    fn settings(&self) -> VoiceSettings {
        let listeners = [
            (SttId::WhisperCli, self.model("fixed.bin")),
            (SttId::SherpaOnnx, self.model("tone")),
        ];
        let listeners = listeners.map(|(id, model)| (id, listener(model)));
        let mut settings = speaking(self.model("tone.onnx"));
        settings.stt.providers = listeners.into();
        let mut path = OsString::from(self.0.join("bin"));
        path.push(":/usr/bin:/bin");
        settings.child_variables = vec![("PATH".to_owned(), path)];
        settings
    }
}

fn listener(model: PathBuf) -> ProviderSettings {
    ProviderSettings {
        model_path: Some(model),
        ..ProviderSettings::default()
    }
}

/// Settings for Piper with this voice.
fn speaking(model: PathBuf) -> VoiceSettings {
    let piper = ProviderSettings {
        model_path: Some(model),
        ..ProviderSettings::default()
    };
    VoiceSettings {
        tts: SectionSettings {
            providers: BTreeMap::from([(TtsId::Piper, piper)]),
            ..SectionSettings::default()
        },
        stt: SectionSettings::default(),
        ..settings()
    }
}

/// A directory with test programs, a voice and a model. Its name contains spaces.
struct ProgramDir(TempDir);

impl ProgramDir {
    fn new() -> Self {
        let mut builder = tempfile::Builder::new();
        let place = Self(builder.prefix("a place of $(x) ").tempdir().unwrap());
        place.file("voice.onnx", b"");
        place.file("voice.onnx.json", br#"{"audio":{"sample_rate":16000}}"#);
        place.file("model.bin", b"");
        for name in ["encoder.onnx", "decoder.int8.onnx", "tokens.txt"] {
            place.file(&format!("tiny-{name}"), b"");
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "a test may wait for the disk")]
    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    #[expect(clippy::disallowed_methods, reason = "a test may wait for the disk")]
    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// Writes a shell script, which gets this directory as `$place`.
    fn program(&self, script: &str) -> PathBuf {
        self.program_named("program", script)
    }

    fn program_named(&self, name: &str, script: &str) -> PathBuf {
        let place = self.0.path().display();
        let script = format!("#!/bin/sh\nplace='{place}'\n{script}\n");
        let path = self.file(name, script.as_bytes());
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Returns the PIDs that programs added to this file, one per line.
    fn pids(&self, name: &str) -> Vec<Pid> {
        let pids = self.read(name).unwrap_or_default();
        let pids = pids.lines().map(|line| line.parse().unwrap());
        pids.map(|pid| Pid::from_raw(pid).unwrap()).collect()
    }

    /// Settings with this script as Piper.
    fn piper(&self, script: &str) -> VoiceSettings {
        let mut settings = speaking(self.path("voice.onnx"));
        let piper = settings.tts.providers.get_mut(&TtsId::Piper).unwrap();
        piper.binary_path = Some(self.program(script));
        settings
    }

    /// Settings with this script as the speech-to-text program.
    fn listener(&self, id: SttId, script: &str) -> VoiceSettings {
        let model = if id == SttId::SherpaOnnx {
            ""
        } else {
            "model.bin"
        };
        let mut listener = listener(self.path(model));
        listener.binary_path = Some(self.program(script));
        crate::harness::stt_with(id, listener)
    }

    /// Returns the PID that the program wrote to the file `pid`.
    async fn pid(&self) -> Pid {
        loop {
            if let Some(number) = self
                .read("pid")
                .as_deref()
                .and_then(|text| text.strip_suffix('\n'))
            {
                return Pid::from_raw(number.parse().unwrap()).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Asserts that within ten seconds the process neither runs nor is a zombie.
async fn assert_gone(pid: Pid) {
    let start = Instant::now();
    while test_kill_process(pid).is_ok() {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "it is still there"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Asserts that the file is removed within ten seconds.
async fn assert_removed(path: &str) {
    let start = Instant::now();
    while exists(path) {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "it is still there"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Returns a second of 16 kHz silence.
fn silence() -> Vec<u8> {
    wav(16_000, 1, &vec![0; 16_000])
}

/// Samples as WAV (RIFF, `fmt ` of 16 bytes, `data`).
fn wav(rate: u32, channels: u16, samples: &[i16]) -> Vec<u8> {
    let data: Vec<u8> = samples
        .iter()
        .flat_map(|sample| sample.to_le_bytes())
        .collect();
    let length = u32::try_from(data.len()).unwrap();
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + length).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    wav.extend(channels.to_le_bytes());
    wav.extend(rate.to_le_bytes());
    wav.extend((rate * 2 * u32::from(channels)).to_le_bytes());
    wav.extend((2 * channels).to_le_bytes());
    wav.extend(16_u16.to_le_bytes());
    wav.extend(b"data");
    wav.extend(length.to_le_bytes());
    wav.extend(data);
    wav
}

fn exists(path: &str) -> bool {
    Path::new(path).exists()
}
