//! Fake programs as shell scripts, one file each under `programs`. They check their command line against the
//! program's documentation, exit as the program would if they reject it, and can be set to misbehave. Each
//! records how it was run.

#![expect(clippy::disallowed_methods, reason = "tests may wait for the disk")]

use super::fake_server::Behavior;
use super::tone;
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const STAND_IN: &str = include_str!("programs/stand-in.sh");

/// A recorded run of a program.
#[derive(Clone, Debug)]
pub struct Run {
    pub arguments: Vec<String>,
    /// The input, without trailing line breaks.
    pub stdin: String,
    /// The names of its environment variables.
    pub variables: Vec<String>,
    /// The working directory.
    pub directory: PathBuf,
    /// The audio file that it received.
    pub audio: Vec<u8>,
    pid: Pid,
}

impl Run {
    /// Returns the argument after this option, or after its `=`.
    pub fn option(&self, name: &str) -> Option<&str> {
        let joined = format!("{name}=");
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == name {
                return arguments.next().map(String::as_str);
            }
            if let Some(value) = argument.strip_prefix(&joined) {
                return Some(value);
            }
        }
        None
    }
}

/// A fake program and its model, in their own directory.
pub struct Program(TempDir);

impl Program {
    fn new(script: &str) -> Self {
        let program = Self(tempfile::tempdir().unwrap());
        program.file("stand-in.sh", STAND_IN.as_bytes());
        program.file("program", script.as_bytes());
        fs::set_permissions(program.binary(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(program.path("calls")).unwrap();
        program.set_behavior(&Behavior::Fine);
        program
    }

    /// Creates a fake Piper, whose voice has the sample rate of `pcm`.
    pub fn piper() -> Self {
        let program = Self::new(include_str!("programs/piper.sh"));
        program.file("model", b"");
        let description = json!({ "audio": { "sample_rate": tone::RATE } });
        program.file("model.json", description.to_string().as_bytes());
        program.file("tone.raw", &tone::pcm(&"x".repeat(6000), tone::RATE));
        program
    }

    pub fn whisper_cli() -> Self {
        let program = Self::new(include_str!("programs/whisper-cli.sh"));
        program.file("model", b"");
        let token = |text: &str, from: u32, to: u32| json!({ "text": text, "offsets": { "from": from, "to": to } });
        program.answer_with(&json!({
            "result": { "language": "en" },
            "transcription": [{
                "offsets": { "from": 0, "to": 1400 },
                "text": " Hello real world.",
                "tokens": [
                    token("[_BEG_]", 0, 0),
                    token(" Hello", 0, 400),
                    token(" real", 500, 900),
                    token(" world", 1000, 1400),
                    token(".", 1400, 1400),
                ],
            }],
        }));
        program
    }

    /// With a Whisper model, which reports the language, and a transducer, which reports timestamps.
    pub fn sherpa_onnx() -> Self {
        let program = Self::new(include_str!("programs/sherpa-onnx-offline.sh"));
        for (directory, files) in [
            (
                "model",
                [
                    "tiny-encoder.onnx",
                    "tiny-decoder.onnx",
                    "tiny-tokens.txt",
                    "README",
                ],
            ),
            (
                TRANSDUCER,
                ["encoder.onnx", "decoder.onnx", "joiner.onnx", "tokens.txt"],
            ),
        ] {
            fs::create_dir(program.path(directory)).unwrap();
            for file in files {
                program.file(&format!("{directory}/{file}"), b"");
            }
        }
        let tokens = ["\u{2581}Hello", "\u{2581}real", "\u{2581}world"];
        let whisper = json!({
            "lang": "en", "text": " Hello real world.", "timestamps": [], "tokens": tokens,
        });
        program.file("language.json", whisper.to_string().as_bytes());
        let transducer = json!({
            "lang": "", "text": " Hello real world", "timestamps": [0.0, 0.5, 1.0],
            "durations": [0.4, 0.4, 0.4], "tokens": tokens,
        });
        program.file("times.json", transducer.to_string().as_bytes());
        program
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn binary(&self) -> PathBuf {
        self.path("program")
    }

    pub fn model(&self) -> PathBuf {
        self.path("model")
    }

    fn file(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Sets the response to all runs that are not rejected.
    pub fn answer_with(&self, sent: &Value) {
        self.file("answer.json", sent.to_string().as_bytes());
    }

    /// Any status becomes exit code 1. The program then repeats its input on stderr.
    pub fn set_behavior(&self, behavior: &Behavior) {
        let behavior = match behavior {
            Behavior::Fine => "fine".to_owned(),
            Behavior::Loud => "loud".to_owned(),
            Behavior::Status(..) => "error".to_owned(),
            Behavior::Slow => "hang".to_owned(),
            Behavior::Stall(bytes) => format!("stall {bytes}"),
            Behavior::BreakOff(bytes) => format!("break {bytes}"),
            Behavior::Empty => "empty".to_owned(),
            Behavior::NotAudio => "page".to_owned(),
            Behavior::OtherJson => "other".to_owned(),
            Behavior::Redirect => panic!("a program does not redirect"),
        };
        self.file("mood", format!("{behavior}\n").as_bytes());
    }

    /// Returns the runs, in order.
    pub fn runs(&self) -> Vec<Run> {
        let calls = self.path("calls");
        let directories = (1..).map(|number: usize| calls.join(number.to_string()));
        directories
            .take_while(|directory| directory.exists())
            .filter_map(|directory| run(&directory))
            .collect()
    }

    /// Returns the reasons for the rejections.
    pub fn complaints(&self) -> Vec<String> {
        let calls = self.path("calls");
        let directories = (1..).map(|number: usize| calls.join(number.to_string()));
        directories
            .take_while(|directory| directory.exists())
            .filter_map(|directory| fs::read_to_string(directory.join("complaint")).ok())
            .collect()
    }

    /// Waits for this number of runs.
    pub async fn asked(&self, times: usize) {
        let start = Instant::now();
        while self.runs().len() < times {
            let waited = start.elapsed();
            assert!(waited < Duration::from_secs(10), "the program was not run");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Returns whether within a second no process is left, not even as a zombie.
    pub async fn was_left(&self) -> bool {
        let start = Instant::now();
        let is_there = |run: &Run| test_kill_process(run.pid).is_ok();
        while self.runs().iter().any(is_there) {
            if start.elapsed() > Duration::from_secs(1) {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        true
    }
}

/// The directory of the second model.
pub const TRANSDUCER: &str = "transducer";

fn run(directory: &Path) -> Option<Run> {
    let read = |name: &str| fs::read_to_string(directory.join(name)).ok();
    let pid = read("pid")?.strip_suffix('\n')?.parse().ok()?;
    let variables = read("environment")?;
    let variables = variables
        .lines()
        .filter_map(|line| line.strip_prefix("export "));
    Some(Run {
        arguments: read("arguments")?
            .split_terminator('\0')
            .map(str::to_owned)
            .collect(),
        stdin: read("stdin").unwrap_or_default(),
        variables: variables
            .filter_map(|line| line.split('=').next())
            .map(str::to_owned)
            .collect(),
        directory: read("directory")?.trim_end().into(),
        audio: fs::read(directory.join("audio")).unwrap_or_default(),
        pid: Pid::from_raw(pid)?,
    })
}
