//! Builds the binary: static, without paths of this machine, and with an embedded list of its dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::Job;
use crate::process::{capture, cargo, find_program};

/// The targets whose binaries run on every Linux of their architecture.
const PREFERRED: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];
/// Stores address relocations as a bitmap. Each start then reads 2 MB less, and the process uses less memory. Needs
/// glibc 2.36 or musl 1.2.4, and GNU ld 2.38 or LLD 15. `zig cc` refuses the option.
pub const PACK_RELOCATIONS: &str = "-Clink-arg=-Wl,-z,pack-relative-relocs";
/// The path that replaces this machine's paths.
const SOURCES: &str = "/build/gatehouse";
const REGISTRY: &str = "/build/cargo";

/// The target of a binary.
pub struct Target {
    pub triple: String,
    /// The name in packages and images: `amd64` or `arm64`.
    pub architecture: &'static str,
    is_host: bool,
}

impl Target {
    fn new(triple: &str, host: &str) -> Result<Self> {
        let processor = |triple: &str| triple.split('-').next().unwrap_or_default().to_owned();
        let architecture = match processor(triple).as_str() {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => bail!("no packages are made for {other}"),
        };
        Ok(Self {
            triple: triple.to_owned(),
            architecture,
            is_host: processor(triple) == processor(host),
        })
    }

    /// Returns the name of the architecture in RPM packages.
    pub fn rpm_architecture(&self) -> &str {
        self.triple.split('-').next().unwrap_or_default()
    }
}

/// Returns the targets to build for, this machine's architecture first.
pub fn targets(asked: &[String], given: Option<&Path>) -> Result<Vec<Target>> {
    let host = capture(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let host = host.trim();
    let mut triples: Vec<&str> = asked.iter().map(String::as_str).collect();
    if given.is_some() {
        triples = vec![host];
    }
    if triples.is_empty() {
        for triple in PREFERRED {
            if has_library(triple)? {
                triples.push(triple);
            } else {
                eprintln!("note: skipping {triple}: its standard library is not installed");
            }
        }
    }
    if triples.is_empty() {
        eprintln!("note: building for {host} with a static C library instead");
        triples.push(host);
    }
    let mut targets = Vec::new();
    for triple in triples {
        ensure!(
            has_library(triple)?,
            "the standard library of {triple} is not installed"
        );
        targets.push(Target::new(triple, host)?);
    }
    targets.sort_by_key(|target| !target.is_host);
    let runs_here = targets.first().is_some_and(|target| target.is_host);
    ensure!(
        runs_here,
        "one target must be of this machine's architecture: its binary writes the man pages"
    );
    Ok(targets)
}

fn has_library(triple: &str) -> Result<bool> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", triple]);
    Ok(Path::new(capture(&mut rustc)?.trim()).is_dir())
}

/// Builds the binary with the profile `dist`. Targets with another C library than this machine's need zig as their C
/// compiler and linker.
pub fn build(job: &Job<'_>, target: &Target) -> Result<PathBuf> {
    let folder = job.root.join("target/package-build");
    let needs_zig = !target.is_host || target.triple.ends_with("-musl");
    if needs_zig && find_program("cargo-zigbuild").is_none() {
        bail!(
            "{} needs a C compiler of its own: pip install cargo-zigbuild",
            target.triple
        );
    }
    let home = cargo_home()?;
    let (root, home) = (utf8(job.root)?, utf8(&home)?);
    let mut flags = vec![
        format!("--remap-path-prefix={root}={SOURCES}"),
        format!("--remap-path-prefix={home}={REGISTRY}"),
    ];
    flags.push("-Ctarget-feature=+crt-static".to_owned());
    if !needs_zig {
        flags.push(PACK_RELOCATIONS.to_owned());
    }
    let c_flags = format!("-ffile-prefix-map={root}={SOURCES} -ffile-prefix-map={home}={REGISTRY}");
    let mut command = cargo(job.root);
    command
        .env("PATH", job.tools.path()?)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env("CFLAGS", c_flags)
        .args(["auditable", if needs_zig { "zigbuild" } else { "build" }])
        .args(["--locked", "--profile", "dist", "--package", "gatehouse"])
        .args(["--target", &target.triple, "--target-dir"])
        .arg(&folder);
    job.run(&mut command)?;
    let binary = folder.join(&target.triple).join("dist/gatehouse");
    let list = capture(job.tools.reader().arg(&binary));
    let count = dependencies(&list?, &job.version).context("the list of dependencies")?;
    eprintln!("The binary contains a list of {count} dependencies.");
    Ok(binary)
}

/// Returns the number of packages in the list that the binary contains. Fails if the list belongs to another version.
fn dependencies(list: &str, version: &str) -> Result<usize> {
    let list: Value = serde_json::from_str(list)?;
    let packages = list.get("packages").and_then(Value::as_array);
    let packages = packages.context("no packages")?;
    let is_own = |package: &&Value| {
        let has = |field: &str, value: &Value| package.get(field) == Some(value);
        has("root", &json!(true)) && has("name", &json!("gatehouse"))
    };
    let own = packages.iter().find(is_own).context("no root package")?;
    let found = own.get("version").and_then(Value::as_str);
    ensure!(found == Some(version), "version {found:?}, not {version}");
    ensure!(packages.len() > 1, "no package but the root");
    Ok(packages.len() - 1)
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::var_os("HOME").context("HOME is not set")?;
    Ok(Path::new(&home).join(".cargo"))
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().context("a path is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_list_must_be_of_this_version() {
        let list = |root: &str| {
            format!(
                r#"{{"packages":[{{"name":"age","version":"0.11.0","source":"registry"}},{root}]}}"#
            )
        };
        let own = list(r#"{"name":"gatehouse","version":"0.1.0","source":"local","root":true}"#);
        assert_eq!(dependencies(&own, "0.1.0").unwrap(), 1);
        assert!(dependencies(&own, "0.2.0").is_err());
        let other = list(r#"{"name":"xtask","version":"0.1.0","source":"local","root":true}"#);
        assert!(dependencies(&other, "0.1.0").is_err());
        let alone = r#"{"packages":[{"name":"gatehouse","version":"0.1.0","root":true}]}"#;
        assert!(dependencies(alone, "0.1.0").is_err());
        assert!(dependencies("{}", "0.1.0").is_err());
    }

    #[test]
    fn the_architecture_has_a_name_in_each_format() {
        let host = "x86_64-unknown-linux-gnu";
        for (triple, name, rpm, is_host) in [
            ("x86_64-unknown-linux-musl", "amd64", "x86_64", true),
            ("aarch64-unknown-linux-musl", "arm64", "aarch64", false),
        ] {
            let target = Target::new(triple, host).unwrap();
            assert_eq!(
                (target.architecture, target.rpm_architecture()),
                (name, rpm)
            );
            assert_eq!(target.is_host, is_host);
        }
        assert!(Target::new("riscv64gc-unknown-linux-gnu", host).is_err());
    }
}
