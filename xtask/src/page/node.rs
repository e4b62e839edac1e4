//! The Node versions that can build the page, as required by Vite.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{capture, find_program};

/// Returns Node's version, for display. Fails if Node is missing or too old.
pub fn version() -> Result<String> {
    for program in ["node", "npm"] {
        if find_program(program).is_none() {
            bail!("{program} is not installed: the web UI needs Node 20.19 or newer, with npm");
        }
    }
    let version = capture(Command::new("node").arg("--version"))?;
    let version = version.trim();
    if !is_new_enough(version) {
        bail!("Node is {version}, but the web UI needs 20.19 or newer (for 22: 22.12)");
    }
    Ok(format!("Node {}", version.trim_start_matches('v')))
}

/// Vite 8: `^20.19.0 || >=22.12.0`.
fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split('.');
    let mut number = || numbers.next()?.parse::<u32>().ok();
    match (number(), number()) {
        (Some(20), Some(minor)) => minor >= 19,
        (Some(major), Some(minor)) => (major, minor) >= (22, 12),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vite_runs_on() {
        for version in ["v20.19.0", "v20.20.2", "v22.12.0", "v23.0.0", "v24.1.0"] {
            assert!(is_new_enough(version), "{version}");
        }
        for version in [
            "v18.20.8", "v20.18.9", "v21.7.0", "v22.11.0", "", "v", "node",
        ] {
            assert!(!is_new_enough(version), "{version}");
        }
    }
}
