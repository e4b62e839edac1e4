//! The time to the first byte of audio, alternately through the gateway and directly from the vendor, and the
//! memory that a stream needs.

use super::{Args, Site};
use crate::figures::{mebibytes, median, millis, percentile};
use crate::gateway::Server;
use crate::http1::request;
use crate::table::{Goal, Report};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Timeout for a stream.
const PATIENCE: Duration = Duration::from_mins(1);

/// Measures both alternately.
pub async fn measure(site: &Site, args: &Args, report: &mut Report) -> Result<()> {
    let gateway = site.start()?;
    let cookie = site.installation.cookie().to_owned();
    let text = |number: usize| format!("Stream number {number} of the bench.");
    let through = |number: usize| {
        let body = json!({ "text": text(number) }).to_string();
        request(
            "POST",
            "/api/tts/stream",
            &[("cookie", &cookie)],
            Some(&body),
        )
    };
    let straight = |number: usize| {
        let body = json!({
            "model": "gpt-4o-mini-tts", "voice": "alloy", "input": text(number),
            "response_format": "mp3",
        });
        let headers = [("authorization", "Bearer sk-bench")];
        request(
            "POST",
            "/v1/audio/speech",
            &headers,
            Some(&body.to_string()),
        )
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut idle, mut busy) = (0, 0);
    for round in 0..=args.rounds {
        let numbers = round * args.streams..(round + 1) * args.streams;
        let asks: Vec<_> = numbers.clone().map(straight).collect();
        let direct = streams(site.vendor.address, asks, None).await?;
        let asks: Vec<_> = numbers.map(through).collect();
        let own = streams(gateway.address, asks, Some(&gateway)).await?;
        // The first round warms up connections and memory.
        if round == 0 {
            idle = gateway.resident_bytes()?;
            continue;
        }
        theirs.extend(direct.0);
        ours.extend(own.0);
        busy = busy.max(own.1);
    }
    let added = |share: f64, ours: &mut [Duration], theirs: &mut [Duration]| {
        millis(percentile(ours, share)) - millis(percentile(theirs, share))
    };
    let p50 = added(0.5, &mut ours, &mut theirs);
    let p99 = added(0.99, &mut ours, &mut theirs);
    let count = args.streams;
    let what = |which: &str| format!("first audio byte at {count} streams, added, {which}");
    report.value(what("p50"), Goal::AtMost(2.0), p50, (2, "ms"));
    report.value(what("p99"), Goal::AtMost(10.0), p99, (2, "ms"));
    let vendors = millis(median(&mut theirs));
    report.value("the vendor's own, p50", Goal::Reported, vendors, (2, "ms"));
    let ratio = millis(median(&mut ours)) / vendors;
    report.value(
        "through the gateway, of the vendor's own",
        Goal::Reported,
        ratio,
        (3, ""),
    );
    let each = mebibytes(busy.saturating_sub(idle)) / f64::from(u32::try_from(count)?);
    report.value("memory of a stream", Goal::AtMost(1.0), each, (3, "MiB"));
    gateway.stop()
}

/// Starts all streams at once and reads them completely. Returns the time to the first byte of each stream, and the
/// server's memory in the middle of the run.
async fn streams(
    address: SocketAddr,
    asks: Vec<Vec<u8>>,
    server: Option<&Server>,
) -> Result<(Vec<Duration>, u64)> {
    let mut tasks = JoinSet::new();
    for ask in asks {
        let mut connection = TcpStream::connect(address).await?;
        connection.set_nodelay(true)?;
        tasks.spawn(async move {
            let begun = Instant::now();
            connection.write_all(&ask).await?;
            let (first, whole) = tokio::time::timeout(PATIENCE, read(connection, begun)).await??;
            ensure!(whole > 10_000, "a stream was short: {whole} bytes");
            anyhow::Ok(first)
        });
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    let memory = server.map(Server::resident_bytes).transpose()?;
    let mut firsts = Vec::new();
    while let Some(done) = tasks.join_next().await {
        firsts.push(done??);
    }
    Ok((firsts, memory.unwrap_or_default()))
}

/// Measures the time to the first byte after the head, and the total number of bytes. The last chunk ends the
/// stream.
async fn read(mut connection: TcpStream, begun: Instant) -> Result<(Duration, usize)> {
    let mut answer = Vec::new();
    let (mut first, mut whole) = (None, 0);
    loop {
        let before = answer.len();
        let read = connection.read_buf(&mut answer).await?;
        ensure!(read > 0, "the server hung up");
        whole += read;
        if first.is_none() {
            let head = answer.windows(4).position(|four| four == b"\r\n\r\n");
            // The answer contains the size of a chunk and its first byte.
            if head.is_some_and(|at| answer.len() > at + 4 + 6) {
                ensure!(
                    answer.starts_with(b"HTTP/1.1 200"),
                    "{}",
                    String::from_utf8_lossy(&answer)
                );
                first = Some(begun.elapsed());
            }
        }
        if answer.ends_with(b"0\r\n\r\n") {
            return Ok((first.context("an empty stream")?, whole));
        }
        if first.is_some() && before > 0 {
            // Only the end of the answer is needed from here on.
            let keep = answer.len().saturating_sub(8);
            answer.drain(..keep);
        }
    }
}
