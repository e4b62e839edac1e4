//! `bench voice`: the time that the gateway adds to the vendor's time, and the speed of audio encoding. Each
//! duration is shown next to the vendor's duration in the same run.

mod cached;
mod long;
mod streams;
mod transcoding;
mod vendor;

use crate::gateway::Server;
use crate::owner::Installation;
use crate::table::Report;
use anyhow::Result;
use std::time::Instant;
use vendor::Vendor;

/// Arguments of `voice`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only these: streams, cached, transcoding, long
    only: Vec<String>,
    /// Concurrent streams
    #[arg(long, default_value_t = 100)]
    streams: usize,
    /// Rounds of streams
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// A gateway whose only voice provider is the fake vendor.
struct Site {
    installation: Installation,
    vendor: Vendor,
}

impl Site {
    async fn set_up() -> Result<Self> {
        let vendor = Vendor::start().await?;
        let environment = [
            (
                "SERVICE_VOICE__TTS__TTS_CLOUD_2__BASE_URL",
                vendor.base_url(),
            ),
            (
                "SERVICE_VOICE__TTS__TTS_CLOUD_2__API_KEY",
                "sk-bench".to_owned(),
            ),
            ("SERVICE_VOICE__TTS__MAX_TEXT_LENGTH", "100000".to_owned()),
        ];
        let installation = Installation::set_up(&environment).await?;
        Ok(Self {
            installation,
            vendor,
        })
    }

    fn start(&self) -> Result<Server> {
        self.installation.start()
    }
}

/// Runs the measurements and prints the table.
pub async fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut report = Report::default();
    if wanted("streams") {
        streams::measure(&Site::set_up().await?, args, &mut report).await?;
    }
    if wanted("cached") {
        cached::measure(&Site::set_up().await?, &mut report).await?;
    }
    if wanted("transcoding") {
        transcoding::measure(&mut report)?;
    }
    if wanted("long") {
        long::measure(&Site::set_up().await?, &mut report).await?;
    }
    report.print();
    let cores = std::thread::available_parallelism()?;
    eprintln!(
        "{cores} cores, shared by gateway, vendor and load generator; {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
