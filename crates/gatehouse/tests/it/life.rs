//! Starting, stopping and restarting.

use crate::process::{BINARY, Installation, PASSWORD, Server, make_key, mode};
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_start_prints_the_address_and_the_setup_code_and_a_stop_leaves_nothing_open() {
    let installation = Installation::new();
    let mut server = installation.start();
    let code = server.line();
    let code = code.strip_prefix("Setup code: ").unwrap().to_owned();
    assert!(
        code.len() == 6 && code.bytes().all(|b| b.is_ascii_digit()),
        "{code}"
    );
    let health = server.get("/health").await;
    assert_eq!(
        (health.status, health.body["status"].as_str()),
        (StatusCode::OK, Some("ok"))
    );
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    assert_eq!(
        server.stop(),
        format!("Open http://localhost:{port} in a browser\n"),
        "standard output carries three lines and nothing else"
    );
    for name in ["gatehouse.db-wal", "gatehouse.db-shm"] {
        let left = installation.data_dir().join(name);
        assert!(
            left.metadata().map_or(true, |found| found.len() == 0),
            "{name} is left"
        );
    }
    // The code survives a restart and is printed again.
    let mut server = installation.start();
    assert_eq!(server.line(), format!("Setup code: {code}"));
}

#[tokio::test]
async fn logs_go_to_standard_error_as_the_settings_say() {
    let mut installation = Installation::new();
    installation.env("SERVICE_LOG__FORMAT", "json");
    installation.env("SERVICE_LOG", "info,hyper=off");
    let server = installation.start();
    server.get("/health").await;
    server.stop();
    let log = installation.log().await;
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let request = lines
        .iter()
        .find(|line| line["target"] == "gatehouse::request")
        .unwrap();
    let time = request["timestamp"].as_str().unwrap();
    assert!(
        time.len() == "2026-11-20T12:00:00.000Z".len() && time.ends_with('Z'),
        "{time}"
    );
    assert_eq!(request["status"], 200);
}

#[tokio::test]
async fn files_are_for_their_owner_alone() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    assert_eq!(mode(&installation.data_dir()), 0o700);
    let mut names = Vec::new();
    for entry in installation.data_dir().read_dir().unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
        names.push(entry.file_name().into_string().unwrap());
    }
    for name in ["gatehouse.db", "gatehouse.db-wal", "gatehouse.lock"] {
        assert!(
            names.iter().any(|found| found == name),
            "{name} is not in {names:?}"
        );
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_directory_is_refused() {
    let installation = Installation::new();
    let server = installation.start();
    let lock = installation.data_dir().join("gatehouse.lock");
    for is_deleted in [false, true] {
        if is_deleted {
            tokio::fs::remove_file(&lock).await.unwrap();
        }
        let second = installation.run(&["serve", "--bind", "127.0.0.1:0"]);
        let error = second.failed(1);
        assert!(error.contains("another Gatehouse is running"), "{error}");
        assert_eq!(second.stdout(), "");
    }
    // The existence of the file is not the lock, so a start after a kill works.
    server.kill();
    assert!(lock.exists());
    installation.start().stop();
}

#[tokio::test]
async fn an_address_in_use_is_reported() {
    let (one, two) = (Installation::new(), Installation::new());
    let server = one.start();
    let address = server.url.strip_prefix("http://").unwrap();
    let refused = two.run(&["--bind", address]);
    assert!(
        refused
            .failed(1)
            .contains(&format!("cannot listen on {address}")),
        "{}",
        refused.stderr()
    );
}

#[tokio::test]
async fn another_address_in_use_is_reported() {
    for (variable, setting) in [
        ("SERVICE_METRICS__BIND", "metrics.bind"),
        ("SERVICE_VOICE__WYOMING__BIND", "voice.wyoming.bind"),
    ] {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let mut installation = Installation::new();
        installation.env(variable, address.to_string());
        let refused = installation.run(&["--bind", "127.0.0.1:0"]);
        let expected = format!("cannot listen on {address}, the address of {setting}");
        assert!(
            refused.failed(1).contains(&expected),
            "{}",
            refused.stderr()
        );
        assert_eq!(refused.stdout(), "");
        drop(taken);
        installation.start().stop();
    }
}

#[tokio::test]
async fn the_vault_is_sealed_after_a_restart_and_a_login_unseals_it() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    assert_eq!(server.vault_status().await, "unsealed");
    server.stop();
    let mut server = installation.start();
    assert_eq!(server.vault_status().await, "sealed");
    let login = server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    assert_eq!(login.status, StatusCode::OK);
    assert_eq!(server.vault_status().await, "unsealed");
    server.signal(Signal::TERM);
    assert!(server.line().starts_with("Open http://localhost:"));
    assert_eq!(server.line(), "", "no setup code once setup is complete");
}

#[tokio::test]
async fn a_recovery_key_in_a_file_or_in_the_environment_unseals_at_start() {
    let mut installation = Installation::new();
    let server = installation.start();
    let recovery_key = server.set_up().await;
    server.stop();
    let file = installation
        .file("recovery", &format!("{}\n", recovery_key.to_lowercase()))
        .await;
    installation.env("SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE", file.to_str().unwrap());
    let server = installation.start();
    assert_eq!(server.vault_status().await, "unsealed");
    server.stop();
    installation.environment.clear();
    installation.env("SERVICE_VAULT_AUTO_UNSEAL_KEY", &recovery_key);
    let server = installation.start();
    assert_eq!(server.vault_status().await, "unsealed");
    server.stop();
    assert!(!installation.log().await.contains(&recovery_key));
    // An invalid key causes a warning and a sealed start, not a failure.
    installation.environment.clear();
    installation.env("SERVICE_VAULT_AUTO_UNSEAL_KEY", "AAAA-BBBB");
    let server = installation.start();
    assert_eq!(server.vault_status().await, "sealed");
    server.stop();
    assert!(installation.log().await.contains("WARN"));
}

#[tokio::test]
async fn the_first_signal_waits_for_requests_and_the_second_does_not() {
    let installation = Installation::new();
    let mut command = Command::new(BINARY);
    command.arg("serve");
    let mut server = installation.start_with(command, Stdio::piped());
    // A request whose body never arrives.
    let address = server.url.strip_prefix("http://").unwrap();
    let mut slow = TcpStream::connect(address).unwrap();
    let head = "POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\
                content-type: application/json\r\nexpect: 100-continue\r\n\r\n";
    std::io::Write::write_all(&mut slow, head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    std::io::Read::read_exact(&mut slow, &mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100", "the handler waits for the body");
    server.signal(Signal::TERM);
    let mut log = BufReader::new(server.child.stderr.take().unwrap()).lines();
    assert!(log.any(|line| line.unwrap().contains("stopping")));
    assert!(server.child.try_wait().unwrap().is_none(), "it waits");
    server.signal(Signal::INT);
    assert_eq!(server.wait().0.code(), Some(1));
}

/// What the process does on SIGHUP.
#[derive(Debug, PartialEq, Eq)]
enum OnHangup {
    Ignores,
    Handles,
    Ends,
}

/// Reads the signal masks in `/proc`. This is for Linux only, like the server's own check: other systems have no
/// `/proc/<pid>/status`.
async fn on_hangup(server: &Server) -> OnHangup {
    let path = format!("/proc/{}/status", server.child.id());
    let status = tokio::fs::read_to_string(path).await.unwrap();
    let contains = |mask: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(mask));
        // The lowest bit is signal 1, SIGHUP.
        u64::from_str_radix(mask.unwrap().trim(), 16).unwrap() & 1 == 1
    };
    match (contains("SigIgn:"), contains("SigCgt:")) {
        (true, _) => OnHangup::Ignores,
        (false, true) => OnHangup::Handles,
        (false, false) => OnHangup::Ends,
    }
}

#[tokio::test]
async fn the_end_of_a_terminal_stops_the_server_gracefully() {
    let installation = Installation::new();
    // The process that runs the tests may ignore the signal.
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", BINARY, "serve"]);
    let server = installation.start_as(command);
    assert_eq!(on_hangup(&server).await, OnHangup::Handles);
    server.signal(Signal::HUP);
    assert_eq!(server.wait().0.code(), Some(0));
    assert!(installation.log().await.contains("stopping"));
}

#[tokio::test]
async fn a_server_that_nohup_started_survives_the_end_of_its_terminal() {
    let installation = Installation::new();
    let mut command = Command::new("nohup");
    command.args([BINARY, "serve"]);
    let server = installation.start_as(command);
    // A server with a handler could still answer below, before it stops.
    assert_eq!(on_hangup(&server).await, OnHangup::Ignores);
    server.signal(Signal::HUP);
    let ready = server.get("/health/ready").await;
    assert_eq!(ready.status, StatusCode::OK, "{:?}", ready.body);
    assert!(!installation.log().await.contains("stopping"));
    server.stop();
    assert!(installation.log().await.contains("stopping"));
}

#[tokio::test]
async fn own_tls_serves_the_command_line_by_a_certificate_made_on_demand() {
    let mut installation = Installation::new();
    installation.env("SERVICE_SERVER__TLS__SELF_SIGNED", "true");
    let server = installation.start();
    assert!(
        server.url.starts_with("https://127.0.0.1:"),
        "{}",
        server.url
    );
    let status = installation.run(&["vault", "status", "--url", &server.url]);
    assert_eq!(status.ok().trim(), "uninitialized");
    for name in ["self-signed-cert.pem", "self-signed-key.pem"] {
        assert_eq!(mode(&installation.data_dir().join(name)), 0o600);
    }
    // A client without the certificate does not trust it.
    let stranger = Installation::new().run(&["vault", "status", "--url", &server.url]);
    assert!(
        stranger.failed(1).contains("no server responds"),
        "{}",
        stranger.stderr()
    );
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    server.kill();
    let key = make_key(&installation).await;
    let server = installation.start();
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    for number in 0..20 {
        let params = json!({ "key": format!("KEY_{number}"), "value": "v" });
        let answer = server.rpc(&key, "env.set", params).await;
        assert_eq!(answer["result"]["encrypted"], 1, "{answer}");
    }
    server.kill();
    let server = installation.start();
    assert_eq!(server.vault_status().await, "sealed");
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    let list = server.rpc(&key, "env.list", json!({})).await;
    assert_eq!(
        list["result"]["env_variables"].as_array().unwrap().len(),
        20,
        "{list}"
    );
    server.stop();
    assert_eq!(
        installation.run(&["audit", "verify", "--json"]).json()["ok"],
        true
    );
}

/// Reads messages of the service until this one.
fn heard(socket: &UnixDatagram, wanted: &str) {
    let mut buffer = [0; 256];
    loop {
        let length = socket.recv(&mut buffer).unwrap();
        if buffer.get(..length) == Some(wanted.as_bytes()) {
            return;
        }
    }
}

#[tokio::test]
async fn systemd_hears_that_the_service_is_ready_alive_and_stopping() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let abstract_name = format!("gatehouse-test-{}", std::process::id());
    for is_abstract in [false, true] {
        let (name, socket) = if is_abstract {
            let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
            let socket = UnixDatagram::bind_addr(&address).unwrap();
            (format!("@{abstract_name}"), socket)
        } else {
            let socket = UnixDatagram::bind(&path).unwrap();
            (path.display().to_string(), socket)
        };
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let mut installation = Installation::new();
        installation.env("NOTIFY_SOCKET", name);
        installation.env("WATCHDOG_USEC", "200000");
        let server = installation.start();
        heard(&socket, "READY=1");
        assert_eq!(server.get("/health/ready").await.status, StatusCode::OK);
        heard(&socket, "WATCHDOG=1");
        heard(&socket, "WATCHDOG=1");
        server.stop();
        heard(&socket, "STOPPING=1");
    }
}

#[tokio::test]
async fn requests_are_accepted_for_a_while_after_the_signal_to_stop() {
    let mut installation = Installation::new();
    installation.env("SERVICE_SERVER__DRAIN_DELAY_SECONDS", "3");
    let server = installation.start();
    assert_eq!(server.get("/health/ready").await.status, StatusCode::OK);
    server.signal(Signal::TERM);
    let begun = Instant::now();
    let not_ready = loop {
        let reply = server.get("/health/ready").await;
        if reply.status == StatusCode::SERVICE_UNAVAILABLE {
            break reply;
        }
        assert!(begun.elapsed() < Duration::from_secs(3), "never not ready");
    };
    assert_eq!(not_ready.body["reasons"], json!(["draining"]));
    assert_eq!(server.get("/health/live").await.status, StatusCode::OK);
    assert_eq!(server.get("/api/auth/status").await.status, StatusCode::OK);
    let (status, _) = server.wait();
    assert!(status.success(), "{status}");
    assert!(begun.elapsed() >= Duration::from_secs(3));
}
