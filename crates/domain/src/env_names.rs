//! Names of environment variables that control which code a program runs, which files it loads, or where it
//! connects. `operator.write` is enough to change a value in the vault. Such a value must never reach a program
//! under one of these names: this would turn `operator.write` into code execution.
//!
//! The list covers dynamic loaders, shells, language runtimes, package managers, version control, TLS libraries and
//! proxies. The comparison ignores case, because some consumers (npm, curl's proxies, every program on Windows) do.

mod names;

use names::{BEGINNINGS, CREDENTIALS, ENDS, GO, NAMES};

/// Returns whether a variable with this name controls which code a program runs, which files it loads, or where it
/// connects. Ignores ASCII case.
pub fn steers_a_program(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let name = name.as_str();
    if CREDENTIALS.contains(&name) {
        return false;
    }
    NAMES.contains(&name)
        || GO.contains(&name)
        || BEGINNINGS.iter().any(|part| name.starts_with(part))
        || ENDS.iter().any(|part| name.ends_with(part))
}

#[cfg(test)]
mod tests;
