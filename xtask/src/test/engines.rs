//! Prepares the systems that tests need: PostgreSQL, Chromium, and third-party programs and libraries. The report lists
//! the systems that could not be prepared.

use std::path::Path;

use super::{Session, browser, clients, node, postgres, voice};
use crate::process::find_program;
use crate::{apt, python};

/// The variable with the URL of the temporary PostgreSQL server, with a superuser and a database.
const POSTGRES: &str = "GATEHOUSE_TEST_POSTGRES_URL";
/// The variable with the Python interpreter that has the packages in `crates/vault/tests/requirements.txt`.
const PYTHON: &str = "GATEHOUSE_TEST_PYTHON";
/// The variable with the path of Chromium.
const CHROMIUM: &str = "GATEHOUSE_TEST_CHROMIUM";
/// The variable with the path of Chromium's headless shell. Without it, all tests run in Chromium.
const SHELL: &str = "GATEHOUSE_TEST_CHROMIUM_SHELL";
/// The variable with the directory of the browser tests, copied next to the modules they import.
const BROWSER: &str = "GATEHOUSE_TEST_BROWSER_DIR";
/// The variable with the directory of the speech programs (`bin`) and their models (`models`).
const VOICE: &str = "GATEHOUSE_TEST_VOICE";
/// The variable with the Python interpreter that has Synapse.
const SYNAPSE: &str = "GATEHOUSE_TEST_SYNAPSE";

impl Session<'_> {
    pub(super) fn prepare_postgres(&mut self, unwanted: bool) {
        if unwanted {
            // The variable is empty, not unset. Otherwise, a server from the caller's environment would be used.
            self.set(POSTGRES, "");
            self.report.declined("PostgreSQL", "--no-postgres");
            return;
        }
        if std::env::var(POSTGRES).is_ok_and(|url| !url.is_empty()) {
            self.report.engine(&format!("PostgreSQL from {POSTGRES}"));
            return;
        }
        match postgres::start() {
            Ok(server) => {
                self.report
                    .engine(&format!("{}, temporary", server.version));
                self.set(POSTGRES, server.url.clone());
                self.server = Some(server);
            }
            Err(error) => self.report.left_out("PostgreSQL", &error),
        }
    }

    /// Prepares the programs that the tests of the SSH agent run.
    pub(super) fn prepare_openssh(&mut self) {
        let installed = match find_program("ssh-add") {
            Some(_) => Ok(()),
            None => apt::install(&["openssh-client"]),
        };
        match installed {
            Ok(()) => self.report.engine("OpenSSH's client"),
            Err(error) => self.report.left_out("OpenSSH's client", &error),
        }
    }

    pub(super) fn prepare_python(&mut self, target: &Path) {
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
    pub(super) fn prepare_webhooks(&mut self, target: &Path) {
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
    pub(super) fn prepare_voice(&mut self, target: &Path) {
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

    /// Prepares the homeserver that the Matrix channel is tested with.
    pub(super) fn prepare_synapse(&mut self, target: &Path) {
        let requirements = self.root.join("tests/matrix-server/requirements.txt");
        match python::environment(&target.join("test-matrix-server"), &requirements) {
            Ok(python) => {
                self.report
                    .engine(&format!("Synapse, on {}", python.version));
                self.set(SYNAPSE, python.program.to_string_lossy());
            }
            Err(error) => self.report.left_out("Synapse", &error),
        }
    }

    /// Prepares third-party clients that use the gateway.
    pub(super) fn prepare_clients(&mut self, target: &Path) {
        for (what, name, variable) in clients::CLIENTS {
            let tests = self.root.join("tests").join(name);
            let folder = target.join(format!("test-{name}"));
            match clients::prepare(&tests, &folder) {
                Ok(versions) => {
                    self.report.engine(&format!("{what}, on {versions}"));
                    self.set(variable, folder.to_string_lossy());
                }
                Err(error) => self.report.left_out(what, &error),
            }
        }
    }

    /// Prepares the directory to run the browser tests in, if there are any.
    pub(super) fn prepare_browser(&mut self, target: &Path) {
        let tests = self.root.join("tests/browser");
        if !tests.join("package.json").is_file() {
            return;
        }
        match browser::prepare(&tests, &target.join("test-browser")) {
            Ok(browser) => {
                self.report.engine(&browser.version);
                self.set(CHROMIUM, browser.chromium.to_string_lossy());
                self.set(BROWSER, browser.folder.to_string_lossy());
                self.browser = Some(browser.folder);
                match browser::shell() {
                    Ok(shell) => {
                        self.report.engine("Chromium's headless shell");
                        self.set(SHELL, shell.to_string_lossy());
                    }
                    // No test is skipped, but the tests take longer.
                    Err(error) => self.report.engine(&format!(
                        "Chromium for all tests; its headless shell: {error:#}"
                    )),
                }
            }
            Err(error) => self.report.left_out("tests in a browser", &error),
        }
    }
}
