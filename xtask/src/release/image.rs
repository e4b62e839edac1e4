//! The container image as a tar file with an OCI image layout (image-spec 1.1), which needs no daemon. The file
//! also has the `manifest.json` that older versions of `docker load` read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Job;
use super::archive::{Owner, gzip, tar};
use super::binary::Target;
use crate::process::capture;

/// The user of the image, also in `deploy/`.
const USER: u32 = 65532;
const DATA_DIR: &str = "var/lib/gatehouse";
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";
const TIME_ZONES: &str = "usr/share/zoneinfo";
const SECOND: u64 = 1_000_000_000;

/// A file in `blobs/`.
struct Blob {
    digest: String,
    size: u64,
}

struct Layer {
    blob: Blob,
    /// The digest of the uncompressed tar file.
    diff: String,
}

/// The system files that the image may lack.
#[derive(Clone, Copy, Default, clap::Args)]
pub struct MayLack {
    /// Make an image without certificate authorities if this machine has none
    #[arg(long = "without-certificates")]
    certificates: bool,
    /// Make an image without time zones if this machine has none
    #[arg(long = "without-time-zones")]
    time_zones: bool,
}

/// Fails if the system in `root` has no certificate authorities or time zones for the image, unless `may_lack` allows
/// that. Without certificate authorities, the gateway in the image could not call providers, channels or ACME servers.
/// Without time zones, it would interpret schedules as UTC.
pub fn check_system(root: &Path, may_lack: MayLack) -> Result<()> {
    let authorities = root.join(CERTIFICATES);
    let is_filled = authorities.metadata().is_ok_and(|found| found.len() > 0);
    ensure!(
        is_filled || may_lack.certificates,
        "{} is missing: install ca-certificates, or add --without-certificates for an image that cannot make TLS calls",
        authorities.display()
    );
    let zones = root.join(TIME_ZONES);
    let is_filled = zones
        .read_dir()
        .is_ok_and(|mut entries| entries.next().is_some());
    ensure!(
        is_filled || may_lack.time_zones,
        "{} is missing: install tzdata, or add --without-time-zones for an image in which all times are UTC",
        zones.display()
    );
    Ok(())
}

/// Writes `gatehouse-VERSION-ARCHITECTURE.oci.tar`.
pub fn write(job: &Job<'_>, target: &Target, stage: &Path) -> Result<()> {
    let folder = job.out.join("image");
    let layout = folder.join("layout");
    std::fs::create_dir_all(layout.join("blobs/sha256"))?;
    let layers = [
        system_layer(job, &folder, &layout)?,
        layer(job, stage, &["usr/bin/gatehouse"], &Owner::ROOT, &layout)?,
        data_layer(job, &folder, &layout)?,
    ];
    let config = blob(&layout, &config(job, target, &layers)?)?;
    let manifest = blob(&layout, &manifest(&config, &layers))?;
    let name = format!("docker.io/library/gatehouse:{}", job.version);
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": format!("sha256:{}", manifest.digest),
            "size": manifest.size,
            "platform": { "architecture": target.architecture, "os": "linux" },
            "annotations": {
                "io.containerd.image.name": name,
                "org.opencontainers.image.ref.name": job.version,
            },
        }],
    });
    let path = |blob: &Blob| format!("blobs/sha256/{}", blob.digest);
    let docker = json!([{
        "Config": path(&config),
        "RepoTags": [format!("gatehouse:{}", job.version)],
        "Layers": layers.iter().map(|layer| path(&layer.blob)).collect::<Vec<_>>(),
    }]);
    for (name, content) in [
        ("oci-layout", json!({ "imageLayoutVersion": "1.0.0" })),
        ("index.json", index),
        ("manifest.json", docker),
    ] {
        std::fs::write(layout.join(name), content.to_string())?;
    }
    let members = ["blobs", "index.json", "manifest.json", "oci-layout"];
    tar(
        job,
        &layout,
        &members,
        &Owner::ROOT,
        &job.artifact(target, ".oci.tar"),
    )?;
    std::fs::remove_dir_all(folder).context("cannot remove the unpacked image")
}

/// Writes the layer with users, certificates and time zones.
fn system_layer(job: &Job<'_>, folder: &Path, layout: &Path) -> Result<Layer> {
    let system = folder.join("system");
    for name in ["etc", "usr/bin", "var/lib"] {
        std::fs::create_dir_all(system.join(name))?;
    }
    let passwd = format!(
        "root:x:0:0:root:/:/sbin/nologin\ngatehouse:x:{USER}:{USER}:Gatehouse:/{DATA_DIR}:/sbin/nologin\n"
    );
    std::fs::write(system.join("etc/passwd"), passwd)?;
    std::fs::write(
        system.join("etc/group"),
        format!("root:x:0:\ngatehouse:x:{USER}:\n"),
    )?;
    for name in [CERTIFICATES, TIME_ZONES] {
        let from = Path::new("/").join(name);
        // If the directory is missing, `check_system` has allowed that.
        if !from.exists() {
            eprintln!("note: left out of the image: /{name}, which this machine does not have");
            continue;
        }
        let to = system.join(name);
        std::fs::create_dir_all(to.parent().context("no folder")?)?;
        // Links are followed, because the image does not contain their targets.
        job.run(
            Command::new("cp")
                .args(["--recursive", "--dereference"])
                .arg(from)
                .arg(to),
        )?;
    }
    for duplicate in ["posix", "right"] {
        let path = system.join("usr/share/zoneinfo").join(duplicate);
        if path.exists() {
            std::fs::remove_dir_all(path)?;
        }
    }
    layer(job, &system, &["etc", "usr", "var"], &Owner::ROOT, layout)
}

/// Writes the layer with the directories that the user can write. A volume inherits the owner.
fn data_layer(job: &Job<'_>, folder: &Path, layout: &Path) -> Result<Layer> {
    let data = folder.join("data");
    for name in [DATA_DIR, "tmp"] {
        std::fs::create_dir_all(data.join(name))?;
    }
    layer(job, &data, &["tmp", DATA_DIR], &Owner::only(USER), layout)
}

fn layer(
    job: &Job<'_>,
    folder: &Path,
    members: &[&str],
    owner: &Owner,
    layout: &Path,
) -> Result<Layer> {
    let file = layout.join("layer.tar");
    tar(job, folder, members, owner, &file)?;
    let diff = digest(&std::fs::read(&file)?);
    let compressed = gzip(job, &file)?;
    let blob = blob(layout, &std::fs::read(&compressed)?)?;
    std::fs::remove_file(compressed)?;
    Ok(Layer { blob, diff })
}

fn config(job: &Job<'_>, target: &Target, layers: &[Layer]) -> Result<Vec<u8>> {
    let created = time(&job.epoch)?;
    let diffs: Vec<_> = layers
        .iter()
        .map(|layer| format!("sha256:{}", layer.diff))
        .collect();
    let history: Vec<Value> = [
        "certificates and time zones",
        "gatehouse",
        "the data directory",
    ]
    .iter()
    .map(|what| json!({ "created": created, "created_by": "cargo xtask dist", "comment": what }))
    .collect();
    let config = json!({
        "created": created,
        "architecture": target.architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "ExposedPorts": { "8420/tcp": {} },
            "Env": [
                "PATH=/usr/bin",
                format!("SERVICE_DATA_DIR=/{DATA_DIR}"),
                "SERVICE_SERVER__BIND=0.0.0.0:8420",
            ],
            "Entrypoint": ["/usr/bin/gatehouse"],
            "Cmd": ["serve"],
            "Volumes": { format!("/{DATA_DIR}"): {} },
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/gatehouse", "health"],
                "Interval": 15 * SECOND,
                "Timeout": 10 * SECOND,
                // The health check fails during migrations, so the start period is long. The
                // container is healthy at the first success.
                "StartPeriod": 3600 * SECOND,
                "Retries": 3,
            },
            "Labels": {
                "org.opencontainers.image.title": "Gatehouse",
                "org.opencontainers.image.version": job.version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": diffs },
        "history": history,
    });
    Ok(serde_json::to_vec(&config)?)
}

fn manifest(config: &Blob, layers: &[Layer]) -> Vec<u8> {
    let descriptor = |kind: &str, blob: &Blob| {
        json!({
            "mediaType": format!("application/vnd.oci.image.{kind}"),
            "digest": format!("sha256:{}", blob.digest),
            "size": blob.size,
        })
    };
    let layers: Vec<_> = layers
        .iter()
        .map(|layer| descriptor("layer.v1.tar+gzip", &layer.blob))
        .collect();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("config.v1+json", config),
        "layers": layers,
    });
    manifest.to_string().into_bytes()
}

fn blob(layout: &Path, content: &[u8]) -> Result<Blob> {
    let digest = digest(content);
    let path: PathBuf = layout.join("blobs/sha256").join(&digest);
    std::fs::write(&path, content).with_context(|| path.display().to_string())?;
    let size = u64::try_from(content.len())?;
    Ok(Blob { digest, size })
}

fn digest(content: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(content) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Seconds since 1970 as RFC 3339.
pub fn time(epoch: &str) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "+%Y-%m-%dT%H:%M:%SZ", "--date"]);
    let text = capture(date.arg(format!("@{epoch}")))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_certificate_authorities_must_be_asked_for() {
        let system = tempfile::tempdir().unwrap();
        let check = |certificates| {
            let time_zones = true;
            let may_lack = MayLack {
                certificates,
                time_zones,
            };
            check_system(system.path(), may_lack)
        };
        let error = check(false).unwrap_err().to_string();
        assert!(error.contains("--without-certificates"), "{error}");
        check(true).unwrap();
        let file = system.path().join(CERTIFICATES);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        assert!(check(false).is_err(), "an empty file");
        std::fs::write(&file, "x").unwrap();
        check(false).unwrap();
    }

    #[test]
    fn an_image_without_time_zones_must_be_asked_for() {
        let system = tempfile::tempdir().unwrap();
        let file = system.path().join(CERTIFICATES);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "x").unwrap();
        let asked_for = MayLack {
            time_zones: true,
            ..MayLack::default()
        };
        let error = check_system(system.path(), MayLack::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("--without-time-zones"), "{error}");
        check_system(system.path(), asked_for).unwrap();
        let zones = system.path().join(TIME_ZONES);
        std::fs::create_dir_all(&zones).unwrap();
        assert!(
            check_system(system.path(), MayLack::default()).is_err(),
            "empty"
        );
        std::fs::write(zones.join("UTC"), "x").unwrap();
        check_system(system.path(), MayLack::default()).unwrap();
    }
}
