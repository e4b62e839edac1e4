//! `service install` and `uninstall` with the real binary. They run below a temporary root or with a fake systemctl
//! that records its command lines.

use crate::process::{BINARY, CommandOutput, Installation, mode};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// An empty home directory, and a folder of programs that take precedence over all others.
struct Machine {
    folder: TempDir,
}

impl Machine {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let machine = Self { folder };
        for name in ["home", "bin"] {
            tokio::fs::create_dir(machine.path(name)).await.unwrap();
        }
        machine.program("systemctl", "exit 0").await;
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a program that records its command line.
    async fn program(&self, name: &str, end: &str) {
        let (path, log) = (self.path("bin").join(name), self.path("log"));
        let text = format!(
            "#!/bin/sh\necho {name} \"$@\" >> '{}'\n{end}\n",
            log.display()
        );
        tokio::fs::write(&path, text).await.unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        tokio::fs::set_permissions(&path, executable).await.unwrap();
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = Command::new(BINARY);
        command.env_clear().env("HOME", self.path("home")).env(
            "PATH",
            format!("{}:/usr/bin:/bin", self.path("bin").display()),
        );
        CommandOutput(command.arg("service").args(args).output().unwrap())
    }

    async fn commands(&self) -> Vec<String> {
        let log = tokio::fs::read_to_string(self.path("log"))
            .await
            .unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    fn user_unit(&self) -> PathBuf {
        self.path("home/.config/systemd/user/gatehouse.service")
    }
}

async fn read(path: &Path) -> String {
    tokio::fs::read_to_string(path).await.unwrap()
}

#[tokio::test]
async fn a_users_service_is_installed_started_and_removed() {
    let machine = Machine::new().await;
    let installed = machine.run(&["install", "--user", "--yes", "--bind", "127.0.0.1:9000"]);
    let shown = installed.ok();
    let unit = machine.user_unit();
    assert!(
        shown.contains(&format!("write {}", unit.display())),
        "{shown}"
    );
    let home = machine.path("home");
    let line = format!(
        "ExecStart={BINARY} serve --data-dir {}/.local/share/gatehouse --bind 127.0.0.1:9000",
        home.display()
    );
    let text = read(&unit).await;
    assert!(text.lines().any(|found| found == line), "{text}");
    assert!(text.contains("WantedBy=default.target"));
    assert_eq!(mode(&unit), 0o644);
    assert_eq!(
        machine.commands().await,
        [
            "systemctl --user daemon-reload",
            "systemctl --user enable gatehouse.service",
            "systemctl --user restart gatehouse.service",
        ]
    );
    // An update replaces the unit.
    machine.run(&["install", "--user", "--yes"]).ok();
    assert!(!read(&unit).await.contains("--bind"));

    machine.run(&["uninstall", "--user", "--yes"]).ok();
    assert!(!unit.exists());
    let commands = machine.commands().await;
    assert_eq!(
        commands[6..],
        [
            "systemctl --user disable --now gatehouse.service",
            "systemctl --user daemon-reload",
        ]
    );
    let again = machine.run(&["uninstall", "--user", "--yes"]).failed(1);
    assert!(again.contains("nothing was changed"), "{again}");
}

#[tokio::test]
async fn a_dry_run_shows_the_files_and_changes_nothing() {
    let machine = Machine::new().await;
    for kind in ["--user", "--system"] {
        let shown = machine.run(&["install", kind, "--dry-run"]).ok();
        assert!(shown.starts_with("This would:\n"), "{shown}");
        assert!(
            shown.contains("daemon-reload") && shown.contains("\n[Service]\n"),
            "{shown}"
        );
        let record = machine
            .run(&["install", kind, "--dry-run", "--json"])
            .json();
        assert_eq!(record["dry_run"], true);
        let steps = record["steps"].as_array().unwrap();
        assert!(
            steps
                .iter()
                .any(|step| step["text"].as_str().unwrap_or("").contains("ExecStart="))
        );
    }
    assert_eq!(machine.commands().await, [""; 0]);
    assert!(machine.path("home").read_dir().unwrap().next().is_none());
}

#[tokio::test]
async fn the_systems_service_is_written_below_a_root_without_commands() {
    let machine = Machine::new().await;
    let root = machine.path("root");
    let root = root.to_str().unwrap();
    let args = ["install", "--system", "--yes", "--root", root];
    let shown = machine.run(&args).ok();
    assert!(!shown.contains("systemctl"), "{shown}");
    let below = |path: &str| Path::new(root).join(path);
    let unit = read(&below("etc/systemd/system/gatehouse.service")).await;
    for line in [
        "User=gatehouse",
        "ProtectSystem=strict",
        "ReadOnlyPaths=/run",
        "CapabilityBoundingSet=",
    ] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
    let program = "ExecStart=/usr/local/bin/gatehouse serve --data-dir /var/lib/gatehouse";
    assert!(unit.lines().any(|found| found == program), "{unit}");
    let users = read(&below("etc/sysusers.d/gatehouse.conf")).await;
    assert!(users.starts_with("u gatehouse "), "{users}");
    // The copy is the program.
    let copy = below("usr/local/bin/gatehouse");
    assert_eq!(mode(&copy), 0o755);
    let version = Command::new(&copy).arg("--version").output().unwrap();
    assert!(version.status.success());

    machine
        .run(&["uninstall", "--system", "--yes", "--root", root])
        .ok();
    assert!(!below("etc/systemd/system/gatehouse.service").exists());
    assert!(!below("etc/sysusers.d/gatehouse.conf").exists());
    assert!(copy.exists());
    assert_eq!(machine.commands().await, [""; 0]);
}

#[tokio::test]
async fn a_foreign_unit_and_a_unit_of_a_package_are_left_alone() {
    let machine = Machine::new().await;
    let unit = machine.user_unit();
    tokio::fs::create_dir_all(unit.parent().unwrap())
        .await
        .unwrap();
    tokio::fs::write(&unit, "[Service]\nExecStart=/bin/true\n")
        .await
        .unwrap();
    for command in ["install", "uninstall"] {
        let refusal = machine.run(&[command, "--user", "--yes"]).failed(1);
        assert!(refusal.contains("not written by this command"), "{refusal}");
    }
    assert_eq!(read(&unit).await, "[Service]\nExecStart=/bin/true\n");

    let root = machine.path("root");
    let packaged = root.join("usr/lib/systemd/system");
    tokio::fs::create_dir_all(&packaged).await.unwrap();
    tokio::fs::write(packaged.join("gatehouse.service"), "")
        .await
        .unwrap();
    let args = [
        "install",
        "--system",
        "--yes",
        "--root",
        root.to_str().unwrap(),
    ];
    let refusal = machine.run(&args).failed(1);
    assert!(refusal.contains("a package has installed"), "{refusal}");
    assert!(!root.join("etc").exists());
    assert_eq!(machine.commands().await, [""; 0]);
}

#[tokio::test]
async fn without_a_terminal_it_asks_for_yes_and_a_wrong_argument_changes_nothing() {
    let machine = Machine::new().await;
    for (args, part) in [
        (&["install", "--user"] as &[&str], "--yes"),
        (
            &["install", "--user", "--yes", "--bind", "localhost"],
            "--bind",
        ),
        (
            &["install", "--system", "--dry-run", "--data-dir", "/srv/g"],
            "/var/lib/gatehouse",
        ),
    ] {
        let refusal = machine.run(args).failed(2);
        assert!(refusal.contains(part), "{refusal}");
    }
    machine.run(&["install", "--user", "--system"]).failed(2);
    assert!(machine.path("home").read_dir().unwrap().next().is_none());
}

#[tokio::test]
async fn a_command_that_fails_names_the_steps_that_are_left() {
    let machine = Machine::new().await;
    machine.program("systemctl", "[ \"$2\" != enable ]").await;
    let failure = machine.run(&["install", "--user", "--yes"]).failed(1);
    let left = "these steps are left: run systemctl --user enable gatehouse.service; \
                run systemctl --user restart gatehouse.service";
    assert!(failure.contains(left), "{failure}");
    assert!(machine.user_unit().exists());
}

#[tokio::test]
async fn health_is_an_exit_code() {
    let place = Installation::new();
    assert!(
        place
            .run(&["health", "--url", "http://127.0.0.1:9"])
            .failed(1)
            .contains("no server responds")
    );
    let server = place.start();
    let healthy = place.run(&["health", "--url", &server.url]);
    assert_eq!(healthy.ok(), "ok\n");
    server.stop();
}

#[tokio::test]
async fn man_pages_describe_each_command() {
    let place = Installation::new();
    let out = place.data_dir().join("man");
    place
        .run(&["generate", "--man", out.to_str().unwrap()])
        .ok();
    let page = read(&out.join("gatehouse-vault-unlock.1")).await;
    assert!(
        page.contains(".SH SYNOPSIS") && page.contains("recovery"),
        "{page}"
    );
    assert!(out.join("gatehouse.1").exists());
    assert!(!out.join("gatehouse-generate.1").exists());
    place.run(&["generate"]).failed(2);
}
