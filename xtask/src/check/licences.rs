//! Checks licenses and banned crates offline: applies `deny.toml` to the crates of the binary.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use super::Findings;
use super::dependencies::RunTime;
use super::metadata::Metadata;

/// The part of `deny.toml` that is read here. cargo-deny reads the same file.
#[derive(Deserialize)]
pub struct Policy {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// Additional licenses for one crate.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

impl Policy {
    /// Reads the workspace's policy.
    pub fn load(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join("deny.toml")).context("deny.toml")?;
        toml::from_str(&text).context("deny.toml")
    }

    /// Returns whether a crate with this license expression may be shipped. For `OR`, one side must be allowed, for
    /// `AND` both. An exception (`WITH`) only adds permissions to its license.
    pub fn allows(&self, name: &str, expression: &str) -> Result<bool> {
        let of_crate = |exception: &&Exception| exception.name == name;
        let exceptions = self.licenses.exceptions.iter().filter(of_crate);
        let allowed: Vec<&String> = self
            .licenses
            .allow
            .iter()
            .chain(exceptions.flat_map(|exception| &exception.allow))
            .collect();
        let expression = Expression::parse_mode(expression, ParseMode::LAX)
            .map_err(|error| anyhow::anyhow!("{expression}: {}", error.reason))?;
        Ok(expression.evaluate(|wanted| {
            wanted
                .license
                .id()
                .is_some_and(|id| allowed.iter().any(|allowed| *allowed == id.name))
        }))
    }
}

/// Checks every crate of the binary. Includes procedural macros, because their output is shipped.
pub fn check(policy: &Policy, tree: &RunTime, metadata: &Metadata) -> Findings {
    let mut findings = Findings::default();
    for (name, version) in &tree.with_macros {
        if let Some(ban) = policy.bans.deny.iter().find(|ban| ban.name == *name) {
            findings
                .wrong
                .push(format!("{name} {version} is banned: {}", ban.reason));
        }
        let package = metadata
            .packages
            .iter()
            .find(|package| package.name == *name && package.version == *version);
        let Some(license) = package.and_then(|package| package.license.as_deref()) else {
            findings
                .wrong
                .push(format!("{name} {version} declares no license"));
            continue;
        };
        match policy.allows(name, license) {
            Ok(true) => {}
            Ok(false) => findings
                .wrong
                .push(format!("{name} {version}: {license} is not allowed")),
            Err(error) => findings.wrong.push(format!("{name} {version}: {error:#}")),
        }
    }
    findings.notes.push(format!(
        "{} crates against deny.toml",
        tree.with_macros.len()
    ));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let policy = Policy {
            licenses: Licenses {
                allow: vec!["MIT".into(), "Apache-2.0".into()],
                exceptions: vec![Exception {
                    name: "lame".into(),
                    allow: vec!["LGPL-3.0".into()],
                }],
            },
            bans: Bans { deny: Vec::new() },
        };
        let cases = [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 / MIT", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("OpenSSL OR MIT", true),
            ("OpenSSL", false),
            ("MIT AND OpenSSL", false),
            ("AGPL-3.0-only", false),
            ("(MIT OR GPL-3.0-only) AND Apache-2.0", true),
        ];
        for (expression, allowed) in cases {
            let allows = policy.allows("other", expression).unwrap();
            assert_eq!(allows, allowed, "{expression}");
        }
        assert!(policy.allows("lame", "LGPL-3.0").unwrap());
        assert!(policy.allows("lame", "MIT").unwrap());
        assert!(!policy.allows("lame", "GPL-3.0-only").unwrap());
        assert!(!policy.allows("other", "LGPL-3.0").unwrap());
        assert!(policy.allows("other", "not a licence").is_err());
    }

    #[test]
    fn names_what_is_banned_unknown_or_forbidden() {
        let text = "[licenses]\nallow = [\"MIT\"]\n\
                    [bans]\ndeny = [{ crate = \"bad\", reason = \"because\" }]\n";
        let policy: Policy = toml::from_str(text).unwrap();
        let crate_of = |name: &str| (name.to_owned(), "1.0.0".to_owned());
        let crates = ["bad", "good", "lost", "viral"].map(crate_of);
        let tree = RunTime {
            linked: crates.clone().into(),
            with_macros: crates.into(),
        };
        let package = |name: &str, license: &str| {
            serde_json::json!({"id": name, "name": name, "version": "1.0.0",
                               "license": license, "dependencies": []})
        };
        let metadata: Metadata = serde_json::from_value(serde_json::json!({
            "packages": [package("bad", "MIT"), package("good", "MIT"), package("viral", "GPL-3.0-only")],
            "workspace_members": [], "target_directory": "target",
        }))
        .unwrap();
        let expected = [
            "bad 1.0.0 is banned: because",
            "lost 1.0.0 declares no license",
            "viral 1.0.0: GPL-3.0-only is not allowed",
        ];
        assert_eq!(check(&policy, &tree, &metadata).wrong, expected);
    }
}
