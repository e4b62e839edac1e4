//! `gatehouse webhooks forward`, with a real server and a program that checks the vendor's signature. Signature:
//! <https://docs.stripe.com/webhooks?verify=verify-manually>

use crate::process::{BINARY, Installation, Server};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sha2::Sha256;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const SECRET: &str = "whsec_of_the_local_program_01";
const TIMEOUT: Duration = Duration::from_mins(1);

fn now() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

fn signature(time: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    let bytes = mac.finalize().into_bytes();
    HEXLOWER.encode(&bytes)
}

/// What the program received.
#[derive(Debug)]
struct Received {
    body: Vec<u8>,
    headers: HeaderMap,
    query: Option<String>,
}

/// Checks a request as Stripe's libraries do: the header's own name, the signature and the age.
async fn hook(
    State(sender): State<mpsc::SyncSender<Received>>,
    axum::extract::RawQuery(query): axum::extract::RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let header = headers
        .get("stripe-signature")
        .and_then(|value| value.to_str().ok());
    let part = |name: &str| {
        let parts = header.unwrap_or_default().split(',');
        parts
            .filter_map(|part| part.split_once('='))
            .find(|(key, _)| *key == name)
    };
    let (Some((_, time)), Some((_, given))) = (part("t"), part("v1")) else {
        return StatusCode::BAD_REQUEST;
    };
    let age = now() - time.parse::<i64>().unwrap_or(0);
    if signature(time, &body) != given || age.abs() > 300 {
        return StatusCode::BAD_REQUEST;
    }
    let answer = if body.starts_with(b"{\"id\":\"evt_broken\"") {
        StatusCode::IM_A_TEAPOT
    } else {
        StatusCode::OK
    };
    sender
        .send(Received {
            body: body.to_vec(),
            headers,
            query,
        })
        .unwrap();
    answer
}

/// Starts the program on this address.
fn program(at: SocketAddr, sender: &mpsc::SyncSender<Received>) -> (SocketAddr, JoinHandle<()>) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(at).unwrap();
    let listener = socket.listen(16).unwrap();
    let at = listener.local_addr().unwrap();
    let router = Router::new()
        .route("/hook", post(hook))
        .with_state(sender.clone());
    #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (at, task)
}

/// A fixed address whose server can be replaced. Each change cuts all connections.
struct Door {
    url: String,
    to: watch::Sender<Option<SocketAddr>>,
}

impl Door {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (to, behind) = watch::channel(None::<SocketAddr>);
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move {
            loop {
                let (mut inside, _) = listener.accept().await.unwrap();
                let mut behind = behind.clone();
                let Some(to) = *behind.borrow_and_update() else {
                    continue;
                };
                tokio::spawn(async move {
                    if let Ok(mut outside) = TcpStream::connect(to).await {
                        tokio::select! {
                            _ = tokio::io::copy_bidirectional(&mut inside, &mut outside) => {}
                            _ = behind.changed() => {}
                        }
                    }
                });
            }
        });
        Self { url, to }
    }

    fn lead_to(&self, server: Option<&Server>) {
        let address = server.map(|server| server.url.strip_prefix("http://").unwrap().parse());
        self.to.send(address.transpose().unwrap()).unwrap();
    }
}

/// A running `webhooks forward` and its output.
struct Forward {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Drop for Forward {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Forward {
    fn start(installation: &Installation, url: &str, args: &[&str]) -> Self {
        let mut command = installation.prepared(Command::new(BINARY));
        command
            .args(["--url", url, "webhooks", "forward"])
            .args(args);
        command.arg("--data-dir").arg(installation.data_dir());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::sync_channel(1024);
        let outputs: [Box<dyn std::io::Read + Send>; 2] = [
            Box::new(child.stdout.take().unwrap()),
            Box::new(child.stderr.take().unwrap()),
        ];
        for output in outputs {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    drop(sender.send(line));
                }
            });
        }
        Self { child, lines }
    }

    /// Returns the next line with this text.
    #[track_caller]
    fn line(&self, text: &str) -> String {
        let mut before = Vec::new();
        loop {
            match self.lines.recv_timeout(TIMEOUT) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => before.push(line),
                Err(error) => panic!("no line with {text:?}: {error}; {before:#?}"),
            }
        }
    }

    /// Interrupts the process, as Ctrl-C does, and returns its last line.
    fn interrupt(mut self) -> Option<String> {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.lines.iter().last()
    }
}

/// Sends an event as the vendor does and returns the delivery's ID.
async fn send(server: &Server, public_id: &str, id: &str, kind: &str) -> (String, Vec<u8>) {
    let (delivery, body, _) = send_signed(server, public_id, id, kind).await;
    (delivery, body)
}

/// Does the same as [`send`] and also returns the signature.
async fn send_signed(
    server: &Server,
    public_id: &str,
    id: &str,
    kind: &str,
) -> (String, Vec<u8>, String) {
    // The spaces and the number's spelling must survive.
    let body = format!("{{\"id\":\"{id}\",  \"type\":\"{kind}\", \"n\": 1.0, \"é\":\"\\u00e9\"}}");
    let time = now().to_string();
    let signed = signature(&time, body.as_bytes());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client
        .post(format!(
            "{}/api/webhooks/ingest/{public_id}?a=b",
            server.url
        ))
        .header("content-type", "application/json; charset=utf-8")
        .header("stripe-signature", format!("t={time},v1={signed}"))
        .header(
            "user-agent",
            "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
        )
        .header("x-twice", "one")
        .header("x-twice", "two")
        .body(body.clone())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 202);
    let answer: Value = answer.json().await.unwrap();
    (
        answer["delivery_id"].as_str().unwrap().to_owned(),
        body.into_bytes(),
        signed,
    )
}

fn webhook(installation: &Installation, server: &Server) -> (String, String) {
    let made = installation.run(&[
        "--url",
        &server.url,
        "--json",
        "webhooks",
        "create",
        "--name",
        "Shop",
        "--source-profile",
        "stripe",
        "--secret",
        SECRET,
        "--deliver-only",
        "--prompt-template",
        "{id}",
    ]);
    let made = made.json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("public_id"))
}

#[expect(clippy::too_many_lines, reason = "one scenario from beginning to end")]
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_reach_a_local_program_once_with_bytes_and_signature() {
    let installation = Installation::new();
    let mut server = installation.start();
    let (id, public_id) = webhook(&installation, &server);
    let door = Door::open().await;
    door.lead_to(Some(&server));
    let (sender, received) = mpsc::sync_channel(1024);
    let (at, task) = program("127.0.0.1:0".parse().unwrap(), &sender);
    let next = |received: &mpsc::Receiver<Received>| received.recv_timeout(TIMEOUT).unwrap();

    send(&server, &public_id, "evt_before", "invoice.paid").await;
    let forward = Forward::start(
        &installation,
        &door.url,
        &[&id, &format!("http://{at}/hook")],
    );
    forward.line("Forwarding deliveries to");
    let (delivery, body, signed) = send_signed(&server, &public_id, "evt_1", "invoice.paid").await;
    let line = forward.line(&delivery);
    assert!(
        line.contains("  invoice.paid  ") && line.contains("  200  "),
        "{line}"
    );
    assert!(!line.contains("signed"), "{line}");
    let got = next(&received);
    assert_eq!((got.body, got.query.as_deref()), (body, Some("a=b")));
    let twice: Vec<_> = got.headers.get_all("x-twice").iter().collect();
    assert_eq!(twice, ["one", "two"]);
    assert_eq!(
        got.headers["content-type"],
        "application/json; charset=utf-8"
    );
    assert!(
        got.headers["user-agent"]
            .to_str()
            .unwrap()
            .starts_with("Stripe/")
    );
    assert_eq!(got.headers["host"], at.to_string());

    // The signature was only in memory.
    assert!(!installation.log().await.contains(&signed));
    for file in std::fs::read_dir(installation.data_dir()).unwrap() {
        let path = file.unwrap().path();
        let bytes = tokio::fs::read(&path).await.unwrap_or_default();
        let found = bytes
            .windows(signed.len())
            .any(|part| part == signed.as_bytes());
        assert!(!found, "{}", path.display());
    }

    // The answer of the program is shown in any case.
    let (delivery, _) = send(&server, &public_id, "evt_broken", "invoice.paid").await;
    assert!(forward.line(&delivery).contains("  418  "));
    next(&received);

    // The server stops and restarts. Deliveries that arrive in between are neither lost nor repeated.
    door.lead_to(None);
    forward.line("the server does not respond");
    let (held, _) = send(&server, &public_id, "evt_2", "invoice.paid").await;
    server.kill();
    server = installation.start();
    let (late, _) = send(&server, &public_id, "evt_3", "invoice.paid").await;
    door.lead_to(Some(&server));
    // The killed process had the signature of the first delivery only in memory.
    assert!(forward.line(&held).contains("signed again"));
    forward.line(&late);
    for id in ["evt_2", "evt_3"] {
        let got: Value = serde_json::from_slice(&next(&received).body).unwrap();
        assert_eq!(got["id"], id);
    }

    // The program stops and restarts.
    task.abort();
    drop(task.await);
    let (waits, body) = send(&server, &public_id, "evt_4", "invoice.paid").await;
    let warning = forward.line("no program listens at");
    assert!(
        warning.contains(&waits) && warning.contains(&at.to_string()),
        "{warning}"
    );
    let (_, _task) = program(at, &sender);
    let line = forward.line(&format!("  {waits}  "));
    assert!(
        line.contains("  200  ") && !line.contains("signed"),
        "{line}"
    );
    assert_eq!(next(&received).body, body);
    assert_eq!(
        forward.interrupt().as_deref(),
        Some("Forwarded 5 deliveries.")
    );
    assert!(received.try_recv().is_err(), "a delivery was repeated");

    // Past deliveries, by type, as JSON. They are signed now, because the signatures are not
    // stored.
    send(&server, &public_id, "evt_5", "charge.dispute.created").await;
    let to = format!("http://{at}/hook");
    let args = [&id, &*to, "--since", "1h", "--event", "charge.*", "--json"];
    let forward = Forward::start(&installation, &server.url, &args);
    let line: Value = serde_json::from_str(&forward.line("charge.dispute.created")).unwrap();
    assert_eq!(
        (&line["status"], &line["origin"]),
        (&json!(200), &json!("signed"))
    );
    let got: Value = serde_json::from_slice(&next(&received).body).unwrap();
    assert_eq!(got["id"], "evt_5");
    forward.interrupt();
    assert!(received.try_recv().is_err(), "another type was forwarded");
}

#[tokio::test]
async fn mistakes_are_reported_before_anything_is_forwarded() {
    let installation = Installation::new();
    let server = installation.start();
    let run = |args: &[&str], code: i32| {
        let mut all = vec!["--url", &server.url, "webhooks", "forward"];
        all.extend(args);
        installation.run(&all).failed(code)
    };
    let error = run(&["hook_none", "http://127.0.0.1:9/x"], 1);
    assert!(error.contains("NOT_FOUND"), "{error}");
    let (id, _) = webhook(&installation, &server);
    let error = run(&[&id, "ftp://127.0.0.1:9/x"], 2);
    assert!(error.contains("expected a URL such as"), "{error}");
    let error = run(&[&id, "http://127.0.0.1:9/x", "--since", "yesterday"], 2);
    assert!(error.contains("expected 10m"), "{error}");
}
