//! `cargo xtask test`: everything that CI runs, starting from a fresh Debian machine. Prepares the engines
//! and tools that tests use, runs every step even if an earlier one failed, and prints a summary.

mod apt;
pub mod browser;
mod doctests;
mod node;
mod openai;
mod page;
mod postgres;
pub mod python;
mod report;
mod voice;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::check::Metadata;
use crate::gauntlet::Gauntlet;
use crate::page::Page;
use crate::process::{cargo, find_program, is_set, run as run_command};
use crate::{check, generate};
use report::Report;

/// Arguments of `test`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only the tests that match, and no other step (a nextest filter expression)
    #[arg(long, value_name = "EXPR")]
    filter: Option<String>,
    /// Leave out PostgreSQL
    #[arg(long)]
    no_postgres: bool,
}

/// The variable with the URL of the temporary PostgreSQL server, with a superuser and a database.
const POSTGRES: &str = "GATEHOUSE_TEST_POSTGRES_URL";
/// The variable with the Python interpreter that has the packages in `crates/vault/tests/requirements.txt`.
const PYTHON: &str = "GATEHOUSE_TEST_PYTHON";
/// The variable with the path of Chromium.
const CHROMIUM: &str = "GATEHOUSE_TEST_CHROMIUM";
/// The variable with the directory of the browser tests, copied next to the modules they import.
const BROWSER: &str = "GATEHOUSE_TEST_BROWSER_DIR";
/// The variable with the directory of the speech programs (`bin`) and their models (`models`).
const VOICE: &str = "GATEHOUSE_TEST_VOICE";
/// The variable with the directory of `OpenAI`'s clients and the scripts that use them.
const OPENAI: &str = "GATEHOUSE_TEST_OPENAI_CLIENTS";
/// If this variable is 1, a test without its engine fails instead of being skipped.
const STRICT: &str = "GATEHOUSE_TEST_STRICT";

/// Prepares, runs and reports. Fails if a step failed and, in CI, if anything was left out.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let strict = is_set("CI");
    let target = Metadata::load(root)?.target_directory;
    let mut session = Session {
        root,
        environment: Vec::new(),
        report: Report::default(),
    };
    if strict {
        session.set(STRICT, "1");
    }
    session.report.engine("SQLite, embedded");
    // Held until the function returns, because dropping it stops the server.
    let _server = session.prepare_postgres(args.no_postgres);
    session.prepare_openssh();
    session.prepare_python(&target);
    session.prepare_webhooks(&target);
    session.prepare_voice(&target);
    session.prepare_openai(&target);
    let browser = session.prepare_browser(&target);
    // Built before the Rust code that embeds or reads it.
    let page = session.prepare_page();
    match &args.filter {
        Some(filter) => session.tests(Some(filter)),
        None => session.everything(&target, page.as_ref(), browser.as_deref())?,
    }
    session.report.finish(strict)
}

struct Session<'a> {
    root: &'a Path,
    environment: Vec<(&'static str, String)>,
    report: Report,
}

impl Session<'_> {
    fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.environment.push((name, value.into()));
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo(self.root);
        command
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn step(&mut self, name: &str, arguments: &[&str]) {
        let mut command = self.cargo(arguments);
        self.report.step(name, || run_command(&mut command));
    }

    fn prepare_postgres(&mut self, unwanted: bool) -> Option<postgres::Server> {
        if unwanted {
            // Empty rather than unset, so that a server from the caller's environment is not used either.
            self.set(POSTGRES, "");
            self.report.declined("PostgreSQL", "--no-postgres");
            return None;
        }
        if std::env::var(POSTGRES).is_ok_and(|url| !url.is_empty()) {
            self.report.engine(&format!("PostgreSQL from {POSTGRES}"));
            return None;
        }
        match postgres::start() {
            Ok(server) => {
                self.report
                    .engine(&format!("{}, temporary", server.version));
                self.set(POSTGRES, server.url.clone());
                Some(server)
            }
            Err(error) => {
                self.report.left_out("PostgreSQL", &error);
                None
            }
        }
    }

    /// Prepares the programs that the tests of the SSH agent run.
    fn prepare_openssh(&mut self) {
        let installed = match find_program("ssh-add") {
            Some(_) => Ok(()),
            None => apt::install(&["openssh-client"]),
        };
        match installed {
            Ok(()) => self.report.engine("OpenSSH's client"),
            Err(error) => self.report.left_out("OpenSSH's client", &error),
        }
    }

    fn prepare_python(&mut self, target: &Path) {
        let requirements = self.root.join("crates/vault/tests/requirements.txt");
        if !requirements.is_file() {
            return;
        }
        match python::environment(&target.join("test-venv"), &requirements) {
            Ok(python) => {
                self.report.engine(&python.version);
                self.set(PYTHON, python.program.to_string_lossy());
            }
            Err(error) => self.report.left_out("tests in Python", &error),
        }
    }

    /// Prepares third-party webhook libraries and examples that our webhooks are tested against.
    fn prepare_webhooks(&mut self, target: &Path) {
        for (what, name, variable) in node::WEBHOOKS {
            let tests = self.root.join("tests").join(name);
            if !tests.join("package.json").is_file() {
                continue;
            }
            let folder = target.join(format!("test-{name}"));
            match node::install(&tests, &folder).and_then(|()| node::version()) {
                Ok(version) => {
                    self.report.engine(&format!("{what}, on {version}"));
                    self.set(variable, folder.to_string_lossy());
                }
                Err(error) => self.report.left_out(what, &error),
            }
        }
    }

    /// Prepares the programs for text to speech and speech to text.
    fn prepare_voice(&mut self, target: &Path) {
        let tests = self.root.join("tests/voice-programs");
        let folder = target.join("test-voice");
        match voice::prepare(&tests, &folder) {
            Ok(programs) => {
                self.report.engine(&programs);
                self.set(VOICE, folder.to_string_lossy());
            }
            Err(error) => self.report.left_out("voice programs", &error),
        }
    }

    /// Prepares third-party clients that use speech through the gateway.
    fn prepare_openai(&mut self, target: &Path) {
        let tests = self.root.join("tests/openai-clients");
        let folder = target.join("test-openai-clients");
        match openai::prepare(&tests, &folder) {
            Ok(clients) => {
                self.report.engine(&clients);
                self.set(OPENAI, folder.to_string_lossy());
            }
            Err(error) => self.report.left_out("OpenAI's clients", &error),
        }
    }

    /// Prepares the directory to run the browser tests in, if there are any.
    fn prepare_browser(&mut self, target: &Path) -> Option<std::path::PathBuf> {
        let tests = self.root.join("tests/browser");
        if !tests.join("package.json").is_file() {
            return None;
        }
        match browser::prepare(&tests, &target.join("test-browser")) {
            Ok(browser) => {
                self.report.engine(&browser.version);
                self.set(CHROMIUM, browser.chromium.to_string_lossy());
                self.set(BROWSER, browser.folder.to_string_lossy());
                Some(browser.folder)
            }
            Err(error) => {
                self.report.left_out("tests in a browser", &error);
                None
            }
        }
    }

    /// All steps use one profile and one set of features, so the tests and generators reuse what `build`
    /// builds and the clippy steps share nearly every dependency.
    fn everything(
        &mut self,
        target: &Path,
        page: Option<&Page>,
        browser: Option<&Path>,
    ) -> Result<()> {
        self.step("format", &["fmt", "--all", "--check"]);
        let root = self.root;
        self.report.step("repository rules", || check::run(root));
        let deny = ["--", "-D", "warnings"];
        let clippy = ["clippy", "--locked"];
        let all = ["--workspace", "--all-targets"];
        self.step("lints", &[&clippy[..], &all, &deny].concat());
        // With the tests, every crate gets the features that tests enable. Check it without them too.
        let shipped = [&clippy[..], &["--package", "gatehouse"]].concat();
        self.step(
            "lints with default features",
            &[&shipped[..], &deny].concat(),
        );
        let name = "lints without the features vault and voice";
        let without = ["--no-default-features"];
        self.step(name, &[&shipped[..], &without, &deny].concat());
        self.step(
            "build",
            &["build", "--locked", "--workspace", "--bins", "--tests"],
        );
        self.tests(None);
        for package in doctests::packages(root)? {
            let name = format!("doctests of {package}");
            self.step(&name, &["test", "--locked", "--doc", "--package", &package]);
        }
        let binary = target.join("debug/gatehouse");
        self.report.step("generated files", || {
            generate::check(root, Command::new(&binary))
        });
        self.gauntlet(target, &binary);
        if let Some(page) = page {
            self.check_page(page);
        }
        if let Some(folder) = browser.filter(|folder| browser::has_tests(folder)) {
            self.browser(folder, &binary, page.is_some());
        }
        Ok(())
    }

    /// Runs published attacks against the binary, after a test that each attack can succeed.
    fn gauntlet(&mut self, target: &Path, binary: &Path) {
        let gauntlet = match Gauntlet::prepare(self.root, target) {
            Ok(gauntlet) => gauntlet,
            Err(error) => return self.report.left_out("the gauntlet", &error),
        };
        let binary = binary.to_string_lossy().into_owned();
        self.report
            .step("gauntlet: self-test", || gauntlet.run(&["--self-test"]));
        self.report.step("gauntlet", || {
            gauntlet.run(&["--check", "--target", &binary])
        });
    }

    /// Runs the browser tests of the web UI that the binary serves.
    fn browser(&mut self, folder: &Path, binary: &Path, has_page: bool) {
        if !has_page {
            let why = anyhow::anyhow!("the web UI is not built");
            return self.report.left_out("tests in a browser", &why);
        }
        self.report.step("browser: types", || {
            let mut npm = Command::new("npm");
            run_command(npm.args(["run", "check"]).current_dir(folder)).context("npm run check")
        });
        let mut npm = Command::new("npm");
        npm.args(["test"]).current_dir(folder);
        npm.envs(self.environment.iter().map(|(name, value)| (name, value)));
        npm.env("GATEHOUSE_TEST_BINARY", binary);
        self.report
            .step("browser", || run_command(&mut npm).context("npm test"));
    }

    fn tests(&mut self, filter: Option<&str>) {
        if find_program("cargo-nextest").is_some() {
            let filter = filter.map(|filter| ["-E", filter]);
            let filter = filter.as_ref().map_or(&[][..], |filter| &filter[..]);
            let all = [
                "nextest",
                "run",
                "--locked",
                "--workspace",
                "--no-fail-fast",
            ];
            self.step("tests", &[&all[..], filter].concat());
        } else {
            let filter = filter.as_slice();
            let all = [
                "test",
                "--locked",
                "--workspace",
                "--no-fail-fast",
                "--bins",
                "--lib",
            ];
            self.step("tests", &[&all[..], &["--tests"], filter].concat());
        }
    }
}
