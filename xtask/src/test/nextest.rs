//! Reads nextest's `JUnit` report: the tests that did not pass at their first attempt, with their
//! errors.

use anyhow::{Context, Result};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::report::Trouble;

/// Returns the tests in a `JUnit` report that did not pass at their first attempt.
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
                let text = reader.read_text(element.to_end().name())?;
                found.push(Trouble {
                    is_flaky,
                    name: name.clone(),
                    error: error_in(&text)?,
                });
            }
            _ => {}
        }
    }
}

/// Returns the lines before the stack trace and before the output of the test.
fn error_in(text: &str) -> Result<Vec<String>> {
    let (own, _) = text.split_once('<').unwrap_or((text, ""));
    let own = unescape(own)?;
    let lines = own.lines().take_while(|line| *line != "stack backtrace:");
    Ok(lines.map(str::to_owned).collect())
}

fn attribute(of: &BytesStart<'_>, name: &str) -> Result<String> {
    let found = of.try_get_attribute(name)?.context("no such attribute")?;
    Ok(unescape(&found.value)?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortened from a report of nextest 0.9.
    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0">
    <testsuite name="web::it" tests="3" disabled="0" errors="0" failures="1">
        <testcase name="works" classname="web::it" time="0.5"/>
        <testcase name="push::fails" classname="web::it" time="1.0">
            <failure message="thread &apos;push::fails&apos; panicked" type="test failure">thread &apos;push::fails&apos; panicked at a.rs:76:5:
assertion `left == right` failed
  left: &lt;1&gt;
stack backtrace:
   0: begin_unwind</failure>
            <rerunFailure message="again" type="test failure">again
                <system-out>running 1 test</system-out>
            </rerunFailure>
            <system-out>running 1 test</system-out>
        </testcase>
        <testcase name="once" classname="web::it" time="0.2">
            <flakyFailure message="at first" type="test failure">at first
                <system-out>running 1 test</system-out>
            </flakyFailure>
        </testcase>
    </testsuite>
</testsuites>"#;

    #[test]
    fn names_failed_and_repeated_tests_with_the_error_of_the_first_attempt() {
        let found = troubles(REPORT).unwrap();
        let [failed, flaky] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (failed.name.as_str(), failed.is_flaky),
            ("web::it push::fails", false)
        );
        let error = [
            "thread 'push::fails' panicked at a.rs:76:5:",
            "assertion `left == right` failed",
            "  left: <1>",
        ];
        assert_eq!(failed.error, error);
        assert_eq!(
            (flaky.name.as_str(), flaky.is_flaky),
            ("web::it once", true)
        );
        assert_eq!(flaky.error[0], "at first");
    }
}
