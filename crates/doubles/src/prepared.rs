//! Third-party programs and files that the test command prepares. If one is missing, a test that needs it is skipped
//! with a notice. In a strict run (`GATEHOUSE_TEST_STRICT=1`, as in continuous integration), the test fails instead.

use std::path::{Path, PathBuf};

/// Returns the path in this environment variable. `what` names the program or file in the notice
/// about a missing path.
pub fn prepared(variable: &str, what: &str) -> Option<PathBuf> {
    prepared_if(variable, what, |_| true)
}

/// Like [`prepared`], for a program that must also be usable, such as an interpreter with certain packages.
#[expect(
    clippy::disallowed_methods,
    reason = "the variables of the test command, not settings"
)]
pub fn prepared_if(
    variable: &str,
    what: &str,
    is_usable: impl FnOnce(&Path) -> bool,
) -> Option<PathBuf> {
    let found = std::env::var_os(variable).filter(|path| !path.is_empty());
    let found = found.map(PathBuf::from).filter(|path| is_usable(path));
    if found.is_none() {
        println!("LEFT OUT: {what}; set {variable}, or run cargo xtask test");
        let strict = std::env::var_os("GATEHOUSE_TEST_STRICT").is_some_and(|value| value == "1");
        assert!(
            !strict,
            "GATEHOUSE_TEST_STRICT=1 and {variable} has no {what}"
        );
    }
    found
}
