//! The command line, with the server stopped and running.

use crate::process::{BINARY, PASSWORD, Place, Ran, make_key, mode};
use serde_json::json;
use std::process::Command;

#[test]
fn a_wrong_command_line_is_two() {
    let place = Place::new();
    for args in [
        &["frobnicate"] as &[&str],
        &["vault"],
        &["serve", "--frobnicate"],
        &["audit", "list", "--limit", "501"],
    ] {
        let ran = place.run(args);
        assert!(!ran.failed(2).is_empty(), "{args:?}");
        assert_eq!(ran.stdout(), "", "{args:?}");
    }
    assert!(!place.data_dir().exists());
}

#[test]
fn completions_are_scripts_of_the_shell() {
    let place = Place::new();
    for (shell, part) in [
        ("bash", "complete -F _gatehouse"),
        ("zsh", "#compdef gatehouse"),
        ("fish", "complete -c gatehouse"),
    ] {
        assert!(
            place.run(&["completions", shell]).ok().contains(part),
            "{shell}"
        );
    }
}

#[tokio::test]
async fn generated_files_are_written_and_hold_what_they_say() {
    let place = Place::new();
    let out = place.data_dir().join("generated");
    place
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
    let mut place = Place::new();
    place.env("SERVICE_SERVER__MAX_MESSAGE_BYTES", "65536");
    let file = place.file("g.toml", "[auth]\nstep_up = false\n").await;
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
    let shown = place.run(&args);
    let text = shown.ok();
    assert!(text.contains("auth.step_up = false    # toml"), "{text}");
    assert!(
        text.contains("server.max_message_bytes = 65536    # environment"),
        "{text}"
    );
    // The database is unreachable; the settings of file and environment are still shown.
    let url = "postgres://u:hunter2@127.0.0.1:1/db";
    let all = place.run(&["config", "show", "--json", "--database-url", url]);
    assert!(
        !all.ok().contains("hunter2") && all.ok().contains("database.url"),
        "{}",
        all.ok()
    );
    assert!(
        place
            .run(&["config", "show", "auth.frob"])
            .failed(1)
            .contains("did you mean")
    );
    assert!(
        place
            .run(&["config", "sample"])
            .ok()
            .contains("max_message_bytes")
    );
    assert_eq!(place.run(&["config", "schema"]).json()["type"], "object");
}

#[tokio::test]
async fn on_a_stopped_server_the_data_directory_is_worked_on() {
    let place = Place::new();
    let code = place.run(&["auth", "setup-code"]).ok();
    let server = place.start();
    server.set_up().await;
    server.stop();
    assert!(code.starts_with("Setup code: "), "{code}");
    assert!(
        place
            .run(&["auth", "setup-code"])
            .failed(1)
            .contains("CONFLICT")
    );

    let key = make_key(&place).await;
    assert!(key.starts_with("mk_") && key.len() == 46, "{key}");
    let doctor = place.run(&["doctor", "--json"]).json();
    assert!(
        doctor["checks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|check| check["ok"] == true),
        "{doctor}"
    );
    let verified = place.run(&["audit", "verify", "--json"]).json();
    assert!(verified["rows"].as_u64().unwrap() >= 2, "{verified}");

    let reset = place.run(&["auth", "reset", "--json"]).json();
    assert_eq!(reset["kept"][0], "vault", "{reset}");
    let mut server = place.start();
    assert!(server.line().starts_with("Setup code: "));
    assert_eq!(
        server.get("/api/auth/status").await.body["auth_disabled"],
        true
    );
}

#[tokio::test]
async fn a_wrong_password_makes_no_key() {
    let place = Place::new();
    let server = place.start();
    server.set_up().await;
    server.stop();
    let file = place.file("wrong", "not the password").await;
    let mut command = place.prepared(Command::new(BINARY));
    command.env("SERVICE_PASSWORD_FILE", file);
    command
        .args(["auth", "create-key", "--store", "--data-dir"])
        .arg(place.data_dir());
    let ran = Ran(command.output().unwrap());
    assert!(ran.failed(1).contains("INVALID_CREDENTIALS"));
    assert_eq!(ran.stdout(), "");
    assert!(!place.data_dir().join("cli.key").exists());
}

#[tokio::test]
async fn a_preset_makes_a_key_for_one_purpose() {
    let mut place = Place::new();
    let server = place.start();
    place.env("SERVICE_URL", &server.url);
    server.set_up().await;
    let password = place.file("password", PASSWORD).await;
    place.env("SERVICE_PASSWORD_FILE", password.to_str().unwrap());
    let create = ["auth", "create-key", "--no-store", "--json"];
    let with = |more: [&'static str; 2]| [&create[..], &more].concat();
    let made = place.run(&with(["--preset", "metrics"])).json();
    assert_eq!(made["scopes"], serde_json::json!(["operator.read"]));
    let key = made["key"].as_str().unwrap();
    let refused = place.run(&["--api-key", key, "env", "list"]).failed(1);
    assert!(refused.contains("FORBIDDEN"), "{refused}");
    let refused = place.run(&with(["--only", "nothing.*"])).failed(1);
    assert!(refused.contains("only"), "{refused}");
    place.run(&with(["--preset", "nonsense"])).failed(2);
}

#[tokio::test]
async fn a_stored_key_serves_later_commands_against_a_running_server() {
    let mut place = Place::new();
    let server = place.start();
    place.env("SERVICE_URL", &server.url);
    server.set_up().await;
    let password = place.file("password", PASSWORD).await;
    assert!(
        place
            .run(&["auth", "sessions"])
            .failed(1)
            .contains("gatehouse auth create-key")
    );
    place.env("SERVICE_PASSWORD_FILE", password.to_str().unwrap());
    let key = place
        .run(&["auth", "create-key", "--store", "--label", "laptop"])
        .ok();
    let file = place.data_dir().join("cli.key");
    assert_eq!(mode(&file), 0o600);
    assert_eq!(tokio::fs::read_to_string(file).await.unwrap(), key);

    let sessions = place.run(&["auth", "sessions", "--json"]).json();
    assert_eq!(
        sessions["sessions"].as_array().unwrap().len(),
        1,
        "the login for the key has ended"
    );
    assert_eq!(place.run(&["vault", "status"]).ok(), "unsealed\n");
    assert_eq!(
        place.run(&["env", "set", "GREETING", "hello"]).ok(),
        "Stored GREETING encrypted.\n"
    );
    assert!(place.run(&["env", "list"]).ok().contains("GREETING"));
    assert_eq!(place.run(&["vault", "seal"]).ok(), "sealed\n");
    assert!(
        place
            .run(&["env", "list"])
            .failed(1)
            .contains("VAULT_SEALED")
    );
    assert_eq!(place.run(&["vault", "unlock"]).ok(), "unsealed\n");
    let rotated = place.run(&["vault", "rotate", "--json"]).json();
    assert_eq!(rotated["status"], "unsealed");
    let fresh = place.run(&["vault", "recovery-key"]).ok();
    assert!(
        fresh.starts_with("Recovery key: ") && !fresh.contains('\u{1b}'),
        "{fresh}"
    );
    place.run(&["env", "delete", "GREETING"]).ok();
    assert!(
        place
            .run(&["env", "delete", "GREETING"])
            .failed(1)
            .contains("NOT_FOUND")
    );

    let made = place
        .run(&["ssh-keys", "generate", "deploy", "--json"])
        .json();
    assert!(
        made["public_key"]
            .as_str()
            .unwrap()
            .starts_with("ssh-ed25519 "),
        "{made}"
    );
    assert!(place.run(&["ssh-keys", "list"]).ok().contains("deploy"));
    place.run(&["ssh-keys", "delete", "deploy"]).ok();
    assert!(
        place
            .run(&["audit", "list", "--limit", "500"])
            .ok()
            .contains("api_key")
    );
    place.run(&["config", "show", "auth"]).ok();
    let doctor = place.run(&["doctor", "--json"]).json();
    assert_eq!(doctor["checks"][0]["id"], "server");
}

#[tokio::test]
async fn beside_a_running_server_the_setup_code_is_shown_and_the_chain_verified() {
    let place = Place::new();
    let mut server = place.start();
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let printed = server.line();
    let shown = place.run(&["auth", "setup-code", "--bind", &address]).ok();
    assert_eq!(shown.trim(), printed);
    server.set_up().await;
    let told = place
        .run(&["auth", "setup-code", "--bind", &address])
        .failed(1);
    assert!(told.contains("already complete"), "{told}");
    let verified = place
        .run(&["audit", "verify", "--json", "--bind", &address])
        .json();
    assert_eq!(verified["ok"], true);
    let told = place
        .run(&["auth", "reset", "--yes", "--bind", &address])
        .failed(1);
    assert!(
        told.contains("a server is running on this data directory"),
        "{told}"
    );
    assert_eq!(
        server.get("/api/auth/status").await.body["has_password"],
        json!(true)
    );
}

#[test]
fn nobody_there_is_told_with_what_to_do() {
    let place = Place::new();
    let told = place
        .run(&["vault", "status", "--url", "http://127.0.0.1:9"])
        .failed(1);
    assert!(told.contains("gatehouse serve"), "{told}");
    assert!(
        place
            .run(&["vault", "status", "--url", "ftp://x"])
            .failed(1)
            .contains("http")
    );
    assert!(
        place.run(&["doctor"]).failed(1).is_empty(),
        "a failed check is a result, no error"
    );
}
