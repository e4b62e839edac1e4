//! `OpenAI`'s own clients, for Node and Python, for the tests of `crates/gatehouse`.

use std::path::Path;

use anyhow::Result;

use super::{node, python};

/// Makes `folder` a copy of `tests` with the clients installed: Node modules there, and a Python
/// environment in its `python`. What it is, in words.
pub fn prepare(tests: &Path, folder: &Path) -> Result<String> {
    node::install(tests, folder)?;
    let node = node::version()?;
    let python = python::environment(&folder.join("python"), &tests.join("requirements.txt"))?;
    Ok(format!(
        "OpenAI's clients, on {node} and {}",
        python.version
    ))
}
