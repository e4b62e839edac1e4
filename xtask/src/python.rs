//! A Python environment for the spelling check and for tests that check Gatehouse from another language.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::apt;
use crate::process::{capture, find_program, run};

/// A prepared environment.
pub struct Python {
    /// The path of the interpreter.
    pub program: PathBuf,
    /// The version that the interpreter reports.
    pub version: String,
}

/// Creates an environment in `folder` with the packages in `requirements`. Does nothing if the environment is up to
/// date.
pub fn environment(folder: &Path, requirements: &Path) -> Result<Python> {
    let program = folder.join("bin/python");
    let wanted = std::fs::read_to_string(requirements).context("requirements.txt")?;
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted)
        && capture(Command::new(&program).arg("--version")).is_ok()
    {
        return describe(program);
    }
    if create(folder).is_err() {
        apt::install(&["python3", "python3-venv"])?;
        create(folder)?;
    }
    let mut pip = Command::new(&program);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--requirement",
    ]);
    run(pip.arg(requirements))?;
    std::fs::write(&installed, wanted)?;
    describe(program)
}

fn create(folder: &Path) -> Result<()> {
    let python = find_program("python3").context("python3 is not installed")?;
    capture(
        Command::new(python)
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )
    .map(drop)
}

fn describe(program: PathBuf) -> Result<Python> {
    let version = capture(Command::new(&program).arg("--version"))?
        .trim()
        .to_owned();
    Ok(Python { program, version })
}
