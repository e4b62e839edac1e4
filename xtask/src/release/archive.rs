//! Tar files whose bytes depend only on their content: members are sorted, and all have the same
//! owner and time.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::Job;
use super::binary::Target;

/// The numeric owner of the files, and the change to their modes.
pub struct Owner {
    id: u32,
    mode: &'static str,
}

impl Owner {
    /// All users can read the files, independent of this machine's umask.
    pub const ROOT: Self = Self {
        id: 0,
        mode: "u+rw,go=u,go-w",
    };

    /// Only this user can read the directories.
    pub const fn only(id: u32) -> Self {
        Self {
            id,
            mode: "u=rwx,go=",
        }
    }
}

/// Writes `members` to the tar file `to`. Members are paths below `folder`.
pub fn tar(job: &Job<'_>, folder: &Path, members: &[&str], owner: &Owner, to: &Path) -> Result<()> {
    let Owner { id, mode } = owner;
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=gnu", "--sort=name", "--numeric-owner"])
        .arg(format!("--owner={id}"))
        .arg(format!("--group={id}"))
        .arg(format!("--mtime=@{}", job.epoch))
        .arg(format!("--mode={mode}"))
        .arg("--file")
        .arg(to)
        .arg("--directory")
        .arg(folder)
        .args(members);
    job.run(&mut tar)
}

/// Compresses the file, which gets the suffix `.gz`.
pub fn gzip(job: &Job<'_>, file: &Path) -> Result<PathBuf> {
    job.run(Command::new("gzip").arg("-n9").arg("--force").arg(file))?;
    let mut name = file.as_os_str().to_owned();
    name.push(".gz");
    Ok(name.into())
}

/// Writes the tarball: the stage and the files of `deploy/`, below one folder.
pub fn tarball(job: &Job<'_>, target: &Target, stage: &Path) -> Result<()> {
    let file = job.artifact(target, ".tar");
    let name = file.file_stem().context("no name")?.to_owned();
    let folder = stage.with_file_name(&name);
    let copy =
        |from: &Path, to: &Path| job.run(Command::new("cp").arg("--recursive").arg(from).arg(to));
    copy(stage, &folder)?;
    copy(&job.root.join("deploy"), &folder.join("deploy"))?;
    let member = name.to_str().context("the name is not UTF-8")?;
    tar(job, &job.out, &[member], &Owner::ROOT, &file)?;
    std::fs::remove_dir_all(&folder)?;
    gzip(job, &file).map(drop)
}
