//! The report of a test run: steps, engines, durations, and omitted parts.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, bail};

/// The maximum number of lines of an error in the summary. The error of a locator contains the
/// expected and the actual value.
const ERROR_LINES: usize = 12;

/// A test that did not pass at its first attempt.
#[derive(Debug, PartialEq)]
pub struct Trouble {
    /// Whether a later attempt passed.
    pub is_flaky: bool,
    pub name: String,
    /// The lines of the first attempt's error.
    pub error: Vec<String>,
}

/// Collected during the run and printed at the end.
#[derive(Default)]
pub struct Report {
    engines: Vec<String>,
    steps: Vec<Step>,
    left_out: Vec<String>,
    declined: Vec<String>,
    flaky: Vec<String>,
    failed: Vec<String>,
}

struct Step {
    name: String,
    took: Duration,
    failure: Option<String>,
}

impl Report {
    /// Records an engine that tests ran on.
    pub fn engine(&mut self, name: &str) {
        self.engines.push(name.to_owned());
    }

    /// Runs a step and records its result. Returns whether it succeeded.
    pub fn step(&mut self, name: &str, action: impl FnOnce() -> Result<()>) -> bool {
        eprintln!("\n=== {name}");
        let start = Instant::now();
        let failure = action().err().map(|error| format!("{error:#}"));
        if let Some(failure) = &failure {
            eprintln!("FAILED {name}: {failure}");
        }
        let is_well = failure.is_none();
        self.steps.push(Step {
            name: name.to_owned(),
            took: start.elapsed(),
            failure,
        });
        is_well
    }

    /// Records an unavailable part. It is printed immediately and at the end, and fails the run in
    /// CI.
    pub fn left_out(&mut self, what: &str, why: &Error) {
        let line = format!("{what}: {why:#}");
        eprintln!("\n!!! LEFT OUT {line}\n");
        self.left_out.push(line);
    }

    /// Adds the records of another thread.
    pub fn add(&mut self, other: Self) {
        self.engines.extend(other.engines);
        self.steps.extend(other.steps);
        self.left_out.extend(other.left_out);
        self.declined.extend(other.declined);
        self.flaky.extend(other.flaky);
        self.failed.extend(other.failed);
    }

    fn trouble(&mut self, found: Trouble) {
        let list = if found.is_flaky {
            &mut self.flaky
        } else {
            &mut self.failed
        };
        let mut text = found.name;
        let lines = found.error.iter().filter(|line| !line.trim().is_empty());
        for line in lines.take(ERROR_LINES) {
            text.push_str("\n    ");
            text.push_str(line);
        }
        list.push(text);
    }

    /// Records the tests that did not pass at their first attempt.
    pub fn troubles(&mut self, tests: Result<Vec<Trouble>>) {
        match tests {
            Ok(tests) => tests.into_iter().for_each(|test| self.trouble(test)),
            Err(error) => eprintln!("which tests failed is unknown: {error:#}"),
        }
    }

    /// Records a step that the caller declined.
    pub fn declined(&mut self, what: &str, why: &str) {
        self.declined.push(format!("{what}: {why}"));
    }

    /// Prints the summary. Fails if a step failed or, with `strict`, if anything was left out.
    pub fn finish(self, strict: bool) -> Result<()> {
        println!("{}", self.summary());
        let failed = self
            .steps
            .iter()
            .filter(|step| step.failure.is_some())
            .count();
        if failed > 0 {
            bail!("cargo xtask test: {failed} step(s) failed");
        }
        if strict && !self.left_out.is_empty() {
            bail!("cargo xtask test: CI is set, but something was left out");
        }
        Ok(())
    }

    fn summary(&self) -> String {
        let mut text = String::from("\n=== cargo xtask test\n");
        for step in &self.steps {
            let word = if step.failure.is_some() {
                "FAILED"
            } else {
                "ok"
            };
            let seconds = step.took.as_secs_f64();
            let _ = writeln!(text, "{word:<8} {seconds:>7.1} s  {}", step.name);
        }
        for (word, lines) in [
            ("on", &self.engines),
            ("skipped", &self.declined),
            ("FLAKY", &self.flaky),
            ("FAILED", &self.failed),
            ("LEFT OUT", &self.left_out),
        ] {
            for line in lines {
                let _ = writeln!(text, "{word:<10}  {line}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::default();
        report.engine("SQLite");
        report.step("one", || Ok(()));
        report
    }

    #[test]
    fn a_failed_step_fails_the_whole_and_the_rest_still_runs() {
        let mut report = report();
        report.step("two", || bail!("broken"));
        report.step("three", || Ok(()));
        let summary = report.summary();
        for line in ["s  one", "s  two", "s  three", "on          SQLite"] {
            assert!(summary.contains(line), "{summary}");
        }
        assert_eq!(summary.matches("FAILED").count(), 1);
        assert!(report.finish(false).is_err());
    }

    #[test]
    fn left_out_fails_only_where_strict() {
        let with_gap = || {
            let mut report = report();
            report.left_out("PostgreSQL", &anyhow::anyhow!("not installed"));
            report
        };
        assert!(
            with_gap()
                .summary()
                .contains("LEFT OUT    PostgreSQL: not installed")
        );
        assert!(with_gap().finish(false).is_ok());
        assert!(with_gap().finish(true).is_err());
    }

    #[test]
    fn tests_that_did_not_pass_at_once_are_named_with_the_first_lines_of_their_error() {
        let mut report = report();
        let error = (1..=20)
            .flat_map(|n| [format!("line {n}"), String::new()])
            .collect();
        report.trouble(Trouble {
            is_flaky: true,
            name: "a.spec.ts: one".to_owned(),
            error,
        });
        let summary = report.summary();
        assert!(
            summary.contains("FLAKY       a.spec.ts: one\n    line 1\n    line 2\n"),
            "{summary}"
        );
        assert!(
            summary.contains("line 12\n") && !summary.contains("line 13"),
            "{summary}"
        );
    }

    #[test]
    fn declined_is_no_failure() {
        let mut report = report();
        report.declined("PostgreSQL", "--no-postgres");
        assert!(report.finish(true).is_ok());
    }
}
