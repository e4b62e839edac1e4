//! Debian and RPM packages, from the stage. Their content is listed in `crates/gatehouse/Cargo.toml`.

use anyhow::Result;

use super::Job;
use super::binary::Target;

/// Writes the Debian package.
pub fn deb(job: &Job<'_>, target: &Target) -> Result<()> {
    let mut command = job.tools.command("deb");
    command
        .args([
            "--package",
            "gatehouse",
            "--no-build",
            "--no-strip",
            "--no-dbgsym",
            "--quiet",
        ])
        .args(["--target", &target.triple, "--output"])
        .arg(job.artifact(target, ".deb"));
    job.run(&mut command)
}

/// Writes the RPM package.
pub fn rpm(job: &Job<'_>, target: &Target) -> Result<()> {
    let mut command = job.tools.command("generate-rpm");
    command
        .args([
            "--package",
            "crates/gatehouse",
            "--payload-compress",
            "gzip",
        ])
        .args(["--arch", target.rpm_architecture(), "--output"])
        .arg(job.artifact(target, ".rpm"));
    job.run(&mut command)
}
