//! The command line, with the server stopped and running.

use crate::process::{BINARY, CommandOutput, Installation, NOWHERE, PASSWORD, make_key, mode};
use serde_json::json;
use std::fs::File;
use std::process::{Command, Stdio};

#[test]
fn a_wrong_command_line_is_two() {
    let installation = Installation::new();
    for args in [
        &["frobnicate"] as &[&str],
        &["vault"],
        &["serve", "--frobnicate"],
        &["audit", "list", "--limit", "501"],
    ] {
        let ran = installation.run(args);
        assert!(!ran.failed(2).is_empty(), "{args:?}");
        assert_eq!(ran.stdout(), "", "{args:?}");
    }
    assert!(!installation.data_dir().exists());
}

/// Errors that are found after the command line was parsed.
#[test]
fn a_mistake_in_the_arguments_of_a_command_is_two_and_changes_nothing() {
    let installation = Installation::new();
    let nowhere = "http://127.0.0.1:9";
    for (args, part) in [
        (&["vault", "status", "--url", "ftp://x"] as &[&str], "http"),
        (&["doctor", "--bind", "localhost"], "--bind"),
        (
            &["doctor", "--database-url", "mysql://db/x"],
            "--database-url",
        ),
        (&["auth", "setup-code", "--url", nowhere], "omit --url"),
        (&["audit", "verify", "--url", nowhere], "omit --url"),
        (
            &["move", "--to", "sqlite://x.db", "--url", nowhere],
            "omit --url",
        ),
        (&["move", "--to", "mysql://db/x"], "--to"),
        (&["backup", "restore", "x", "--url", nowhere], "omit --url"),
        (&["backup", "create", "--recipient", "age1"], "--recipient"),
        (&["export", "deliveries", "--since", "yesterday"], "--since"),
        (&["export", "audit", "--until", "2026-01"], "--until"),
        (&["agents", "update", "agt_x"], "no changes"),
        (&["channels", "update", "x"], "no changes"),
        (&["webhooks", "update", "hook_x"], "no changes"),
        (&["channels", "update", "x", "--field", "a"], "NAME=VALUE"),
        (
            &["channels", "create", "ntfy", "--field", "a"],
            "NAME=VALUE",
        ),
        (
            &["webhooks", "create", "--name", "x", "--deliver-extra", "a"],
            "KEY=VALUE",
        ),
        (&["config", "show", "auth.frob"], "auth.frob"),
    ] {
        let ran = installation.run(args);
        let error = ran.failed(2);
        assert!(error.contains(part), "{args:?}: {error}");
        assert_eq!(ran.stdout(), "", "{args:?}");
    }
    assert!(!installation.data_dir().exists());
}

/// Every write to `/dev/full` fails as on a full disk.
#[test]
fn a_result_that_cannot_be_written_is_a_failure() {
    let installation = Installation::new();
    for args in [
        &["config", "sample"] as &[&str],
        &["config", "schema"],
        &["config", "show", "--json"],
        &["auth", "setup-code"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let error = run_into(&installation, args, full.into()).failed(1);
        let part = "No space left on device";
        assert!(error.contains(part), "{args:?}: {error}");
    }
}

#[test]
fn a_reader_that_closes_the_pipe_is_not_a_failure() {
    let installation = Installation::new();
    for args in [&["config", "sample"] as &[&str], &["auth", "setup-code"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        run_into(&installation, args, writer.into()).ok();
    }
}

fn run_into(installation: &Installation, args: &[&str], stdout: Stdio) -> CommandOutput {
    let mut command = installation.prepared(Command::new(BINARY));
    command.args(args).arg("--data-dir");
    command.arg(installation.data_dir()).stdout(stdout);
    CommandOutput(command.output().unwrap())
}

#[test]
fn the_help_of_a_restore_names_what_it_deletes() {
    let help = Installation::new().run(&["backup", "restore", "--help"]);
    let help = help.ok().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "sessions",
        "API keys",
        "devices",
        "paired people",
        "remembered approvals",
        "push subscriptions",
        "share links",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn completions_are_scripts_of_the_shell() {
    let installation = Installation::new();
    for (shell, part) in [
        ("bash", "complete -F _gatehouse"),
        ("zsh", "#compdef gatehouse"),
        ("fish", "complete -c gatehouse"),
    ] {
        assert!(
            installation
                .run(&["completions", shell])
                .ok()
                .contains(part),
            "{shell}"
        );
    }
}

#[tokio::test]
async fn generated_files_are_written_and_hold_what_they_say() {
    let installation = Installation::new();
    let out = installation.data_dir().join("generated");
    installation
        .run(&["generate", "--out", out.to_str().unwrap()])
        .ok();
    let read = |name: &str| tokio::fs::read_to_string(out.join(name));
    for name in ["config.schema.json", "openapi.json", "openrpc.json"] {
        let text = read(name).await.unwrap();
        assert!(
            serde_json::from_str::<serde_json::Value>(&text)
                .unwrap()
                .is_object(),
            "{name}"
        );
    }
    assert!(
        read("gatehouse.sample.toml")
            .await
            .unwrap()
            .contains("#[server]")
    );
    assert!(
        read("error-codes.md")
            .await
            .unwrap()
            .contains("| `VAULT_BAD_KEY` | 423 | -32010 |")
    );
}

#[tokio::test]
async fn settings_are_shown_with_their_origin_and_without_secrets() {
    let mut installation = Installation::new();
    installation.env("SERVICE_SERVER__MAX_MESSAGE_BYTES", "65536");
    let file = installation
        .file("g.toml", "[auth]\nstep_up = false\n")
        .await;
    let args = [
        "config",
        "show",
        "--origin",
        "auth",
        "server.max_message_bytes",
        "--config",
        file.to_str().unwrap(),
        "--bind",
        "127.0.0.1:9",
    ];
    let shown = installation.run(&args);
    let text = shown.ok();
    assert!(text.contains("auth.step_up = false    # toml"), "{text}");
    assert!(
        text.contains("server.max_message_bytes = 65536    # environment"),
        "{text}"
    );
    // The database is unreachable. The settings of file and environment are still shown.
    let url = "postgres://u:hunter2@127.0.0.1:1/db";
    let all = installation.run(&["config", "show", "--json", "--database-url", url]);
    assert!(
        !all.ok().contains("hunter2") && all.ok().contains("database.url"),
        "{}",
        all.ok()
    );
    assert!(
        installation
            .run(&["config", "show", "auth.frob"])
            .failed(2)
            .contains("did you mean")
    );
    assert!(
        installation
            .run(&["config", "sample"])
            .ok()
            .contains("max_message_bytes")
    );
    assert_eq!(
        installation.run(&["config", "schema"]).json()["type"],
        "object"
    );
}

#[tokio::test]
async fn on_a_stopped_server_the_data_directory_is_worked_on() {
    let installation = Installation::new();
    let shown = installation.run(&["auth", "setup-code"]);
    let code = shown.ok();
    assert!(shown.stderr().contains("one was created"), "{code}");
    let again = installation.run(&["auth", "setup-code"]);
    again.ok();
    assert!(!again.stderr().contains("created"), "{}", again.stderr());
    let other = Installation::new();
    let key = other.run(&["auth", "create-key", "--no-store"]);
    assert!(key.stderr().contains("one was created"), "{}", key.stderr());
    let server = installation.start();
    server.set_up().await;
    server.stop();
    assert!(code.starts_with("Setup code: "), "{code}");
    assert!(
        installation
            .run(&["auth", "setup-code"])
            .failed(1)
            .contains("CONFLICT")
    );

    let key = make_key(&installation).await;
    assert!(key.starts_with("mk_") && key.len() == 46, "{key}");
    let doctor = installation.run(&["doctor", "--json"]).json();
    assert!(
        doctor["checks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|check| check["ok"] == true),
        "{doctor}"
    );
    let verified = installation.run(&["audit", "verify", "--json"]).json();
    assert!(verified["rows"].as_u64().unwrap() >= 2, "{verified}");

    let reset = installation
        .run(&["auth", "reset", "--yes", "--json"])
        .json();
    assert_eq!(reset["kept"][0], "vault", "{reset}");
    let mut server = installation.start();
    assert!(server.line().starts_with("Setup code: "));
    assert_eq!(
        server.get("/api/auth/status").await.body["auth_disabled"],
        true
    );
}

#[tokio::test]
async fn a_wrong_password_makes_no_key() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    server.stop();
    let file = installation.file("wrong", "not the password").await;
    let mut command = installation.prepared(Command::new(BINARY));
    command.env("SERVICE_PASSWORD_FILE", file);
    command
        .args(["auth", "create-key", "--store", "--data-dir"])
        .arg(installation.data_dir());
    let ran = CommandOutput(command.output().unwrap());
    assert!(ran.failed(1).contains("INVALID_CREDENTIALS"));
    assert_eq!(ran.stdout(), "");
    assert!(!installation.data_dir().join("cli.key").exists());
}

#[tokio::test]
async fn a_preset_makes_a_key_for_one_purpose() {
    let mut installation = Installation::new();
    let server = installation.start();
    installation.env("SERVICE_URL", &server.url);
    server.set_up().await;
    let password = installation.file("password", PASSWORD).await;
    installation.env("SERVICE_PASSWORD_FILE", password.to_str().unwrap());
    let create = ["auth", "create-key", "--no-store", "--json"];
    let with = |more: [&'static str; 2]| [&create[..], &more].concat();
    let made = installation.run(&with(["--preset", "metrics"])).json();
    assert_eq!(made["scopes"], serde_json::json!(["operator.read"]));
    let key = made["key"].as_str().unwrap();
    let refused = installation
        .run(&["--api-key", key, "env", "list"])
        .failed(1);
    assert!(refused.contains("FORBIDDEN"), "{refused}");
    let refused = installation.run(&with(["--only", "nothing.*"])).failed(1);
    assert!(refused.contains("only"), "{refused}");
    installation.run(&with(["--preset", "nonsense"])).failed(2);
}

#[tokio::test]
async fn a_stored_key_serves_later_commands_against_a_running_server() {
    let mut installation = Installation::new();
    let server = installation.start();
    installation.env("SERVICE_URL", &server.url);
    server.set_up().await;
    let password = installation.file("password", PASSWORD).await;
    assert!(
        installation
            .run(&["auth", "sessions"])
            .failed(1)
            .contains("gatehouse auth create-key")
    );
    installation.env("SERVICE_PASSWORD_FILE", password.to_str().unwrap());
    let key = installation
        .run(&["auth", "create-key", "--store", "--label", "laptop"])
        .ok();
    let file = installation.data_dir().join("cli.key");
    assert_eq!(mode(&file), 0o600);
    assert_eq!(tokio::fs::read_to_string(file).await.unwrap(), key);

    let sessions = installation.run(&["auth", "sessions", "--json"]).json();
    assert_eq!(
        sessions["sessions"].as_array().unwrap().len(),
        1,
        "the login for the key has ended"
    );
    assert_eq!(installation.run(&["vault", "status"]).ok(), "unsealed\n");
    assert_eq!(
        installation.run(&["env", "set", "GREETING", "hello"]).ok(),
        "Stored GREETING encrypted.\n"
    );
    assert!(installation.run(&["env", "list"]).ok().contains("GREETING"));
    assert_eq!(installation.run(&["vault", "seal"]).ok(), "sealed\n");
    assert!(
        installation
            .run(&["env", "list"])
            .failed(1)
            .contains("VAULT_SEALED")
    );
    assert_eq!(installation.run(&["vault", "unlock"]).ok(), "unsealed\n");
    let rotated = installation.run(&["vault", "rotate", "--json"]).json();
    assert_eq!(rotated["status"], "unsealed");
    let fresh = installation.run(&["vault", "recovery-key"]).ok();
    assert!(
        fresh.starts_with("Recovery key: ") && !fresh.contains('\u{1b}'),
        "{fresh}"
    );
    installation.run(&["env", "delete", "GREETING"]).ok();
    assert!(
        installation
            .run(&["env", "delete", "GREETING"])
            .failed(1)
            .contains("NOT_FOUND")
    );

    let made = installation
        .run(&["ssh-keys", "generate", "deploy", "--json"])
        .json();
    assert!(
        made["public_key"]
            .as_str()
            .unwrap()
            .starts_with("ssh-ed25519 "),
        "{made}"
    );
    assert!(
        installation
            .run(&["ssh-keys", "list"])
            .ok()
            .contains("deploy")
    );
    installation.run(&["ssh-keys", "delete", "deploy"]).ok();
    assert!(
        installation
            .run(&["audit", "list", "--limit", "500"])
            .ok()
            .contains("api_key")
    );
    installation.run(&["config", "show", "auth"]).ok();
    let doctor = installation.run(&["doctor", "--json"]).json();
    assert_eq!(doctor["checks"][0]["id"], "server");
}

#[tokio::test]
async fn beside_a_running_server_the_setup_code_is_shown_and_the_chain_verified() {
    let installation = Installation::new();
    let mut server = installation.start();
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let printed = server.line();
    for address in [address.as_str(), NOWHERE] {
        let shown = installation.run(&["auth", "setup-code", "--bind", address]);
        assert_eq!(shown.ok().trim(), printed);
    }
    server.set_up().await;
    for address in [address.as_str(), NOWHERE] {
        let received = installation.run(&["auth", "setup-code", "--bind", address]);
        let received = received.failed(1);
        assert!(received.contains("already complete"), "{received}");
        let verified = installation.run(&["audit", "verify", "--json", "--bind", address]);
        assert_eq!(verified.json()["ok"], true);
    }
    let received = installation
        .run(&["auth", "reset", "--yes", "--bind", &address])
        .failed(1);
    assert!(
        received.contains("a server is running on this data directory"),
        "{received}"
    );
    assert_eq!(
        server.get("/api/auth/status").await.body["has_password"],
        json!(true)
    );
}

#[tokio::test]
async fn credentials_are_not_removed_without_a_confirmation() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    let url = server.url.clone();
    let key = installation.make_key(&server, &["operator.admin"]).await;
    let online = ["auth", "reset", "--url", &url, "--api-key", &key];
    let refused = installation.run(&online).failed(2);
    assert!(refused.contains("--yes"), "{refused}");
    let status = server.get("/api/auth/status").await.body;
    assert_eq!(status["has_password"], true, "{status}");
    server.stop();
    let refused = installation.run(&["auth", "reset"]).failed(2);
    assert!(refused.contains("--yes"), "{refused}");
    let server = installation.start();
    let status = server.get("/api/auth/status").await.body;
    assert_eq!(status["has_password"], true, "{status}");
}

#[test]
fn a_wrong_recipient_of_backups_is_a_wrong_setting() {
    let mut installation = Installation::new();
    installation.env("SERVICE_BACKUP__RECIPIENT", "age1wrong");
    for args in [&["config", "check"] as &[&str], &["serve"]] {
        let error = installation.run(args).failed(1);
        for part in ["SERVICE_BACKUP__RECIPIENT", "not an age recipient"] {
            assert!(error.contains(part), "{args:?}: {error}");
        }
    }
    assert!(!installation.data_dir().exists());
}
