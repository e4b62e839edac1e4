//! Which crate may import which, and which crate owns which library.

use super::Findings;
use super::metadata::{Metadata, Package};

/// The workspace crates that a crate may import.
#[derive(Clone, Copy)]
enum AllowedImports {
    /// These crates only.
    Import(&'static [&'static str]),
    /// Every crate except these.
    ImportAllBut(&'static [&'static str]),
}

/// Developer tools that nothing in the product may import.
const DEV_ONLY: [&str; 5] = ["doubles", "testkit", "bench", "fuzz", "xtask"];

/// The crates and their allowed imports, lowest layer first, as drawn in docs/ARCHITECTURE.md.
const CRATES: [(&str, AllowedImports); 24] = [
    ("domain", AllowedImports::Import(&[])),
    ("config", AllowedImports::Import(&["domain"])),
    ("vault", AllowedImports::Import(&["domain"])),
    ("store", AllowedImports::Import(&["domain"])),
    ("backup", AllowedImports::Import(&["domain", "store"])),
    (
        "secrets",
        AllowedImports::Import(&["domain", "vault", "store"]),
    ),
    (
        "auth",
        AllowedImports::Import(&["domain", "config", "store", "secrets"]),
    ),
    ("outbound", AllowedImports::Import(&["domain"])),
    (
        "channels",
        AllowedImports::Import(&["domain", "store", "secrets", "outbound"]),
    ),
    (
        "models",
        AllowedImports::Import(&["domain", "config", "secrets", "outbound"]),
    ),
    (
        "agents",
        AllowedImports::Import(&["domain", "store", "models"]),
    ),
    (
        "tools",
        AllowedImports::Import(&["domain", "config", "store", "secrets", "agents", "outbound"]),
    ),
    ("sources", AllowedImports::Import(&["domain"])),
    (
        "webhooks",
        AllowedImports::Import(&[
            "domain", "config", "store", "secrets", "agents", "channels", "sources",
        ]),
    ),
    ("audio", AllowedImports::Import(&["domain"])),
    (
        "voice",
        AllowedImports::Import(&[
            "domain", "config", "store", "secrets", "agents", "outbound", "audio",
        ]),
    ),
    (
        "services",
        AllowedImports::ImportAllBut(&["vault", "rpc", "web", "gatehouse"]),
    ),
    (
        "rpc",
        AllowedImports::ImportAllBut(&["vault", "web", "gatehouse"]),
    ),
    ("web", AllowedImports::ImportAllBut(&["gatehouse"])),
    ("gatehouse", AllowedImports::ImportAllBut(&[])),
    ("doubles", AllowedImports::Import(&[])),
    ("testkit", AllowedImports::ImportAllBut(&[])),
    ("bench", AllowedImports::ImportAllBut(&[])),
    ("xtask", AllowedImports::ImportAllBut(&[])),
];

/// A library that only certain crates may use.
struct RestrictedLibrary {
    library: &'static str,
    crates: &'static [&'static str],
    /// Whether tests of other crates may use it.
    for_tests: bool,
    why: &'static str,
}

const LIBRARIES: [RestrictedLibrary; 3] = [
    RestrictedLibrary {
        library: "axum",
        crates: &["web", "doubles", "testkit", "bench"],
        for_tests: true,
        why: "only `web` serves HTTP (tests and bench act as vendors)",
    },
    RestrictedLibrary {
        library: "rusqlite",
        crates: &["store"],
        for_tests: false,
        why: "only `store` uses SQL",
    },
    RestrictedLibrary {
        library: "tokio-postgres",
        crates: &["store"],
        for_tests: false,
        why: "only `store` uses SQL",
    },
];

/// Returns a crate's name without our prefix.
fn short_name(name: &str) -> &str {
    name.strip_prefix("gatehouse-").unwrap_or(name)
}

fn is_ours(name: &str) -> bool {
    name == "gatehouse" || name == "xtask" || name.starts_with("gatehouse-")
}

/// Checks that every dependency between workspace crates is allowed. Tests may also use the doubles, the testkit, their
/// own crate with other features, and any crate of a lower layer.
pub fn check(metadata: &Metadata) -> Findings {
    let mut findings = Findings::default();
    for package in metadata.members() {
        let Some((_, may)) = CRATES
            .iter()
            .find(|(name, _)| *name == short_name(&package.name))
        else {
            findings
                .wrong
                .push(format!("{}: not listed in CRATES", package.name));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|found| is_ours(&found.name))
        {
            let dev = dependency.kind.as_deref() == Some("dev");
            if !allowed(
                short_name(&package.name),
                *may,
                short_name(&dependency.name),
                dev,
            ) {
                findings.wrong.push(format!(
                    "{} must not depend on {}",
                    package.name, dependency.name
                ));
            }
        }
    }
    findings
}

fn allowed(from: &str, may: AllowedImports, to: &str, dev: bool) -> bool {
    if dev && (["doubles", "testkit"].contains(&to) || to == from || is_below(to, from)) {
        return true;
    }
    if DEV_ONLY.contains(&to) && !DEV_ONLY.contains(&from) {
        return false;
    }
    match may {
        AllowedImports::Import(crates) => crates.contains(&to),
        AllowedImports::ImportAllBut(crates) => !crates.contains(&to),
    }
}

/// Returns whether a crate comes before another in [`CRATES`]. Tests may use everything below their
/// crate.
fn is_below(lower: &str, upper: &str) -> bool {
    let place = |short_name: &str| CRATES.iter().position(|(name, _)| *name == short_name);
    place(lower).zip(place(upper)).is_some_and(|(a, b)| a < b)
}

/// Checks that only the owning crates depend on a library or its family (`axum-extra`).
pub fn check_libraries(metadata: &Metadata) -> Findings {
    let wrong = metadata.members().flat_map(foreign_libraries).collect();
    Findings {
        wrong,
        notes: Vec::new(),
    }
}

fn foreign_libraries(package: &Package) -> Vec<String> {
    let mut wrong = Vec::new();
    for kept in LIBRARIES {
        let RestrictedLibrary { library, why, .. } = kept;
        let family = format!("{library}-");
        for dependency in &package.dependencies {
            let found = &dependency.name;
            let in_test = kept.for_tests && dependency.kind.as_deref() == Some("dev");
            if (found == library || found.starts_with(&family))
                && !in_test
                && !kept.crates.contains(&short_name(&package.name))
            {
                wrong.push(format!(
                    "{} must not depend on {found}: {why}",
                    package.name
                ));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::super::metadata::Dependency;
    use super::*;

    fn metadata_of(from: &str, to: &str, kind: Option<&str>) -> Metadata {
        let dependency = Dependency {
            name: to.into(),
            kind: kind.map(Into::into),
        };
        let package = Package {
            id: "it".into(),
            name: from.into(),
            version: "1.0.0".into(),
            license: None,
            dependencies: vec![dependency],
        };
        Metadata {
            packages: vec![package],
            workspace_members: vec!["it".into()],
            target_directory: "target".into(),
        }
    }

    fn ok(from: &str, to: &str, kind: Option<&str>) -> bool {
        check(&metadata_of(from, to, kind)).wrong.is_empty()
    }

    #[test]
    fn arrows_of_the_plan() {
        assert!(ok("gatehouse-secrets", "gatehouse-vault", None));
        assert!(ok("gatehouse-web", "gatehouse-rpc", None));
        assert!(ok("gatehouse", "gatehouse-web", None));
        assert!(!ok("gatehouse-vault", "gatehouse-store", None));
        assert!(!ok("gatehouse-vault", "gatehouse-store", Some("dev")));
        assert!(ok("gatehouse-agents", "gatehouse-outbound", Some("dev")));
        assert!(!ok("gatehouse-agents", "gatehouse-outbound", None));
        assert!(!ok("gatehouse-agents", "gatehouse-webhooks", Some("dev")));
        assert!(!ok("gatehouse-rpc", "gatehouse-web", None));
        assert!(!ok("gatehouse-auth", "gatehouse-vault", Some("build")));
        assert!(!ok("gatehouse-unknown", "serde", None));
    }

    #[test]
    fn the_testkit_is_for_tests() {
        assert!(ok("gatehouse-domain", "gatehouse-testkit", Some("dev")));
        assert!(ok("gatehouse-store", "gatehouse-store", Some("dev")));
        assert!(!ok("gatehouse", "gatehouse-testkit", None));
        assert!(!ok("gatehouse-domain", "gatehouse-testkit", None));
    }

    #[test]
    fn libraries_stay_in_their_crate() {
        let foreign = |from, to| check_libraries(&metadata_of(from, to, None)).wrong.len();
        assert_eq!(foreign("gatehouse-web", "axum"), 0);
        assert_eq!(foreign("gatehouse-rpc", "axum-core"), 1);
        assert_eq!(foreign("gatehouse-store", "rusqlite"), 0);
        assert_eq!(foreign("gatehouse-testkit", "rusqlite"), 1);
        assert_eq!(foreign("gatehouse-rpc", "axumatic"), 0);
        let in_tests = |from, to| {
            check_libraries(&metadata_of(from, to, Some("dev")))
                .wrong
                .len()
        };
        assert_eq!(in_tests("gatehouse-models", "axum"), 0);
        assert_eq!(in_tests("gatehouse-models", "rusqlite"), 1);
    }

    #[test]
    fn a_crate_imports_only_crates_of_the_plan() {
        let named = |short_name: &&str| {
            CRATES.iter().any(|(name, _)| name == short_name) || *short_name == "fuzz"
        };
        for (_, may) in CRATES {
            let (AllowedImports::Import(crates) | AllowedImports::ImportAllBut(crates)) = may;
            assert!(crates.iter().all(named), "{crates:?}");
        }
    }
}
