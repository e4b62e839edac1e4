//! Reads nextest's JUnit report: which tests did not pass at their first attempt, and why.

use anyhow::{Context, Result};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::report::Trouble;

/// The tests in a JUnit report that did not pass at their first attempt.
pub fn troubles(report: &str) -> Result<Vec<Trouble>> {
    let mut reader = Reader::from_str(report);
    let mut found: Vec<Trouble> = Vec::new();
    let mut name = String::new();
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok(found),
            Event::Start(element) => {
                let is_flaky = match element.name().as_ref() {
                    "testcase" => {
                        let binary = attribute(&element, "classname")?;
                        name = format!("{binary} {}", attribute(&element, "name")?);
                        continue;
                    }
                    "flakyFailure" | "flakyError" => true,
                    "failure" | "error" => false,
                    _ => continue,
                };
                let error = attribute(&element, "message").unwrap_or_default();
                found.push(Trouble {
                    is_flaky,
                    name: name.clone(),
                    error: error.lines().map(str::to_owned).collect(),
                });
            }
            _ => {}
        }
    }
}

fn attribute(of: &BytesStart<'_>, name: &str) -> Result<String> {
    let found = of.try_get_attribute(name)?.context("no such attribute")?;
    Ok(unescape(&found.value)?.into_owned())
}
