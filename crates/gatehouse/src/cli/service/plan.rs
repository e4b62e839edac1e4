//! The steps of `service install` and `uninstall`, as data. They can be shown before they run.

use super::super::output::{Output, line};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The steps, in their order.
pub struct Plan(pub Vec<Step>);

/// One step.
pub enum Step {
    Write {
        path: PathBuf,
        text: String,
    },
    Copy {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    Run {
        program: &'static str,
        arguments: Vec<String>,
    },
}

impl Step {
    pub const fn write(path: PathBuf, text: String) -> Self {
        Self::Write { path, text }
    }

    pub const fn copy(from: PathBuf, to: PathBuf) -> Self {
        Self::Copy { from, to }
    }

    pub const fn remove(path: PathBuf) -> Self {
        Self::Remove { path }
    }

    pub fn run<'a>(
        program: &'static str,
        arguments: impl IntoIterator<Item = &'a &'a str>,
    ) -> Self {
        let arguments = arguments.into_iter().map(|text| (*text).to_owned());
        Self::Run {
            program,
            arguments: arguments.collect(),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Write { path, .. } => format!("write {}", path.display()),
            Self::Copy { from, to } => format!("copy {} to {}", from.display(), to.display()),
            Self::Remove { path } => format!("remove {}", path.display()),
            Self::Run { program, arguments } => format!("run {program} {}", arguments.join(" "))
                .trim_end()
                .to_owned(),
        }
    }

    fn record(&self) -> Value {
        match self {
            Self::Write { path, text } => json!({ "write": path, "text": text }),
            Self::Copy { from, to } => json!({ "copy": from, "to": to }),
            Self::Remove { path } => json!({ "remove": path }),
            Self::Run { program, arguments } => json!({ "run": program, "arguments": arguments }),
        }
    }

    fn carry_out(&self) -> Result<()> {
        match self {
            Self::Write { path, text } => replace(path, 0o644, text.as_bytes()),
            Self::Copy { from, to } => copy(from, to),
            Self::Remove { path } => std::fs::remove_file(path)
                .with_context(|| format!("cannot remove {}", path.display())),
            Self::Run { program, arguments } => {
                let status = Command::new(program)
                    .args(arguments)
                    .status()
                    .with_context(|| format!("cannot run {program}"))?;
                if !status.success() {
                    bail!("{program} {} failed ({status})", arguments.join(" "));
                }
                Ok(())
            }
        }
    }
}

impl Plan {
    /// Prints the steps. For a dry run, also prints the content of the files.
    pub fn show(&self, out: &Output, is_dry: bool) -> Result<()> {
        let steps: Vec<_> = self.0.iter().map(Step::record).collect();
        out.record(&json!({ "dry_run": is_dry, "steps": steps }), || {
            line(if is_dry { "This would:" } else { "This will:" });
            for step in &self.0 {
                line(format!("  {}", step.sentence()));
            }
            for step in self.0.iter().filter(|_| is_dry) {
                if let Step::Write { path, text } = step {
                    line(format!("\n{}:\n\n{}", path.display(), text.trim_end()));
                }
            }
        })
    }

    /// Carries out the steps. After a failure, lists the remaining steps.
    pub fn carry_out(&self) -> Result<()> {
        for (place, step) in self.0.iter().enumerate() {
            step.carry_out().with_context(|| {
                let left = self.0.get(place..).unwrap_or_default();
                let left: Vec<_> = left.iter().map(Step::sentence).collect();
                format!("these steps are left: {}", left.join("; "))
            })?;
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut file =
        std::fs::File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    replace_with(to, 0o755, |target| {
        std::io::copy(&mut file, target).map(drop)
    })
}

fn replace(path: &Path, mode: u32, content: &[u8]) -> Result<()> {
    replace_with(path, mode, |file| file.write_all(content))
}

/// Writes a temporary file, then renames it to the old one. A running program cannot be overwritten.
fn replace_with(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<()> {
    let folder = path.parent().context("the path has no directory")?;
    let temporary = path.with_extension("gatehouse-new");
    let written = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(&temporary)?;
        // The umask applies to the mode above, so the permissions are set again.
        file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        write(&mut file)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}
