//! Commands whose server does not respond, or whose data directory has no database.

use crate::process::{Installation, NOWHERE};

/// The commands use the address in their settings. The server may have other settings.
#[test]
fn a_server_that_holds_the_data_directory_is_named_when_it_does_not_respond() {
    let installation = Installation::new();
    let server = installation.start();
    for args in [&["doctor"] as &[&str], &["auth", "reset", "--yes"]] {
        let ran = installation.run(&[args, &["--bind", "127.0.0.1:9"]].concat());
        let error = ran.failed(1);
        for part in [
            "a server is running on this data directory",
            "it does not respond at http://127.0.0.1:9/",
            "stop it and try again",
        ] {
            assert!(error.contains(part), "{args:?}: {error}");
        }
        assert!(!error.contains("start it"), "{args:?}: {error}");
    }
    server.stop();
}

#[test]
fn a_missing_server_is_reported_with_what_to_do() {
    let installation = Installation::new();
    let received = installation
        .run(&["vault", "status", "--url", "http://127.0.0.1:9"])
        .failed(1);
    assert!(received.contains("gatehouse serve"), "{received}");
    assert!(
        installation
            .run(&["vault", "status", "--url", "ftp://x"])
            .failed(2)
            .contains("http")
    );
    assert!(
        installation
            .run(&["doctor", "--bind", NOWHERE])
            .failed(1)
            .is_empty(),
        "a failed check is a result, no error"
    );
}

#[test]
fn a_reset_without_a_database_creates_none_and_is_not_reported_as_done() {
    let installation = Installation::new();
    let refused = installation.run(&["auth", "reset", "--yes"]).failed(1);
    assert!(refused.contains("nothing was reset"), "{refused}");
    assert!(!installation.data_dir().join("gatehouse.db").exists());
}

#[test]
fn a_command_without_a_database_names_the_directory_and_how_to_choose_another_one() {
    let installation = Installation::new();
    let database = installation.data_dir().join("gatehouse.db");
    let database = database.to_str().unwrap();
    for args in [
        &["backup", "create"] as &[&str],
        &["audit", "verify"],
        &["auth", "reset", "--yes"],
        &["move", "--to", "sqlite://other.db"],
    ] {
        let error = installation.run(args).failed(1);
        for part in [database, "--data-dir", "SERVICE_DATABASE_URL"] {
            assert!(error.contains(part), "{args:?}: {error}");
        }
    }
    let doctor = installation.run(&["doctor", "--bind", NOWHERE]);
    doctor.failed(1);
    for part in [database, "--data-dir", "--url", "SERVICE_API_KEY"] {
        assert!(doctor.stdout().contains(part), "{}", doctor.stdout());
    }
    assert!(!installation.data_dir().exists());
}

#[test]
fn a_setup_code_beside_a_server_whose_database_is_missing_creates_none() {
    let installation = Installation::new();
    let server = installation.start();
    let database = installation.data_dir().join("gatehouse.db");
    let away = installation.data_dir().join("away.db");
    std::fs::rename(&database, &away).unwrap();
    let error = installation.run(&["auth", "setup-code"]).failed(1);
    assert!(error.contains("there is no database"), "{error}");
    assert!(!error.contains("one was created"), "{error}");
    assert!(!database.exists());
    std::fs::rename(&away, &database).unwrap();
    server.stop();
}

/// The view of a user who is not the service's user. The server responds, and its database is
/// elsewhere.
#[tokio::test]
async fn without_a_database_the_server_that_responds_is_checked_and_a_key_is_asked_for() {
    let (service, other) = (Installation::new(), Installation::new());
    let server = service.start();
    server.set_up().await;
    let address = server.url.strip_prefix("http://").unwrap();
    let error = other.run(&["doctor", "--bind", address]).failed(1);
    assert!(error.contains("SERVICE_API_KEY"), "{error}");
    assert!(!error.contains("gatehouse serve"), "{error}");
    let key = service.make_key(&server, &["operator.read"]).await;
    let args = ["doctor", "--json", "--bind", address, "--api-key", &key];
    let checked = other.run(&args).stdout();
    assert!(checked.contains("A server responds at"), "{checked}");
    let note = other.run(&args).stderr();
    assert!(note.contains("so the running server is checked"), "{note}");
    assert!(!note.contains("--data-dir"), "{note}");
}
