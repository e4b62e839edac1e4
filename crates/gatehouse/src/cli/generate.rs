//! The hidden `generate`: writes the files in `docs/generated` from tables in the code.

use anyhow::{Context, Result};
use gatehouse_domain::ErrorCode;
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

/// `gatehouse generate --out DIR`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The output directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes the files.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing asynchronous runs, and a tree is regenerated whole"
)]
pub fn run(args: &Args) -> Result<ExitCode> {
    std::fs::create_dir_all(&args.out).context("cannot make the folder")?;
    let openrpc = gatehouse_rpc::openrpc::document(env!("CARGO_PKG_VERSION"));
    for (name, text) in [
        (
            "config.schema.json",
            json(&gatehouse_config::json_schema())?,
        ),
        ("gatehouse.sample.toml", gatehouse_config::sample()),
        ("openapi.json", json(&gatehouse_web::openapi())?),
        ("openrpc.json", json(&openrpc)?),
        ("error-codes.md", error_codes()),
    ] {
        std::fs::write(args.out.join(name), text)
            .with_context(|| format!("cannot write {name}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn json(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn error_codes() -> String {
    let head = "# Error codes\n\nMade by `cargo xtask gen` from `crates/domain/src/error_code.rs`.\n\n\
         | code | HTTP | JSON-RPC | WebSocket close | meaning |\n|---|---|---|---|---|\n";
    let rows = ErrorCode::ALL.iter().map(|code| {
        let (name, http, rpc) = (code.name(), code.http_status(), code.rpc_code());
        let (close, meaning) = (code.close_code(), code.meaning().trim());
        format!("| `{name}` | {http} | {rpc} | {close} | {meaning} |\n")
    });
    std::iter::once(head.to_owned()).chain(rows).collect()
}
