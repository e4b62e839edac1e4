//! A load generator with several connections. Each connection repeats one request as soon as it is answered.

use crate::gateway::Server;
use anyhow::Result;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Timeout for the last responses of a round.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of a round of load.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Responses per second.
    pub per_second: f64,
    /// The server's processor time per response, in microseconds.
    pub server_micros_each: f64,
}

/// Loads the server for `length`. Each request gets its own connection.
pub async fn round(server: &Server, requests: &[Vec<u8>], length: Duration) -> Result<Round> {
    let mut ready = Vec::with_capacity(requests.len());
    for request in requests {
        let mut client = server.connect().await?;
        client.exchange(request).await?.expect_ok()?;
        let length = client.last_length();
        ready.push((client, request.clone(), length));
    }
    let before = server.processor_time()?;
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for (mut client, request, answer_length) in ready {
        tasks.spawn(async move {
            let mut count = 0_u32;
            while begun.elapsed() < length {
                client.repeat(&request, answer_length).await?;
                count += 1;
            }
            anyhow::Ok(count)
        });
    }
    let mut count = 0_u32;
    while let Some(done) = timeout(length + PATIENCE, tasks.join_next()).await? {
        count += done??;
    }
    let elapsed = begun.elapsed();
    let used = server.processor_time()?.saturating_sub(before);
    Ok(Round {
        per_second: f64::from(count) / elapsed.as_secs_f64(),
        server_micros_each: used.as_secs_f64() * 1e6 / f64::from(count.max(1)),
    })
}
