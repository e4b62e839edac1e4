//! A server whose standard error is a pipe that is not read.

use crate::process::{BINARY, Installation, Server};
use futures_util::StreamExt as _;
use reqwest::StatusCode;
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const TOKEN: &str = "a token that opens the metrics and nothing else";
/// Their lines exceed the pipe and the server's buffer.
const REQUESTS: usize = 10_000;
/// Longer than the requests take.
const LONG: Duration = Duration::from_mins(2);

fn start() -> (Installation, Server) {
    let mut installation = Installation::new();
    installation.env("SERVICE_METRICS__TOKEN", TOKEN);
    let mut command = Command::new(BINARY);
    command.arg("serve");
    let server = installation.start_with(command, Stdio::piped());
    (installation, server)
}

async fn send_many(server: &Server) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/health", server.url);
    let all = futures_util::stream::iter(0..REQUESTS)
        .map(|_| client.get(&url).send())
        .buffer_unordered(16)
        .for_each(|answer| {
            assert_eq!(answer.unwrap().status(), StatusCode::OK);
            std::future::ready(())
        });
    let answered = tokio::time::timeout(LONG, all).await;
    assert!(answered.is_ok(), "requests wait for the reader of the log");
}

async fn dropped_by_metrics(server: &Server) -> u64 {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.get(format!("{}/metrics", server.url));
    let answer = request.bearer_auth(TOKEN).send().await.unwrap();
    let text = answer.text().await.unwrap();
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("log_lines_dropped_total "));
    value.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
}

#[tokio::test]
async fn requests_do_not_wait_for_the_reader_of_the_log_and_dropped_lines_are_counted() {
    let (_installation, mut server) = start();
    assert_eq!(dropped_by_metrics(&server).await, 0);
    send_many(&server).await;
    assert_eq!(server.get("/health").await.status, StatusCode::OK);
    let counted = dropped_by_metrics(&server).await;
    assert!(counted > 0);

    let pipe = server.child.stderr.take().unwrap();
    // Space for every line, because nothing reads the lines while the server stops.
    let (on_line, lines) = mpsc::sync_channel(10 * REQUESTS);
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines() {
            on_line.send(line.unwrap()).unwrap();
        }
    });
    let mut log = String::new();
    let mut read = |line: String| log.extend([line.as_str(), "\n"]);
    // From this line on, there is space for the lines of the exit.
    let waited = lines.iter().find(|line| {
        read(line.clone());
        line.contains(" log lines were dropped")
    });
    assert!(waited.is_some());
    server.stop();
    lines.iter().for_each(read);
    let dropped: u64 = log
        .lines()
        .filter_map(|line| {
            line.split_once(" log lines were dropped")?
                .0
                .rsplit(' ')
                .next()
        })
        .map(|count| count.parse::<u64>().unwrap())
        .sum();
    assert!(dropped >= counted, "{dropped}, {counted}");
    let kept = log.matches("gatehouse::request").count();
    let all = u64::try_from(kept).unwrap() + dropped;
    assert!(all >= u64::try_from(REQUESTS).unwrap(), "{kept}, {dropped}");
    let is_last = |line: &str| line.ends_with(" stopped");
    assert!(log.lines().any(is_last), "flushed at the exit");
}

#[tokio::test]
async fn a_server_whose_log_is_not_read_stops() {
    let (_installation, server) = start();
    send_many(&server).await;
    server.signal(Signal::TERM);
    let (status, _) = server.wait();
    assert_eq!(status.code(), Some(0));
}
