//! `bench gate`: the target figures of the gate and the vault. Each module measures one of them.

mod check_auth;
mod flood;
pub mod revocation;
mod start;
mod throughput;
mod vault;

use crate::gateway::Server;
use crate::http1::request;
use crate::prepare::{self, Credentials};
use crate::table::Report;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;

/// The owner's password.
const PASSWORD: &str = "correct horse battery staple";

/// Arguments of `gate`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only these: start, check-auth, throughput, flood, vault, revocation
    only: Vec<String>,
    /// Length of a load round in milliseconds
    #[arg(long, default_value_t = 1500)]
    round_ms: u64,
}

/// The data that is measured on.
struct Site {
    /// Removes the directory on drop.
    _root: TempDir,
    data_dir: PathBuf,
    credentials: Credentials,
}

impl Site {
    fn cookie(&self, number: usize) -> String {
        let session = self.credentials.sessions.get(number);
        format!("service_session={}", session.map_or("", |one| &one.secret))
    }

    fn bearer(&self, number: usize) -> String {
        let key = self.credentials.keys.get(number);
        format!("Bearer {}", key.map_or("", |one| &one.secret))
    }

    fn gateway(&self) -> Result<Server> {
        Server::gateway(&self.data_dir, &[])
    }
}

/// Runs the measurements and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut report = Report::default();
    let root = tempfile::tempdir()?;
    let data_dir = root.path().join("data");
    set_up(&data_dir).await?;
    if wanted("start") {
        start::idle(&data_dir, &mut report)?;
    }
    let credentials = prepare::add_credentials(&data_dir).await?;
    let site = Site {
        _root: root,
        data_dir,
        credentials,
    };
    if wanted("start") {
        start::many(&site, &mut report)?;
    }
    if wanted("check-auth") {
        check_auth::measure(&site, &mut report).await?;
    }
    if wanted("throughput") {
        throughput::measure(&site, args.round_ms, &mut report).await?;
    }
    if wanted("flood") {
        flood::measure(&site, &mut report).await?;
    }
    if wanted("vault") {
        vault::measure(&site, &mut report).await?;
    }
    if wanted("revocation") {
        revocation::measure(&site, &mut report).await?;
    }
    report.print();
    let cores = std::thread::available_parallelism()?;
    eprintln!(
        "{cores} cores, shared by gateway and load generator; {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Sets up a gateway with the owner's password and stops it.
async fn set_up(data_dir: &Path) -> Result<()> {
    let server = Server::gateway(data_dir, &[])?;
    let body = serde_json::json!({ "password": PASSWORD }).to_string();
    let mut client = server.connect().await?;
    let answer = client
        .exchange(&request("POST", "/api/auth/setup", &[], Some(&body)))
        .await?;
    answer.expect_ok()?;
    answer.session_cookie().context("setup gave no session")?;
    server.stop()
}
