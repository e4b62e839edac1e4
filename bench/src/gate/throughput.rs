//! Compares a trivial route with all layers to the same route without them, and measures a route that reads the
//! database. Gateway and baseline run in separate processes and are loaded alternately.

use super::Site;
use crate::bare::VAULT_STATUS;
use crate::figures::median;
use crate::gateway::Server;
use crate::http1::request;
use crate::load::{Round, round};
use crate::table::{Goal, Report};
use anyhow::Result;
use std::time::Duration;

const CONNECTIONS: usize = 64;
const ROUNDS: usize = 7;
/// A route that reads the database.
const SESSIONS: &str = "/api/sessions";

/// Measures with cookies and with keys.
pub async fn measure(site: &Site, round_ms: u64, report: &mut Report) -> Result<()> {
    let (gateway, bare) = (site.gateway()?, Server::bare()?);
    let each = |path, header: &dyn Fn(usize) -> (&'static str, String)| -> Vec<Vec<u8>> {
        let made = (0..CONNECTIONS).map(|number| {
            let (name, value) = header(number);
            request("GET", path, &[(name, &value)], None)
        });
        made.collect()
    };
    let cookie_of = |number: usize| ("cookie", site.cookie(number * 100));
    let by_cookie = each(VAULT_STATUS, &cookie_of);
    let by_key = each(VAULT_STATUS, &|number| {
        ("authorization", site.bearer(number * 10))
    });
    let reading = each(SESSIONS, &cookie_of);
    let length = Duration::from_millis(round_ms);
    // Warms up, because the first request creates connections and caches.
    round(&bare, &by_cookie, length / 5).await?;
    round(&gateway, &by_cookie, length / 5).await?;
    let (mut alone, mut cookie, mut key, mut read) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        alone.push(round(&bare, &by_cookie, length).await?);
        cookie.push(round(&gateway, &by_cookie, length).await?);
        key.push(round(&gateway, &by_key, length).await?);
        read.push(round(&gateway, &reading, length).await?);
    }
    for (name, rounds) in [("cookie", &cookie), ("key", &key)] {
        let pairs = rounds.iter().zip(&alone);
        let mut ratios: Vec<f64> = pairs
            .map(|(with, bare)| with.per_second / bare.per_second)
            .collect();
        let what = format!("throughput behind all layers, by {name}, of the bare route's");
        report.value(what, Goal::AtLeast(0.9), median(&mut ratios), (2, ""));
    }
    for (name, rounds) in [
        ("bare", &alone),
        ("by cookie", &cookie),
        ("by key", &key),
        ("reading the database", &read),
    ] {
        tell(name, rounds, report);
    }
    gateway.stop()
}

fn tell(name: &str, rounds: &[Round], report: &mut Report) {
    let mut rates: Vec<f64> = rounds.iter().map(|round| round.per_second).collect();
    let mut costs: Vec<f64> = rounds
        .iter()
        .map(|round| round.server_micros_each)
        .collect();
    report.value(
        format!("requests a second, {name}"),
        Goal::Reported,
        median(&mut rates),
        (0, ""),
    );
    let what = format!("server's processor time for each, {name}");
    report.value(what, Goal::Reported, median(&mut costs), (1, "µs"));
}
