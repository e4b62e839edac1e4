//! A real Alertmanager sends alerts to a real server, with the configuration that the guide of its profile describes.
//! `GATEHOUSE_TEST_ALERTMANAGER` names the program (`cargo xtask test` does that).

use crate::process::{Installation, Server};
use crate::profiles::{client, now};
use gatehouse_domain::Timestamp;
use gatehouse_doubles::prepared;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::TcpListener;

/// Longer than Alertmanager takes to start and to send.
const LONG: Duration = Duration::from_mins(1);

/// Killed when dropped.
struct Alertmanager {
    process: Child,
    url: String,
}

impl Drop for Alertmanager {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Alertmanager {
    async fn start(program: &Path, installation: &Installation, configuration: &str) -> Self {
        let file = installation
            .file("alertmanager/alertmanager.yml", configuration)
            .await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut command = Command::new(program);
        command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.path={}",
                file.with_file_name("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            // Without a cluster.
            .arg("--cluster.listen-address=")
            .stdin(Stdio::null());
        Self {
            process: command.spawn().unwrap(),
            url: format!("http://{address}/api/v2/alerts"),
        }
    }

    /// Sends an alert as Prometheus does. Retries while Alertmanager starts.
    async fn post(&self, alert: &Value) {
        let client = client();
        let posted = async {
            loop {
                let sent = client.post(&self.url).json(&[alert]).send().await;
                if sent.is_ok_and(|answer| answer.status().is_success()) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        tokio::time::timeout(LONG, posted).await.unwrap();
    }
}

async fn made(server: &Server) -> Value {
    let params = json!({ "name": "n", "source_profile": "alertmanager", "deliver_only": true });
    server.rpc("", "webhooks.create", params).await["result"].clone()
}

/// Returns an entry of `webhook_configs`, with a line of `authorization`.
fn entry(server: &Server, webhook: &Value, credentials: &str) -> String {
    let public_id = webhook["public_id"].as_str().unwrap();
    format!(
        "      - url: {}/api/webhooks/ingest/{public_id}\n        \
         http_config:\n          \
         authorization:\n            \
         type: Bearer\n            \
         {credentials}\n",
        server.url
    )
}

fn configuration(entries: &[String]) -> String {
    // Short intervals. An alert that is still firing is not repeated.
    format!(
        "route:\n  receiver: gatehouse\n  group_by: [alertname]\n  \
         group_wait: 0s\n  group_interval: 1s\n  repeat_interval: 1h\n\
         receivers:\n  - name: gatehouse\n    webhook_configs:\n{}",
        entries.concat()
    )
}

/// Waits for this number of completed or refused deliveries. Returns them, newest first.
async fn until(server: &Server, webhook: &Value, count: usize) -> Vec<Value> {
    let params = json!({ "id": webhook["id"] });
    let wait = async {
        loop {
            let listed = server.rpc("", "webhooks.deliveries", params.clone()).await;
            let found = listed["result"]["deliveries"].as_array().unwrap().clone();
            let has_ended = |delivery: &Value| {
                ["completed", "rejected"].contains(&delivery["status"].as_str().unwrap())
            };
            if found.len() >= count && found.iter().all(has_ended) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(LONG, wait).await.unwrap()
}

fn check(delivery: &Value, event: &str, summary: &str) {
    assert_eq!(delivery["status"], "completed", "{delivery}");
    assert_eq!(delivery["event_type"], event, "{delivery}");
    assert_eq!(
        delivery["entity_key"], "alertmanager:{}:{alertname=\"Probe\"}",
        "{delivery}"
    );
    assert_eq!(delivery["summary"], summary, "{delivery}");
}

#[tokio::test]
async fn its_alerts_arrive_when_they_fire_and_when_they_end() {
    let Some(program) = prepared("GATEHOUSE_TEST_ALERTMANAGER", "Alertmanager") else {
        return;
    };
    let installation = Installation::new();
    let server = installation.start();
    let (in_line, in_file, wrong) = (
        made(&server).await,
        made(&server).await,
        made(&server).await,
    );
    // Both forms that the guide names.
    let credentials = format!("credentials: {}", in_line["secret"].as_str().unwrap());
    let secret = in_file["secret"].as_str().unwrap();
    let file = installation.file("alertmanager/secret", secret).await;
    let credentials_file = format!("credentials_file: {}", file.display());
    let configuration = configuration(&[
        entry(&server, &in_line, &credentials),
        entry(&server, &in_file, &credentials_file),
        entry(&server, &wrong, "credentials: another"),
    ]);
    let alertmanager = Alertmanager::start(&program, &installation, &configuration).await;

    let mut alert = json!({
        "labels": { "alertname": "Probe", "severity": "critical", "instance": "db-1" },
        "annotations": { "summary": "db-1 does not answer" },
        "generatorURL": "http://prometheus.example/graph?g0.expr=up",
    });
    alertmanager.post(&alert).await;
    for webhook in [&in_line, &in_file] {
        let fired = until(&server, webhook, 1).await;
        assert_eq!(fired.len(), 1, "{fired:?}");
        check(&fired[0], "firing", "Probe fires: db-1 does not answer");
    }
    let refused = until(&server, &wrong, 1).await;
    assert_eq!(refused[0]["status"], "rejected", "{refused:?}");

    let end = i64::try_from((now() + 1) * 1000).unwrap();
    alert["endsAt"] = Value::from(Timestamp::from_millis(end).to_string());
    alertmanager.post(&alert).await;
    for webhook in [&in_line, &in_file] {
        let ended = until(&server, webhook, 2).await;
        assert_eq!(ended.len(), 2, "{ended:?}");
        check(&ended[0], "resolved", "Probe ended: db-1 does not answer");
    }
    let refused = until(&server, &wrong, 1).await;
    assert!(
        refused
            .iter()
            .all(|delivery| delivery["status"] == "rejected")
    );
    drop(alertmanager);
    server.stop();
}
