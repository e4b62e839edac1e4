//! Which crate may import which, and which crate owns which library.

use super::Findings;
use super::metadata::{Metadata, Package};

/// The workspace crates that a crate may import.
#[derive(Clone, Copy)]
enum May {
    /// Only these.
    Import(&'static [&'static str]),
    /// Every crate except these.
    ImportAllBut(&'static [&'static str]),
}

/// Developer tools that nothing in the product may import.
const DEV_ONLY: [&str; 4] = ["testkit", "bench", "fuzz", "xtask"];

/// The crates and their allowed imports, lowest layer first, as drawn in docs/ARCHITECTURE.md.
const ROOMS: [(&str, May); 22] = [
    ("domain", May::Import(&[])),
    ("config", May::Import(&["domain"])),
    ("vault", May::Import(&["domain"])),
    ("store", May::Import(&["domain"])),
    ("secrets", May::Import(&["domain", "vault", "store"])),
    ("auth", May::Import(&["domain", "store", "secrets"])),
    ("outbound", May::Import(&["domain"])),
    (
        "channels",
        May::Import(&["domain", "store", "secrets", "outbound"]),
    ),
    ("models", May::Import(&["domain", "secrets", "outbound"])),
    ("agents", May::Import(&["domain", "store", "models"])),
    (
        "tools",
        May::Import(&["domain", "store", "secrets", "agents", "outbound"]),
    ),
    ("sources", May::Import(&["domain"])),
    (
        "webhooks",
        May::Import(&[
            "domain", "store", "secrets", "agents", "channels", "sources",
        ]),
    ),
    ("audio", May::Import(&["domain"])),
    (
        "voice",
        May::Import(&[
            "domain", "config", "store", "secrets", "agents", "outbound", "audio",
        ]),
    ),
    (
        "services",
        May::ImportAllBut(&["vault", "rpc", "web", "gatehouse"]),
    ),
    ("rpc", May::ImportAllBut(&["vault", "web", "gatehouse"])),
    ("web", May::ImportAllBut(&["gatehouse"])),
    ("gatehouse", May::ImportAllBut(&[])),
    ("testkit", May::ImportAllBut(&[])),
    ("bench", May::ImportAllBut(&[])),
    ("xtask", May::ImportAllBut(&[])),
];

/// A library that only certain crates may use.
struct Kept {
    library: &'static str,
    rooms: &'static [&'static str],
    /// Whether tests of other crates may use it.
    for_tests: bool,
    why: &'static str,
}

const LIBRARIES: [Kept; 3] = [
    Kept {
        library: "axum",
        rooms: &["web", "testkit", "bench"],
        for_tests: true,
        why: "only `web` serves HTTP (tests and bench act as vendors)",
    },
    Kept {
        library: "rusqlite",
        rooms: &["store"],
        for_tests: false,
        why: "only `store` uses SQL",
    },
    Kept {
        library: "tokio-postgres",
        rooms: &["store"],
        for_tests: false,
        why: "only `store` uses SQL",
    },
];

/// A crate's name without our prefix.
fn room(name: &str) -> &str {
    name.strip_prefix("gatehouse-").unwrap_or(name)
}

fn is_ours(name: &str) -> bool {
    name == "gatehouse" || name == "xtask" || name.starts_with("gatehouse-")
}

/// Checks that every dependency between workspace crates is allowed. Tests may also use the testkit, their
/// own crate with other features, and any crate of a lower layer.
pub fn check(metadata: &Metadata) -> Findings {
    let mut findings = Findings::default();
    for package in metadata.members() {
        let Some((_, may)) = ROOMS.iter().find(|(name, _)| *name == room(&package.name)) else {
            findings
                .wrong
                .push(format!("{}: not listed in ROOMS", package.name));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|found| is_ours(&found.name))
        {
            let dev = dependency.kind.as_deref() == Some("dev");
            if !allowed(room(&package.name), *may, room(&dependency.name), dev) {
                findings.wrong.push(format!(
                    "{} must not depend on {}",
                    package.name, dependency.name
                ));
            }
        }
    }
    findings
}

fn allowed(from: &str, may: May, to: &str, dev: bool) -> bool {
    if dev && (to == "testkit" || to == from || is_below(to, from)) {
        return true;
    }
    if DEV_ONLY.contains(&to) && !DEV_ONLY.contains(&from) {
        return false;
    }
    match may {
        May::Import(rooms) => rooms.contains(&to),
        May::ImportAllBut(rooms) => !rooms.contains(&to),
    }
}

/// Whether a crate comes before another in [`ROOMS`]. Tests may use everything below their crate.
fn is_below(lower: &str, upper: &str) -> bool {
    let place = |room: &str| ROOMS.iter().position(|(name, _)| *name == room);
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
        let Kept { library, why, .. } = kept;
        let family = format!("{library}-");
        for dependency in &package.dependencies {
            let found = &dependency.name;
            let in_test = kept.for_tests && dependency.kind.as_deref() == Some("dev");
            if (found == library || found.starts_with(&family))
                && !in_test
                && !kept.rooms.contains(&room(&package.name))
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

    fn house(from: &str, to: &str, kind: Option<&str>) -> Metadata {
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
        check(&house(from, to, kind)).wrong.is_empty()
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
    fn libraries_stay_in_their_room() {
        let foreign = |from, to| check_libraries(&house(from, to, None)).wrong.len();
        assert_eq!(foreign("gatehouse-web", "axum"), 0);
        assert_eq!(foreign("gatehouse-rpc", "axum-core"), 1);
        assert_eq!(foreign("gatehouse-store", "rusqlite"), 0);
        assert_eq!(foreign("gatehouse-testkit", "rusqlite"), 1);
        assert_eq!(foreign("gatehouse-rpc", "axumatic"), 0);
        let in_tests = |from, to| check_libraries(&house(from, to, Some("dev"))).wrong.len();
        assert_eq!(in_tests("gatehouse-models", "axum"), 0);
        assert_eq!(in_tests("gatehouse-models", "rusqlite"), 1);
    }

    #[test]
    fn a_room_imports_only_rooms_of_the_plan() {
        let named = |room: &&str| ROOMS.iter().any(|(name, _)| name == room) || *room == "fuzz";
        for (_, may) in ROOMS {
            let (May::Import(rooms) | May::ImportAllBut(rooms)) = may;
            assert!(rooms.iter().all(named), "{rooms:?}");
        }
    }
}
