//! `OpenAI`'s clients for Node and Python, for the tests of `crates/gatehouse`.

use std::path::Path;

use anyhow::Result;

use super::{node, python};

/// Copies `tests` to `folder` and installs the clients there: Node modules, and a Python environment in
/// `python`. Returns a description.
pub fn prepare(tests: &Path, folder: &Path) -> Result<String> {
    node::install(tests, folder)?;
    let node = node::version()?;
    let python = python::environment(&folder.join("python"), &tests.join("requirements.txt"))?;
    Ok(format!(
        "OpenAI's clients, on {node} and {}",
        python.version
    ))
}
