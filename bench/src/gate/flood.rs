//! Many clients without a valid credential, each with a different address. The state that the gateway keeps for
//! them must be limited.

use super::Site;
use crate::figures::mebibytes;
use crate::gateway::Server;
use crate::http1::request;
use crate::prepare::secret;
use crate::table::{Goal, Report};
use anyhow::Result;
use gatehouse_domain::{Random, SystemRandom};
use std::net::{Ipv4Addr, Ipv6Addr};
use tokio::task::JoinSet;

const REQUESTS: usize = 50_000;
const CONNECTIONS: usize = 32;

/// Builds a request from a random address with a cookie, a key or no credential.
fn one(number: usize) -> Vec<u8> {
    let random: &dyn Random = &SystemRandom;
    let from = if number.is_multiple_of(2) {
        Ipv4Addr::from(random.bytes::<4>()).to_string()
    } else {
        Ipv6Addr::from(random.bytes::<16>()).to_string()
    };
    let (name, value) = match number % 3 {
        0 => ("cookie", format!("service_session={}", secret(""))),
        1 => ("authorization", format!("Bearer {}", secret("mk_"))),
        _ => ("accept", "*/*".to_owned()),
    };
    let path = match number % 5 {
        0 => format!("/api/{}", secret("")),
        1 => "/api/auth/status".to_owned(),
        _ => "/api/sessions".to_owned(),
    };
    request(
        "GET",
        &path,
        &[("x-forwarded-for", &from), (name, &value)],
        None,
    )
}

/// Measures the growth of the gateway's memory.
pub async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    let trusted = ("SERVICE_PROXY__TRUSTED_CIDRS", "127.0.0.1/32");
    let gateway = Server::gateway(&site.data_dir, &[trusted])?;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let before = gateway.resident_bytes()?;
    let mut tasks = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let mut client = gateway.connect().await?;
        tasks.spawn(async move {
            let mut refused = 0_usize;
            for number in 0..REQUESTS.div_ceil(CONNECTIONS) {
                let status = client.exchange(&one(number)).await?.status;
                refused += usize::from(status == 401 || status == 429);
            }
            anyhow::Ok(refused)
        });
    }
    let mut refused = 0;
    while let Some(done) = tasks.join_next().await {
        refused += done??;
    }
    let growth = gateway.resident_bytes()?.saturating_sub(before);
    report.value(
        "growth of memory in a flood of 50,000 from as many addresses",
        Goal::AtMost(16.0),
        mebibytes(growth),
        (1, "MiB"),
    );
    eprintln!("  ({refused} of them refused, the rest public)");
    gateway.stop()
}
