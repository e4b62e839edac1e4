//! The latency of one connection, compared with an fsync of the same number of bytes on the same disk.

use super::Site;
use crate::figures::{median, micros};
use crate::table::{Goal, Report};
use anyhow::Result;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const SAMPLES: usize = 2_000;
/// Number of samples before switching to the other measurement.
const TURN: usize = 100;

/// Measures both alternately.
pub async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    let target = site.target()?;
    let gateway = site.start()?;
    let mut client = gateway.connect().await?;
    let mut disk = File::create(site.installation.data_dir().join("bench-fsync"))?;
    let (mut taken, mut synced) = (Vec::new(), Vec::new());
    target.send(&mut client).await?;
    while taken.len() < SAMPLES {
        for _ in 0..TURN {
            taken.push(target.send(&mut client).await?);
        }
        for _ in 0..TURN {
            synced.push(fsync(&mut disk)?);
        }
    }
    let (taken, synced) = (micros(median(&mut taken)), micros(median(&mut synced)));
    report.value(
        "answer at 1 connection, p50, in bare fsyncs",
        Goal::AtMost(2.0),
        taken / synced,
        (2, ""),
    );
    report.value(
        "answer at 1 connection, p50",
        Goal::Reported,
        taken,
        (0, "µs"),
    );
    report.value(
        "appending 1 KiB and fsync, p50",
        Goal::Reported,
        synced,
        (0, "µs"),
    );
    remove(&site.installation.data_dir().join("bench-fsync"))?;
    gateway.stop()
}

fn fsync(file: &mut File) -> Result<Duration> {
    let begun = Instant::now();
    file.write_all(&[b'x'; 1024])?;
    file.sync_all()?;
    Ok(begun.elapsed())
}

fn remove(path: &Path) -> Result<()> {
    Ok(std::fs::remove_file(path)?)
}
