//! Deliveries end to end: a real process, the command line, and a kill.

use crate::process::{Installation, Server};
use axum::Router;
use axum::extract::State;
use axum::routing::post;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// Runs a command against this server.
fn cli(
    installation: &Installation,
    server: &Server,
    args: &[&str],
) -> crate::process::CommandOutput {
    let mut all = vec!["--url", &server.url, "--json"];
    all.extend(args);
    installation.run(&all)
}

fn make(installation: &Installation, server: &Server, more: &[&str]) -> Value {
    let mut args = vec!["webhooks", "create", "--name", "Repository"];
    args.extend(more);
    cli(installation, server, &args).json()
}

const FORWARDED: &[&str] = &[
    "--source-profile",
    "github",
    "--deliver-only",
    "--prompt-template",
    "{action}: {pull_request.title}",
];

/// Polls until the newest delivery has ended.
fn ended(installation: &Installation, server: &Server) -> Value {
    for _ in 0..1000 {
        let page = cli(installation, server, &["webhooks", "deliveries"]).json();
        let newest = page["deliveries"][0].clone();
        if newest["finished_at"].is_string() {
            return newest;
        }
    }
    panic!("the delivery did not come to its end");
}

#[test]
fn a_sample_goes_the_whole_way_into_the_inbox() {
    let installation = Installation::new();
    let server = installation.start();
    let webhook = make(&installation, &server, FORWARDED);
    let id = webhook["id"].as_str().unwrap();
    assert!(webhook["secret"].is_string() && webhook["url"].as_str().unwrap().contains("/wh_"));
    cli(&installation, &server, &["webhooks", "test", id]).ok();
    let delivery = ended(&installation, &server);
    assert_eq!(delivery["status"], "completed", "{delivery}");
    let inbox = cli(&installation, &server, &["channels", "inbox"]).json();
    let text = inbox["messages"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("opened: "), "{text}");
    // An invalid argument is a usage error. An error from the server is not.
    let wrong = ["webhooks", "deliveries", "--status", "nowhere"];
    cli(&installation, &server, &wrong).failed(2);
    cli(&installation, &server, &["webhooks", "show", "hook_none"]).failed(1);
    let change = ["webhooks", "update", id, "--source-profile", "gitlab"];
    let changed = cli(&installation, &server, &change).json();
    assert_eq!(changed["source_profile"], "codehost_b", "{changed}");
    assert_eq!(changed["auth_mode"], "codehost_b_token", "{changed}");
    cli(&installation, &server, &["webhooks", "delete", id]).ok();
    let list = cli(&installation, &server, &["webhooks", "list"]).json();
    assert_eq!(list["webhooks"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_change_of_one_list_keeps_the_other() {
    let installation = Installation::new();
    let server = installation.start();
    let lists = ["--events", "push,fork", "--allow-tools", "calc"];
    let webhook = make(&installation, &server, &lists);
    let id = webhook["id"].as_str().unwrap();
    let update = |more: &[&str]| {
        let mut args = vec!["webhooks", "update", id];
        args.extend(more);
        cli(&installation, &server, &args).json()
    };
    let changed = update(&["--deny-events", "fork", "--deny-tools", "web_fetch"]);
    let events = json!({ "allow": ["push", "fork"], "deny": ["fork"] });
    assert_eq!(changed["events"], events);
    let tools = json!({ "allow": ["calc"], "deny": ["web_fetch"] });
    assert_eq!(changed["toolPolicy"], tools);
    let cleared = update(&["--events", ""]);
    assert_eq!(cleared["events"], json!({ "allow": [], "deny": ["fork"] }));
    assert_eq!(cleared["toolPolicy"], tools);
    let allow = update(&["--deny-tools", ""]);
    let tools = json!({ "allow": ["calc"], "deny": [] });
    assert_eq!(allow["toolPolicy"], tools);
    // An empty policy would offer every public tool.
    let none = update(&["--allow-tools", ""]);
    assert_eq!(none["toolPolicy"], Value::Null);
}

#[tokio::test]
async fn all_seven_metrics_are_there_from_the_start() {
    let installation = Installation::new();
    let server = installation.start();
    let text = server.text("/metrics").await;
    for name in [
        "webhooks_deliveries_total",
        "webhooks_deliveries_rejected_total",
        "webhooks_deliveries_filtered_total",
        "webhooks_processing_duration_seconds",
        "webhooks_response_actions_total",
        "webhooks_rate_limited_total",
        "webhooks_worker_queue_depth",
    ] {
        assert!(text.contains(&format!("# TYPE {name} ")), "{name}:\n{text}");
        assert!(text.contains(&format!("# HELP {name} ")), "{name}");
    }
}

#[tokio::test]
async fn a_delivery_that_was_accepted_outlives_a_kill() {
    let mut installation = Installation::new();
    installation.env("SERVICE_WEBHOOKS__RETRY_BASE_MS", "100");
    installation.env("SERVICE_WEBHOOKS__MAX_ATTEMPTS", "3");
    // This listener never answers, so the delivery is in progress when the process dies.
    let silence = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("url=http://{}/", silence.local_addr().unwrap());
    let mut server = installation.start();
    let account = [
        "channels", "create", "http", "--id", "silent", "--field", &url,
    ];
    cli(&installation, &server, &account).ok();
    let mut fields = FORWARDED.to_vec();
    fields.extend(["--deliver-to", "http:silent"]);
    let webhook = make(&installation, &server, &fields);
    let id = webhook["id"].as_str().unwrap();
    cli(&installation, &server, &["webhooks", "test", id]).ok();
    // The delivery has started once there is a connection.
    let connected = tokio::task::spawn_blocking(move || silence.accept().map(|_| silence));
    let silence = connected.await.unwrap().unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    drop(silence);

    // The listener is gone, so the delivery is retried up to the limit. The killed run counts as one of the
    // three attempts.
    let server = installation.start();
    let delivery = ended(&installation, &server);
    assert_eq!(delivery["status"], "failed", "{delivery}");
    assert_eq!(delivery["attempts"], 3, "{delivery}");
}

/// Returns the runs in the inbox, oldest first, each with its scheduled second and the number of missed runs.
fn runs(installation: &Installation, server: &Server) -> Vec<(u64, u64)> {
    let inbox = cli(installation, server, &["channels", "inbox"]).json();
    let messages = inbox["messages"].as_array().unwrap();
    let run = |message: &Value| {
        let (at, missed) = message["text"].as_str().unwrap().split_once(' ').unwrap();
        let at: jiff::Timestamp = at.parse().unwrap();
        (at.as_second().unsigned_abs(), missed.parse().unwrap())
    };
    let mut runs: Vec<_> = messages.iter().map(run).collect();
    runs.sort_unstable();
    runs
}

/// Waits until the inbox has this many runs.
fn until(installation: &Installation, server: &Server, count: usize) {
    let stored = (0..1000).any(|_| runs(installation, server).len() >= count);
    assert!(stored, "{:?}", runs(installation, server));
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_skip_no_run_of_a_schedule_and_repeat_none() {
    let installation = Installation::new();
    let mut server = installation.start();
    let every_second = json!({
        "name": "Every second", "source_profile": "schedule", "deliver_only": true,
        "prompt_template": "{scheduled_for} {missed}", "schedule": { "every_seconds": 1 },
    });
    let made = server.rpc("", "webhooks.create", every_second).await;
    assert!(made["result"]["id"].is_string(), "{made}");
    for count in [1, 3, 4, 6] {
        until(&installation, &server, count);
        server.kill();
        server = installation.start();
    }
    until(&installation, &server, 8);
    let runs = runs(&installation, &server);
    for pair in runs.windows(2) {
        let ((before, _), (at, missed)) = (pair[0], pair[1]);
        // A late run counts as missed.
        let covered = at - before;
        assert!(covered > 0, "a run twice: {runs:?}");
        assert!(missed == covered || missed + 1 == covered, "{runs:?}");
    }
}

/// A receiver of sends. It delays the response to the first request. It answers other requests
/// immediately.
#[derive(Clone)]
struct Receiver {
    url: String,
    requests: watch::Sender<usize>,
    answered: Arc<AtomicUsize>,
}

impl Receiver {
    async fn start(first_answer_after: Duration) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            url: format!("http://{}/", listener.local_addr().unwrap()),
            requests: watch::Sender::new(0),
            answered: Arc::default(),
        };
        let answer = move |State(receiver): State<Self>| async move {
            let mut number = 0;
            receiver.requests.send_modify(|requests| {
                *requests += 1;
                number = *requests;
            });
            if number == 1 {
                tokio::time::sleep(first_answer_after).await;
            }
            receiver.answered.fetch_add(1, Ordering::SeqCst);
        };
        let router = Router::new()
            .route("/", post(answer))
            .with_state(receiver.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    /// Returns the number of requests, and of those that it answered.
    fn counts(&self) -> (usize, usize) {
        (
            *self.requests.borrow(),
            self.answered.load(Ordering::SeqCst),
        )
    }
}

/// Starts a server and stops it as soon as a send to the receiver has begun. Returns the ID of the delivery.
async fn stop_during_a_send(installation: &Installation, receiver: &Receiver) -> String {
    let server = installation.start();
    let url = format!("url={}", receiver.url);
    let account = [
        "channels", "create", "http", "--id", "slow", "--field", &url,
    ];
    cli(installation, &server, &account).ok();
    let mut fields = FORWARDED.to_vec();
    fields.extend(["--deliver-to", "http:slow"]);
    let webhook = make(installation, &server, &fields);
    let id = webhook["id"].as_str().unwrap();
    cli(installation, &server, &["webhooks", "test", id]).ok();
    let mut requests = receiver.requests.subscribe();
    requests.wait_for(|requests| *requests > 0).await.unwrap();
    let page = cli(installation, &server, &["webhooks", "deliveries"]).json();
    server.signal(Signal::TERM);
    let (status, _) = server.wait();
    assert_eq!(status.code(), Some(0));
    page["deliveries"][0]["id"].as_str().unwrap().to_owned()
}

/// Reads a delivery from a server.
async fn delivery(server: &Server, id: &str) -> Value {
    let params = json!({ "id": id });
    server.rpc("", "webhooks.delivery.get", params).await["result"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_a_send_that_takes_longer_than_other_tasks_may() {
    let installation = Installation::new();
    let receiver = Receiver::start(Duration::from_secs(12)).await;
    let id = stop_during_a_send(&installation, &receiver).await;
    assert_eq!(receiver.counts(), (1, 1), "the send ends before the server");

    let server = installation.start();
    let ended = delivery(&server, &id).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(ended["attempts"], 1, "{ended}");
    server.stop();
    assert_eq!(receiver.counts().0, 1, "nothing is sent twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_that_does_not_end_while_the_server_drains_is_queued_again() {
    let mut installation = Installation::new();
    installation.env("SERVICE_SERVER__DRAIN_SECONDS", "1");
    let receiver = Receiver::start(Duration::from_mins(2)).await;
    let id = stop_during_a_send(&installation, &receiver).await;

    let server = installation.start();
    assert_eq!(ended(&installation, &server)["status"], "completed");
    let ended = delivery(&server, &id).await;
    assert_eq!(ended["attempts"], 2, "{ended}");
    // The stop stored this state with the row, so the lease did not have to expire.
    let interrupted = &ended["failed_attempts"][0]["error"];
    assert_eq!(
        interrupted, "Gatehouse stopped while it sent this delivery.",
        "{ended}"
    );
    server.stop();
    assert_eq!(receiver.counts().0, 2);
}
