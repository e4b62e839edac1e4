//! `CycloneDX` lists of the parts of the binary and the web UI, without times and random numbers.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Job;
use super::binary::Target;
use crate::process::{capture, run};
use crate::python::{self, Python};

/// The author of the lists and of the workspace's crates, as in `maintainer` of the Debian package.
const AUTHORS: &str = "The Gatehouse authors";
/// The distributors of third-party components, by the beginning of the package URL.
const REGISTRIES: [(&str, &str, &str); 2] = [
    ("pkg:cargo/", "crates.io", "https://crates.io"),
    ("pkg:npm/", "npm", "https://www.npmjs.com"),
];
/// The beginning of the identifiers of the workspace's crates.
const OWN: &str = "path+file:";
/// The end of the names of all lists.
const SUFFIX: &str = ".cdx.json";
/// The environment of the program that reads the lists, below the workspace root.
const READER: &str = "target/dist-tools/python";

/// Writes a list for each target's binary, and one for the web UI.
pub fn write(job: &Job<'_>, targets: &[Target]) -> Result<()> {
    for target in targets {
        binary(job, target)?;
    }
    let mut npm = Command::new("npm");
    npm.current_dir(job.root.join("ui")).args([
        "sbom",
        "--sbom-format=cyclonedx",
        "--package-lock-only",
    ]);
    let list = capture(&mut npm).context("npm could not list the packages of the web UI")?;
    save(
        job,
        &list,
        &job.out
            .join(format!("gatehouse-{}-ui{SUFFIX}", job.version)),
    )
}

/// Creates the environment of the program that reads the lists.
pub fn reader(root: &Path) -> Result<Python> {
    let requirements = root.join("xtask/src/release/requirements.txt");
    python::environment(&root.join(READER), &requirements).context("Python reads the SBOMs")
}

/// Reads the lists in `folder` with a third-party program. Fails if a list is invalid or empty.
pub fn read(root: &Path, python: &Python, folder: &Path) -> Result<()> {
    let mut lists = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        if path.to_str().is_some_and(|path| path.ends_with(SUFFIX)) {
            lists.push(path);
        }
    }
    lists.sort();
    ensure!(lists.len() > 1, "the SBOMs are missing");
    let program = root.join("xtask/src/release/read_sbom.py");
    let mut reader = Command::new(&python.program);
    run(reader.arg(program).args(lists)).context("an SBOM cannot be used")
}

/// Adds the author of the list and the supplier of each component. The minimum elements of the NTIA require both, and
/// the tools omit them.
fn name_suppliers(list: &mut Value) {
    let own = json!({ "name": AUTHORS });
    if let Some(metadata) = list.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("authors".to_owned(), json!([own]));
        if let Some(component) = metadata.get_mut("component").and_then(Value::as_object_mut) {
            component.insert("supplier".to_owned(), own.clone());
        }
    }
    let components = list.get_mut("components").and_then(Value::as_array_mut);
    for component in components.into_iter().flatten() {
        let begins = |field: &str, start: &str| {
            let text = component.get(field).and_then(Value::as_str);
            text.is_some_and(|text| text.starts_with(start))
        };
        let supplier = if begins("bom-ref", OWN) {
            Some(own.clone())
        } else {
            let registry = REGISTRIES.iter().find(|(start, ..)| begins("purl", start));
            registry.map(|(_, name, url)| json!({ "name": name, "url": [url] }))
        };
        if let (Some(supplier), Some(fields)) = (supplier, component.as_object_mut()) {
            fields.insert("supplier".to_owned(), supplier);
        }
    }
}

fn binary(job: &Job<'_>, target: &Target) -> Result<()> {
    let name = "gatehouse-sbom";
    let mut command = job.tools.command("cyclonedx");
    command
        .args([
            "--manifest-path",
            "crates/gatehouse/Cargo.toml",
            "--format",
            "json",
        ])
        .args(["--spec-version", "1.5", "--no-build-deps", "--quiet"])
        .args(["--target", &target.triple, "--override-filename", name]);
    job.run(&mut command)?;
    // The tool writes a file next to the manifest of each crate of the workspace.
    let mut list = None;
    for folder in members(job.root)? {
        let file = folder.join(format!("{name}.json"));
        if !file.is_file() {
            continue;
        }
        let text = std::fs::read_to_string(&file)?;
        std::fs::remove_file(&file)?;
        if folder.ends_with("crates/gatehouse") {
            list = Some(text);
        }
    }
    let list = list.context("cargo-cyclonedx wrote no list for the binary")?;
    save(job, &list, &job.artifact(target, SUFFIX))
}

fn members(root: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut folders = vec![root.join("bench"), root.join("xtask")];
    for entry in root.join("crates").read_dir()? {
        folders.push(entry?.path());
    }
    Ok(folders)
}

fn save(job: &Job<'_>, list: &str, to: &Path) -> Result<()> {
    let mut list: Value = serde_json::from_str(list).context("the list is not JSON")?;
    let time = super::image::time(&job.epoch)?;
    let root = job.root.to_str().context("a path is not UTF-8")?;
    if let Some(fields) = list.as_object_mut() {
        fields.remove("serialNumber");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("timestamp".to_owned(), json!(time));
        }
    }
    name_suppliers(&mut list);
    // The identifiers of the workspace's crates contain paths of this machine, which are replaced.
    let text = serde_json::to_string_pretty(&list)?.replace(root, "/build/gatehouse");
    std::fs::write(to, text + "\n").with_context(|| to.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_component_has_a_supplier_and_the_list_an_author() {
        let mut list = json!({
            "metadata": { "component": { "name": "gatehouse" } },
            "components": [
                { "bom-ref": "path+file:///build/gatehouse/crates/vault#gatehouse-vault@0.1.0",
                  "purl": "pkg:cargo/gatehouse-vault@0.1.0?download_url=file://../vault" },
                { "bom-ref": "registry+https://example.com/index#age@0.11.0", "purl": "pkg:cargo/age@0.11.0" },
                { "bom-ref": "marked@1.0.0", "purl": "pkg:npm/marked@1.0.0" },
                { "bom-ref": "other", "purl": "pkg:generic/other@1" },
            ],
        });
        name_suppliers(&mut list);
        let own = json!({ "name": AUTHORS });
        assert_eq!(list["metadata"]["authors"], json!([own]));
        assert_eq!(list["metadata"]["component"]["supplier"], own);
        let suppliers: Vec<_> = list["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|component| component["supplier"]["name"].as_str())
            .collect();
        assert_eq!(
            suppliers,
            [Some(AUTHORS), Some("crates.io"), Some("npm"), None]
        );
    }
}
