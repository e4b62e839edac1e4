//! The start with a table of an earlier version: how long its migration takes, and how `/health/ready` responds
//! during the migration.

use super::million::{Rows, fill};
use crate::gateway::Server;
use crate::table::{Goal, Report};
use anyhow::Result;
use gatehouse_store::Store;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// The last migration before the indexes of deliveries were recreated. The statements of this version can insert
/// deliveries into its schema.
const EARLIER: i64 = 88;

/// Fills a table of the earlier schema and starts the gateway.
pub async fn measure(rows: usize, report: &mut Report) -> Result<()> {
    let root = tempfile::tempdir()?;
    let data_dir = root.path().join("data");
    std::fs::create_dir_all(&data_dir)?;
    let store = Store::open_at(&crate::prepare::location(&data_dir), Some(EARLIER)).await?;
    eprintln!("  filling the table of an earlier schema with {rows} rows");
    fill(&store, &Rows::recent("hook_migrated", rows)).await?;
    store.close().await;
    let mut said_migrating = false;
    let server = Server::gateway_watched(&data_dir, &[], |address| {
        said_migrating |= ready(address).is_ok_and(|answer| answer.contains("migrating"));
    })?;
    report.value(
        format!("start with the migration of {rows} rows from schema {EARLIER}"),
        Goal::Reported,
        server.started_in.as_secs_f64(),
        (1, "s"),
    );
    report.fact(
        "/health/ready meanwhile",
        "migrating",
        said_migrating,
        if said_migrating { "migrating" } else { "other" },
    );
    server.stop()
}

/// Returns the answer to a request for readiness.
fn ready(address: SocketAddr) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream
        .write_all(b"GET /health/ready HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
