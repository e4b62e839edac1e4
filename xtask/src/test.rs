//! `cargo xtask test`: everything that CI runs, starting from a fresh Debian machine. Prepares the engines
//! and tools that tests use, runs every step even if an earlier one failed, and prints a summary.

pub mod browser;
mod changed;
mod clients;
mod deploy;
mod doctests;
mod engines;
mod nextest;
mod node;
mod page;
mod postgres;
mod prometheus;
mod report;
mod servers;
mod voice;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context, Result, anyhow, ensure};

use crate::check::Metadata;
use crate::gauntlet::Gauntlet;
use crate::process::{cargo, find_program, is_set, run as run_command};
use crate::{check, generate};
use changed::{Affected, BINARY};
use report::Report;

/// Arguments of `test`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only the tests that match, and no other step (a nextest filter expression)
    #[arg(long, value_name = "EXPR")]
    filter: Option<String>,
    /// Run only what the difference from this branch can break: the tests of the changed crates and their dependents,
    /// and the page's tests if it changed
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "main", conflicts_with = "filter")]
    changed: Option<String>,
    /// Leave out PostgreSQL
    #[arg(long)]
    no_postgres: bool,
}

/// If this variable is 1, a test without its engine fails instead of being skipped.
const STRICT: &str = "GATEHOUSE_TEST_STRICT";

/// Prepares, runs and reports. Fails if a step failed. In CI, also fails if anything was left out.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let strict = is_set("CI");
    let metadata = Metadata::load(root)?;
    let affected = match &args.changed {
        Some(base) => Affected::since(root, base, &metadata)?,
        None => Affected::everything(),
    };
    let target = metadata.target_directory;
    let mut session = Session::new(root);
    if strict {
        session.set(STRICT, "1");
    }
    if let Some(base) = &args.changed {
        let what = format!("what the difference from {base} cannot break");
        session.report.declined(&what, "--changed");
    }
    session.report.engine("SQLite, embedded");
    let has_page_checks = args.filter.is_none() && affected.has_page();
    let has_gauntlet = args.filter.is_none() && affected.has(BINARY);
    thread::scope(|scope| {
        let engines = scope.spawn(|| {
            let mut engines = Session::new(root);
            // A debug build reads the page at run time, so the page need not be complete when the
            // build starts.
            let page = engines.prepare_page();
            engines.prepare_engines(&target, args.no_postgres);
            if let Some(page) = page.filter(|_| has_page_checks) {
                engines.check_page(&page);
            }
            if has_gauntlet {
                engines.test_gauntlet(&target);
            }
            engines
        });
        match &args.filter {
            Some(filter) => {
                session.join(engines)?;
                session.tests(&target, Some(filter));
                Ok(())
            }
            None => session.steps(&target, engines, &affected),
        }
    })?;
    session.report.finish(strict)
}

/// The report that `.config/nextest.toml` requests, in the target directory.
const JUNIT: &str = "nextest/all/junit.xml";
/// The number of test threads per core. The profile `all` of `.config/nextest.toml` depends on this
/// value.
const THREADS_PER_CORE: usize = 8;

/// The number of bytes that must be free for temporary files. A gateway reports a nearly full disk below 5 GiB, which
/// many tests do not expect, and the tests write some files themselves.
const LEAST_FREE: u64 = 8 << 30;

/// Fails if the disk is nearly full, because many tests would fail with less clear errors.
fn free_disk_space() -> Result<()> {
    let folder = std::env::temp_dir();
    let found = rustix::fs::statvfs(&folder)?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    ensure!(
        free >= LEAST_FREE,
        "{} GiB are free in {}; the tests need {} GiB",
        free >> 30,
        folder.display(),
        LEAST_FREE >> 30
    );
    Ok(())
}

struct Session<'a> {
    root: &'a Path,
    environment: Vec<(&'static str, String)>,
    report: Report,
    /// Held until the run ends, because dropping it stops the server.
    server: Option<postgres::Server>,
    /// The directory to run the browser tests in.
    browser: Option<PathBuf>,
    /// Whether the web UI is built.
    has_page: bool,
}

/// Prepares engines while the code compiles. Downloads wait for the network, and compilers need the processor.
type Engines<'scope, 'a> = ScopedJoinHandle<'scope, Session<'a>>;

impl<'a> Session<'a> {
    fn new(root: &'a Path) -> Self {
        Self {
            root,
            environment: Vec::new(),
            report: Report::default(),
            server: None,
            browser: None,
            has_page: false,
        }
    }

    fn prepare_engines(&mut self, target: &Path, no_postgres: bool) {
        self.prepare_postgres(no_postgres);
        self.prepare_openssh();
        self.prepare_sshd();
        self.prepare_dovecot();
        self.prepare_python(target);
        self.prepare_webhooks(target);
        self.prepare_voice(target);
        self.prepare_synapse(target);
        self.prepare_clients(target);
        self.prepare_browser(target);
        self.prometheus(target);
        self.alertmanager(target);
        self.deploy(target);
    }

    /// Waits for the engines and takes them over.
    fn join(&mut self, engines: Engines<'_, 'a>) -> Result<()> {
        let engines = engines
            .join()
            .map_err(|_| anyhow!("the thread that prepares the engines panicked"))?;
        self.environment.extend(engines.environment);
        self.report.add(engines.report);
        self.server = engines.server;
        self.browser = engines.browser;
        self.has_page = engines.has_page;
        Ok(())
    }

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

    /// All steps use the same profile and the same features. The tests and generators therefore reuse the output of
    /// `build`, and the clippy steps share nearly every dependency.
    fn steps(
        &mut self,
        target: &Path,
        engines: Engines<'_, 'a>,
        affected: &Affected,
    ) -> Result<()> {
        self.step("format", &["fmt", "--all", "--check"]);
        let root = self.root;
        self.report.step("repository rules", || check::run(root));
        let binary = target.join("debug/gatehouse");
        if affected.has_any_crate() {
            self.compile();
        }
        self.join(engines)?;
        self.report.step("free disk space", free_disk_space);
        if affected.has_any_crate() {
            self.rust(target, &binary, affected)?;
        }
        if affected.has_browser() && !affected.has(BINARY) {
            self.step(
                "build of the server",
                &["build", "--locked", "--package", BINARY],
            );
        }
        if let Some(folder) = self
            .browser
            .take()
            .filter(|folder| browser::has_tests(folder))
            && affected.has_browser()
        {
            self.browser(&folder, &binary);
        }
        Ok(())
    }

    /// Checks and builds the Rust code.
    fn compile(&mut self) {
        let deny = ["--", "-D", "warnings"];
        let clippy = ["clippy", "--locked"];
        let all = ["--workspace", "--all-targets"];
        self.step("lints", &[&clippy[..], &all, &deny].concat());
        // The clippy run with tests gives every crate the features that tests enable. This run checks the shipped
        // features.
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
    }

    /// Runs everything that needs compiled Rust code, except the browser tests.
    fn rust(&mut self, target: &Path, binary: &Path, affected: &Affected) -> Result<()> {
        self.tests(target, affected.filter().as_deref());
        let tested = doctests::packages(self.root)?;
        for package in tested.into_iter().filter(|name| affected.has(name)) {
            let name = format!("doctests of {package}");
            self.step(&name, &["test", "--locked", "--doc", "--package", &package]);
        }
        if affected.has(BINARY) {
            let root = self.root;
            self.report.step("generated files", || {
                generate::check(root, Command::new(binary))
            });
            self.gauntlet(target, binary);
        }
        Ok(())
    }

    /// Checks that each published attack can succeed, against a deliberately weak gateway.
    fn test_gauntlet(&mut self, target: &Path) {
        match Gauntlet::prepare(self.root, target) {
            Ok(gauntlet) => {
                self.report
                    .step("gauntlet: self-test", || gauntlet.run(&["--self-test"]));
            }
            Err(error) => self.report.left_out("the gauntlet", &error),
        }
    }

    /// Runs published attacks against the binary.
    fn gauntlet(&mut self, target: &Path, binary: &Path) {
        let gauntlet = match Gauntlet::prepare(self.root, target) {
            Ok(gauntlet) => gauntlet,
            Err(error) => return self.report.left_out("attacks of the gauntlet", &error),
        };
        let binary = binary.to_string_lossy().into_owned();
        self.report.step("gauntlet", || {
            gauntlet.run(&["--check", "--target", &binary])
        });
    }

    /// Runs the browser tests of the web UI that the binary serves.
    fn browser(&mut self, folder: &Path, binary: &Path) {
        if !self.has_page {
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
        // Colors are disabled because the summary quotes errors.
        npm.env("FORCE_COLOR", "0");
        self.report
            .step("browser", || run_command(&mut npm).context("npm test"));
        self.report.troubles(browser::troubles(folder));
    }

    fn tests(&mut self, target: &Path, filter: Option<&str>) {
        if find_program("cargo-nextest").is_some() {
            let filter = filter.map(|filter| ["-E", filter]);
            let filter = filter.as_ref().map_or(&[][..], |filter| &filter[..]);
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = (cores * THREADS_PER_CORE).to_string();
            let all = [
                "nextest",
                "run",
                "--locked",
                "--workspace",
                "--no-fail-fast",
                "--profile",
                "all",
                "--test-threads",
                &threads,
            ];
            let junit = target.join(JUNIT);
            let _ = std::fs::remove_file(&junit);
            self.step("tests", &[&all[..], filter].concat());
            let report = std::fs::read_to_string(&junit).context(JUNIT);
            self.report
                .troubles(report.and_then(|report| nextest::troubles(&report)));
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
