//! A real Prometheus with the configuration, the rules and the queries of the dashboard in `deploy/`, and a real server.
//! `GATEHOUSE_TEST_PROMETHEUS` names the program (`cargo xtask test` does that).

use crate::process::Installation;
use gatehouse_doubles::prepared;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::TcpListener;

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");
const TOKEN: &str = "a token that opens the metrics and nothing else";
/// Longer than Prometheus takes to start, scrape and evaluate.
const LONG: Duration = Duration::from_mins(1);

/// Killed when dropped.
struct Prometheus {
    process: Child,
    url: String,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

async fn deployed(name: &str) -> String {
    let path = Path::new(DEPLOY).join(name);
    tokio::fs::read_to_string(path).await.unwrap()
}

/// Returns the configuration with another server, another file of credentials and shorter
/// intervals.
async fn configuration(server: &str, credentials: &Path) -> String {
    let mut text = deployed("prometheus/prometheus.yaml").await;
    for (from, to) in [
        ("scrape_interval: 15s", "scrape_interval: 1s"),
        (
            "/etc/prometheus/gatehouse.key",
            credentials.to_str().unwrap(),
        ),
        ("127.0.0.1:8420", server),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        text = text.replace(from, to);
    }
    format!("global:\n  evaluation_interval: 1s\n{text}")
}

impl Prometheus {
    async fn start(program: &Path, installation: &Installation, server: &str) -> Self {
        let credentials = installation.file("prometheus/key", TOKEN).await;
        let rules = deployed("prometheus/gatehouse.rules.yaml").await;
        installation
            .file("prometheus/gatehouse.rules.yaml", &rules)
            .await;
        let configuration = configuration(server, &credentials).await;
        let file = installation
            .file("prometheus/prometheus.yaml", &configuration)
            .await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut command = Command::new(program);
        command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                file.with_file_name("data").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .stdin(Stdio::null());
        Self {
            process: command.spawn().unwrap(),
            url: format!("http://{address}/api/v1"),
        }
    }

    /// `None` while Prometheus starts.
    async fn ask(&self, path: &str, params: &[(&str, &str)]) -> Option<Value> {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = reqwest::Url::parse_with_params(&format!("{}{path}", self.url), params).unwrap();
        let answer = client.get(url).send().await.ok()?;
        answer.json().await.ok()
    }

    async fn until(&self, path: &str, params: &[(&str, &str)], is: impl Fn(&Value) -> bool) {
        let mut last = None;
        let found = async {
            loop {
                last = self.ask(path, params).await;
                if last.as_ref().is_some_and(&is) {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let found = tokio::time::timeout(LONG, found).await.is_ok();
        assert!(found, "{path} {params:?}: {last:?}");
    }
}

/// Adds the queries of a dashboard to `found`.
fn queries(part: &Value, found: &mut Vec<String>) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| queries(part, found)),
        Value::Object(members) => {
            if let Some(Value::String(query)) = members.get("expr") {
                found.push(query.clone());
            }
            members.values().for_each(|part| queries(part, found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn it_scrapes_the_server_and_evaluates_the_rules_and_the_dashboard() {
    let Some(program) = prepared("GATEHOUSE_TEST_PROMETHEUS", "Prometheus") else {
        return;
    };
    let mut installation = Installation::new();
    installation.env("SERVICE_METRICS__TOKEN", TOKEN);
    let server = installation.start();
    let address = server.url.strip_prefix("http://").unwrap();
    let prometheus = Prometheus::start(&program, &installation, address).await;
    let up = [("query", "up{job=\"gatehouse\"}")];
    let is_up = |answer: &Value| answer["data"]["result"][0]["value"][1] == "1";
    prometheus.until("/query", &up, is_up).await;

    // Each rule is evaluated without an error.
    let are_healthy = |answer: &Value| {
        let groups = answer["data"]["groups"].as_array();
        let rules = groups.into_iter().flatten();
        let mut rules = rules
            .flat_map(|group| group["rules"].as_array().into_iter().flatten())
            .peekable();
        rules.peek().is_some() && rules.all(|rule| rule["health"] == "ok")
    };
    prometheus.until("/rules", &[], are_healthy).await;

    let dashboard = deployed("grafana/gatehouse.json").await;
    let mut all = Vec::new();
    queries(&serde_json::from_str(&dashboard).unwrap(), &mut all);
    assert!(all.len() > 40, "{}", all.len());
    for query in all {
        let filled = query
            .replace("$job", ".*")
            .replace("$instance", ".*")
            .replace("$__rate_interval", "1m");
        assert!(!filled.contains('$'), "{query}");
        let answer = prometheus.ask("/query", &[("query", &filled)]).await;
        assert_eq!(answer.unwrap()["status"], "success", "{filled}");
    }
    drop(prometheus);
    server.stop();
}
