//! Clients of other products for Node and Python, for the tests of `crates/gatehouse` and `crates/models`.

use std::path::Path;

use anyhow::Result;

use super::node;
use crate::python;

/// The clients: a description, the directory in `tests`, and the variable with the path of the copy.
pub const CLIENTS: [(&str, &str, &str); 3] = [
    (
        "Anthropic's clients",
        "anthropic-clients",
        "GATEHOUSE_TEST_ANTHROPIC_CLIENTS",
    ),
    (
        "OpenAI's clients",
        "openai-clients",
        "GATEHOUSE_TEST_OPENAI_CLIENTS",
    ),
    ("MCP clients", "mcp-clients", "GATEHOUSE_TEST_MCP_CLIENTS"),
];

/// Copies `tests` to `folder` and installs the clients there: Node modules, and a Python environment in
/// `python`. Returns the versions of Node and Python.
pub fn prepare(tests: &Path, folder: &Path) -> Result<String> {
    node::install(tests, folder)?;
    let node = node::version()?;
    let python = python::environment(&folder.join("python"), &tests.join("requirements.txt"))?;
    Ok(format!("{node} and {}", python.version))
}
