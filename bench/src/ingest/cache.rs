//! The page cache of the connection that writes to SQLite: inserts into a large table, with several sizes of the cache.

use super::Site;
use super::million::{Rows, row};
use crate::figures::{median, micros, millis, percentile};
use crate::gateway::processor_time_of;
use crate::prepare::secret;
use crate::table::{Goal, Report};
use anyhow::Result;
use gatehouse_domain::{Clock, ManualClock, SystemClock};
use gatehouse_store::{NewDelivery, Store, StoreError};
use std::time::{Duration, Instant};

/// The first size equals SQLite's default.
const SIZES_KIB: [u32; 4] = [2_000, 8_192, 16_384, 65_536];
/// Numbers of deliveries per transaction: one for a single connection, 64 for 64 connections.
const GROUPS: [usize; 2] = [1, 64];
/// Transactions per measurement. The same number runs before the measurement, to fill the cache.
const WRITES: usize = 500;
/// Deliveries per transaction while the table is filled.
const FILL: usize = 5_000;

/// Fills the table and measures.
pub async fn measure(site: &Site, rows: usize, report: &mut Report) -> Result<()> {
    let location = crate::prepare::location(site.installation.data_dir());
    let clock = ManualClock::at(SystemClock::new().now());
    let new = |count: usize| -> Vec<NewDelivery> {
        clock.advance(Duration::from_millis(1));
        let made = |_| with_random_key(row(&clock, &Rows::recent(&site.webhook_id, rows), 2));
        (0..count).map(made).collect()
    };
    let store = Store::open(&location).await?;
    eprintln!("  filling the table with {rows} rows");
    for begun in (0..rows).step_by(FILL) {
        insert(&store, new(FILL.min(rows - begun))).await?;
    }
    store.close().await;
    for kib in SIZES_KIB {
        let store = Store::open(&location.clone().with_writer_cache_kib(kib)).await?;
        for group in GROUPS {
            for _ in 0..WRITES {
                insert(&store, new(group)).await?;
            }
            let (mut took, before) = (Vec::new(), processor_time_of("self")?);
            for _ in 0..WRITES {
                let deliveries = new(group);
                let begun = Instant::now();
                insert(&store, deliveries).await?;
                took.push(begun.elapsed());
            }
            let spent = processor_time_of("self")?.saturating_sub(before);
            let each = spent / u32::try_from(WRITES * group)?;
            let what = format!("a write of {group}, {rows} rows, a cache of {kib} KiB");
            for (name, value, shape) in [
                ("p50", millis(median(&mut took)), (2, "ms")),
                ("p99", millis(percentile(&mut took, 0.99)), (2, "ms")),
                ("processor time per delivery", micros(each), (0, "µs")),
            ] {
                report.value(format!("{what}: {name}"), Goal::Reported, value, shape);
            }
        }
        store.close().await;
    }
    Ok(())
}

/// Returns the delivery with a random key, as senders assign them. Each insert then changes a different page of the
/// index of keys.
fn with_random_key(mut row: NewDelivery) -> NewDelivery {
    let key = secret("cache-");
    row.unique_key = Some(key.clone());
    row.delivery_key = Some(key);
    row
}

async fn insert(store: &Store, deliveries: Vec<NewDelivery>) -> Result<()> {
    let written: Result<(), StoreError> = store
        .write(move |conn| {
            Box::pin(async move { conn.insert_deliveries(&deliveries).await.map(drop) })
        })
        .await;
    Ok(written?)
}
