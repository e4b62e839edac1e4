//! Speech programs for the tests of `crates/voice`, with locally generated models.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{find_program, run};
use crate::{apt, python};

/// Programs that tests take from the system, and their Debian packages.
const SYSTEM: [(&str, &str); 2] = [("ffmpeg", "ffmpeg"), ("espeak-ng", "espeak-ng")];
/// The script that generates the models, and the script that is installed as a command.
const SCRIPTS: [&str; 2] = ["make_models.py", "whisper_cli.py"];

/// Creates a Python environment in `folder` with the programs in `tests` and their models. Does nothing if the
/// environment is up to date. Returns a description.
pub fn prepare(tests: &Path, folder: &Path) -> Result<String> {
    let missing = SYSTEM
        .iter()
        .filter(|(name, _)| find_program(name).is_none());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !missing.is_empty() {
        apt::install(&missing)?;
    }
    let python = python::environment(folder, &tests.join("requirements.txt"))?;
    let scripts = SCRIPTS.map(|name| std::fs::read_to_string(tests.join(name)));
    let scripts = scripts.into_iter().collect::<Result<Vec<_>, _>>();
    let wanted = scripts.context("scripts of voice programs")?.concat();
    // If the set of programs changes, the environment is created again, and this file is missing.
    let stamp = folder.join("models.txt");
    if !std::fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        let [make, _] = SCRIPTS;
        let mut command = Command::new(&python.program);
        // Prevents compiled copies of the scripts in the working tree.
        command.arg("-B").arg(tests.join(make)).arg(folder);
        run(&mut command)?;
        std::fs::write(&stamp, wanted)?;
    }
    Ok(format!(
        "Piper, sherpa-onnx and whisper.cpp by {}, ffmpeg, espeak-ng",
        python.version
    ))
}
