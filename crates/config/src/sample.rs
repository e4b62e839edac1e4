//! The sample file: every setting with its default, commented out.

use crate::alias;
use crate::key::KeySpec;
use crate::key_table::describe;
use std::fmt::Write as _;

const HEAD: &str = "\
## Settings of Gatehouse. Each line shows the default, or an example if there is no default. Remove
## one # to set it. An environment variable SERVICE_<SECTION>__<KEY> overrides this file.
";

/// Returns the sample file. Removing the first `#` of every line gives a valid file.
pub fn sample() -> String {
    let mut text = HEAD.to_owned();
    let mut section = String::new();
    for spec in describe() {
        let key = spec.sample_key();
        let Some((table, name)) = key.rsplit_once('.') else {
            continue;
        };
        if table != section {
            table.clone_into(&mut section);
            let _ = writeln!(text, "\n#[{table}]");
            if let Some(other) = alias::other_spelling(table) {
                let _ = writeln!(text, "## Or [{other}].");
            }
        }
        let _ = writeln!(text, "## {}\n#{name} = {}", spec.doc, in_toml(spec));
    }
    text
}

/// Returns the default in TOML. All existing defaults have the same spelling in JSON and TOML.
fn in_toml(spec: &KeySpec) -> String {
    match spec.default_json() {
        serde_json::Value::Null => spec.example.to_owned(),
        value => value.to_string(),
    }
}
