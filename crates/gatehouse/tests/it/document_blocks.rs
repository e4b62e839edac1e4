//! Runs the blocks of shell commands in README and OPERATIONS, in order, with the real program and a real server.
//! Placeholders for the reader, such as `ID`, are replaced. Every block either runs here or is in [`EXCLUDED`].

use crate::documents::{code, is_shell, root};
use crate::process::{BINARY, Installation, PASSWORD, Server};
use crate::voice::{KEY, Vendor};
use gatehouse_doubles::openai::{FakeModel, says};
use gatehouse_store::testing::empty_postgres;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const README: &str = "README.md";
const OPERATIONS: &str = "docs/OPERATIONS.md";

/// Programs that cannot run in a test, with the reasons.
const CANNOT_RUN: [(&str, &str); 4] = [
    ("cargo", "compiles for minutes, or does not end"),
    ("docker", "needs a container engine"),
    ("sudo", "changes the machine"),
    ("pip", "downloads from the network"),
];

/// Blocks that do not run, as the document, the beginning of the block, and a program of [`CANNOT_RUN`] in it.
const EXCLUDED: [(&str, &str, &str); 9] = [
    (README, "cargo xtask run ", "cargo"),
    (README, "sudo apt install ./target/package/", "docker"),
    (README, "OPENAI_API_KEY=", "pip"),
    (OPERATIONS, "cargo xtask page ", "cargo"),
    (OPERATIONS, "sudo ./gatehouse service install", "sudo"),
    (OPERATIONS, "sudo systemd-run ", "sudo"),
    (OPERATIONS, "sudo systemctl stop gatehouse", "sudo"),
    (OPERATIONS, "docker compose ", "docker"),
    (OPERATIONS, "pip install wyoming-piper", "pip"),
];

/// A key pair for backups, from the tests of `backup`.
const RECIPIENT: &str = "age1slgc7ysft3t0226a4zjmpjmlvwuc6la8hjmj86qhhtdnxfext3wqhpgu3d";
const IDENTITY: &str = "AGE-SECRET-KEY-1TUSH4UEG4MD784UARUPVC8S4FQ0VNVPRZHW39KC6A3KA3U6GT9NSKL2UXZ";

/// The blocks of both documents that have not run.
struct Blocks(Vec<(&'static str, String)>);

impl Blocks {
    async fn read() -> Self {
        let mut all = Vec::new();
        for name in [README, OPERATIONS] {
            let text = tokio::fs::read_to_string(root().join(name)).await.unwrap();
            let blocks = code(&text).0.into_iter().filter(|block| is_shell(block));
            all.extend(blocks.map(|block| (name, block)));
        }
        Self(all)
    }

    /// Takes the block of a document that begins like this.
    fn take(&mut self, document: &str, start: &str) -> String {
        let found = |(name, block): &(&str, String)| *name == document && block.starts_with(start);
        let mut places = (0..self.0.len()).filter(|place| found(&self.0[*place]));
        let place = places.next();
        let place = place.unwrap_or_else(|| panic!("{document} has no block {start:?}"));
        assert_eq!(places.next(), None, "{document} has two blocks {start:?}");
        self.0.remove(place).1
    }
}

/// Where the blocks run.
struct Stage {
    blocks: Blocks,
    home: PathBuf,
    environment: BTreeMap<&'static str, String>,
    /// The replacements, in this order.
    replaced: Vec<(&'static str, String)>,
    runs: usize,
}

impl Stage {
    async fn new(folder: &Path, installation: &Installation, server: &Server) -> Self {
        let (home, programs) = (folder.join("home"), folder.join("bin"));
        let stage = Self {
            blocks: Blocks::read().await,
            environment: BTreeMap::from([
                ("PATH", format!("{}:/usr/bin:/bin", text(&programs))),
                ("HOME", text(&home).to_owned()),
                ("LANG", "C.UTF-8".to_owned()),
                ("SERVICE_URL", server.url.clone()),
                (
                    "SERVICE_DATA_DIR",
                    text(&installation.data_dir()).to_owned(),
                ),
            ]),
            replaced: vec![
                ("https://gatehouse.example.com", server.url.clone()),
                ("http://127.0.0.1:8420", server.url.clone()),
            ],
            home,
            runs: 0,
        };
        std::fs::create_dir_all(&programs).unwrap();
        std::fs::create_dir_all(&stage.home).unwrap();
        std::os::unix::fs::symlink(BINARY, programs.join("gatehouse")).unwrap();
        // IDs are in the order of creation.
        let newest =
            "gatehouse --json webhooks list | grep -o 'hook_[0-9A-Za-z]*' | sort | tail -n 1";
        // This machine also plays the other machine of the documents.
        for (name, script) in [
            ("newest-webhook", newest),
            ("ssh", "shift; exec sh -c \"$*\""),
        ] {
            stage.script(&programs.join(name), script).await;
        }
        stage
    }

    async fn file(&self, name: &str, content: &str) {
        let path = self.home.join(name);
        tokio::fs::create_dir_all(path.parent().unwrap())
            .await
            .unwrap();
        tokio::fs::write(&path, content).await.unwrap();
    }

    async fn script(&self, path: &Path, script: &str) {
        tokio::fs::write(path, format!("#!/bin/sh\n{script}\n"))
            .await
            .unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        tokio::fs::set_permissions(path, executable).await.unwrap();
    }

    /// Runs a block to its end and returns what it printed. Every command must succeed.
    async fn run(&mut self, document: &str, start: &str) -> String {
        self.run_changed(document, start, str::to_owned).await
    }

    /// Like [`Self::run`], with a change that a reader would make.
    async fn run_changed(
        &mut self,
        document: &str,
        start: &str,
        change: impl Fn(&str) -> String,
    ) -> String {
        let mut block = change(&self.blocks.take(document, start));
        for (old, new) in &self.replaced {
            block = block.replace(old, new);
        }
        self.runs += 1;
        let (stdout, stderr) = (self.home.join("stdout"), self.home.join("stderr"));
        let mut shell = Command::new("bash");
        shell
            .args(["-e", "-u", "-o", "pipefail", "-c", &block])
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.home)
            .stdin(File::open(self.home.join("stdin")).unwrap())
            // Files and not pipes, because background processes keep them open.
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap())
            .process_group(0);
        let mut child = shell.spawn().unwrap();
        let group = rustix::process::Pid::from_child(&child);
        let status = child.wait().unwrap();
        // The background processes.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let stdout = tokio::fs::read_to_string(stdout).await.unwrap();
        let stderr = tokio::fs::read_to_string(stderr).await.unwrap();
        assert!(status.success(), "{document}: {block}\n{stdout}\n{stderr}");
        stdout
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns a server whose model answers and whose vendor of speech is a double.
async fn installation() -> Installation {
    let model = FakeModel::answering(|_: &Value| says(["Yes."])).await;
    let (_, vendor) = Vendor::start();
    let mut installation = Installation::new();
    installation.model(&model.url);
    for section in ["TTS__OPENAI", "STT__WHISPER"] {
        installation.env(
            &format!("SERVICE_VOICE__{section}__BASE_URL"),
            vendor.as_str(),
        );
        installation.env(&format!("SERVICE_VOICE__{section}__API_KEY"), KEY);
    }
    installation
}

/// README, before and after a password is set.
async fn first_steps(stage: &mut Stage, installation: &Installation, server: &Server) {
    stage.file("stdin", "hunter2\n").await;
    let with_id = |block: &str| block.replace(" ID", " \"$(newest-webhook)\"");
    stage
        .run(README, "gatehouse webhooks create --name \"My repository\"")
        .await;
    stage
        .run_changed(README, "gatehouse webhooks tail &", with_id)
        .await;
    stage
        .run_changed(README, "gatehouse channels create ntfy", with_id)
        .await;
    stage
        .run_changed(
            README,
            "SERVICE_MODELS__PROVIDERS__LOCAL__BASE_URL=",
            with_id,
        )
        .await;
    stage.run(README, "gatehouse voice say").await;

    server.set_up().await;
    let password = installation
        .file("password", &format!("{PASSWORD}\n"))
        .await;
    stage
        .environment
        .insert("SERVICE_PASSWORD_FILE", text(&password).to_owned());
    let key = stage
        .run(README, "gatehouse auth create-key --label laptop")
        .await;
    assert!(key.contains("mk_"), "{key}");
    let key = installation.make_key(server, &["operator.admin"]).await;
    stage.environment.insert("SERVICE_API_KEY", key);
    stage.run(README, "gatehouse vault status").await;
    let answer = stage.run(README, "curl -H ").await;
    assert!(answer.contains("\"result\""), "{answer}");
    stage
        .run(
            OPERATIONS,
            "gatehouse auth create-key --label \"Open WebUI\"",
        )
        .await;
}

async fn conversations_and_secrets(stage: &mut Stage, server: &Server) {
    let key = stage.environment["SERVICE_API_KEY"].clone();
    let agent = json!({ "id": "reviewer", "name": "Reviewer" });
    let made = server.rpc(&key, "agents.create", agent).await;
    assert!(made["error"].is_null(), "{made}");
    stage.file("invoice.txt", "100 EUR").await;
    stage.file("stdin", "").await;
    stage
        .run_changed(OPERATIONS, "gatehouse chat", |block| {
            block.replace("invoice.pdf", "invoice.txt")
        })
        .await;
    stage
        .run(OPERATIONS, "gatehouse channels create email")
        .await;
    let variable = json!({ "key": "TOKEN", "value": "hunter2" });
    server.rpc(&key, "env.set", variable).await;
    stage
        .script(&stage.home.join("deploy.sh"), "test \"$TOKEN\" = hunter2")
        .await;
    stage
        .run_changed(OPERATIONS, "gatehouse env exec", |block| {
            // The agent runs until it is stopped.
            let socket = "~/.ssh/gatehouse/agent.sock";
            format!(
                "{} &\nuntil [ -S {socket} ]; do kill -0 $!; done\n",
                block.trim_end()
            )
        })
        .await;
}

async fn imports_and_exports(stage: &mut Stage, server: &Server) {
    for (name, content) in [
        (
            ".openclaw/openclaw.json",
            include_str!("import/openclaw.json5"),
        ),
        (".openclaw/.env", "A=1\n"),
        (".hermes/config.yaml", include_str!("import/hermes.yaml")),
        (".hermes/.env", "B=1\n"),
        (".hermes/SOUL.md", "Be brief.\n"),
        ("workflows.json", include_str!("import/workflow.json")),
        ("credentials.json", include_str!("import/credentials.json")),
        ("hooks.json", include_str!("import/hooks.json")),
        ("project/.env", "C=1\n"),
        (".ssh/config", "\n"),
    ] {
        stage.file(name, content).await;
    }
    stage
        .run(OPERATIONS, "gatehouse import openclaw --dry-run")
        .await;
    let wrong = json!({ "password": "not the password" });
    server.post("/api/auth/login", wrong).await;
    stage.run(OPERATIONS, "gatehouse export deliveries").await;
}

async fn backups(stage: &mut Stage) {
    stage.file("passphrase.txt", "a passphrase\n").await;
    stage.file("key.txt", IDENTITY).await;
    let backups = text(&stage.home.join("backups")).to_owned();
    stage.replaced.extend([
        ("/mnt/backups", backups),
        ("age1…", RECIPIENT.to_owned()),
        (
            "gatehouse-20260131T030000Z.backup.age",
            "*.backup.age".to_owned(),
        ),
    ]);
    // These blocks run on the machine of the server, except for the line with `--url`.
    let url = stage.environment.remove("SERVICE_URL").unwrap();
    stage
        .run(OPERATIONS, "gatehouse backup create --to /mnt/backups/")
        .await;
    let database = empty_postgres().await;
    let data_dir = text(&stage.home.join("restored")).to_owned();
    let there = text(&stage.home.join("there")).to_owned();
    let before = stage.environment.insert("SERVICE_DATA_DIR", there);
    stage
        .run_changed(OPERATIONS, "gatehouse backup restore", |block| {
            let block = block.replace(
                "FILE --data-dir /var/lib/gatehouse",
                &format!("backups/*.backup.age --data-dir {data_dir}"),
            );
            let Some(database) = &database else {
                let lines = block.lines().filter(|line| !line.contains("postgres://"));
                return lines.collect::<Vec<_>>().join("\n");
            };
            let url = database.location.url();
            block.replace(
                "FILE --database-url postgres://…",
                &format!("gatehouse.backup.age --database-url {url}"),
            )
        })
        .await;
    stage
        .environment
        .insert("SERVICE_DATA_DIR", before.unwrap());
    stage.environment.insert("SERVICE_URL", url);
}

async fn moves(stage: &mut Stage) {
    stage.environment.remove("SERVICE_URL");
    let Some(database) = empty_postgres().await else {
        stage.blocks.take(OPERATIONS, "gatehouse move --to");
        return;
    };
    let (url, home) = (database.location.url(), text(&stage.home).to_owned());
    stage
        .run_changed(OPERATIONS, "gatehouse move --to", |block| {
            let block = block.replace("postgres://gatehouse@localhost/gatehouse", &url);
            block.replace(
                "/var/lib/gatehouse/gatehouse.db",
                &format!("{home}/moved.db"),
            )
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_block_of_commands_in_readme_and_operations_runs() {
    let folder = tempfile::tempdir().unwrap();
    let installation = installation().await;
    let server = installation.start();
    let mut stage = Stage::new(folder.path(), &installation, &server).await;
    first_steps(&mut stage, &installation, &server).await;
    conversations_and_secrets(&mut stage, &server).await;
    imports_and_exports(&mut stage, &server).await;
    backups(&mut stage).await;
    server.stop();
    moves(&mut stage).await;

    for (document, start, program) in EXCLUDED {
        let block = stage.blocks.take(document, start);
        let mut words = block.split(|c: char| !c.is_ascii_alphanumeric());
        let is_known = CANNOT_RUN.iter().any(|(name, _)| *name == program);
        assert!(
            is_known && words.any(|word| word == program),
            "{program}: {block}"
        );
    }
    let left = &stage.blocks.0;
    assert!(
        left.is_empty(),
        "blocks that neither run nor are excluded: {left:#?}"
    );
    // Most blocks must run.
    assert!(stage.runs >= 16, "{}", stage.runs);
}
