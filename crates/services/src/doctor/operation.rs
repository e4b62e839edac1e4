//! Operational checks: free space of file systems, deliveries that wait too long, channels that do not respond, and
//! senders that stopped.

use super::{Check, Subject};
use crate::Services;
use crate::binary_size::binary_size;
use gatehouse_backup::folder::Entry;
use gatehouse_config::DatabaseUrl;
use gatehouse_domain::Timestamp;
use gatehouse_webhooks::StoppedSender;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

/// How long the file system may take to answer.
const LONGEST_READ: Duration = Duration::from_secs(5);
const MIB: u64 = 1024 * 1024;
/// Free space below this, in bytes, is always reported.
const LEAST_FREE: u64 = 512 * MIB;
/// Free space below this, in bytes, is reported if it is less than a twentieth of the disk.
const LITTLE_FREE: u64 = 5 * 1024 * MIB;
/// A due delivery that has waited longer than this is reported. The normal wait is a few milliseconds.
const LONG_WAIT_MS: i64 = 10 * 60_000;

/// How many times the size of the newest backup must be free. A backup needs its own size, and the next one may be
/// larger.
const BACKUPS_OF_ROOM: u64 = 2;
const DATA: &str = "data directory";
const DATABASE: &str = "directory of the database";

/// The free space of a file system, in bytes.
struct Space {
    device: u64,
    free: u64,
    total: u64,
}

/// Returns the free space; `None` if the file system cannot be read or does not answer in time.
async fn space(path: PathBuf) -> Option<Space> {
    // A network file system may not answer.
    let read = tokio::task::spawn_blocking(move || {
        let device = path.metadata()?.dev();
        let found = rustix::fs::statvfs(&path).map_err(io::Error::from)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Ok::<_, io::Error>(Space {
            device,
            free: bytes(found.f_bavail),
            total: bytes(found.f_blocks),
        })
    });
    let read = tokio::time::timeout(LONGEST_READ, read).await;
    read.ok()?.ok()?.ok()
}

/// Checks the free space at the data directory, the SQLite file and the newest of `backups`, which are sorted
/// newest first. Reports the first of them whose file system is nearly full. Fails if the data directory cannot be
/// read. Other checks report a database or backup that cannot be read.
pub(super) async fn disk(services: &Services, backups: Option<&[Entry]>) -> Check {
    let data_dir = services.config.layers().data_dir();
    let Some(data) = space(data_dir.to_path_buf()).await else {
        return Check::bad(
            "disk",
            "The free space of the data directory cannot be read.",
            "Check --data-dir.",
        );
    };
    let own = disk_finding(DATA, data.free, data.total);
    if !own.ok {
        return own;
    }
    let resolved = services.config.resolved();
    if let DatabaseUrl::Sqlite { path } = &resolved.settings.database.url
        && let Some(found) = space(data_dir.join(path)).await
        && found.device != data.device
    {
        let database = disk_finding(DATABASE, found.free, found.total);
        if !database.ok {
            return database;
        }
    }
    if let Some([newest, ..]) = backups
        && let Some(found) = space(newest.path.clone()).await
        && let Some(full) = backups_finding(found.free, newest.bytes)
    {
        return full;
    }
    own
}

fn disk_finding(place: &str, free: u64, total: u64) -> Check {
    let message = format!("{} are free in the {place}.", binary_size(free));
    if free < LEAST_FREE || (free < LITTLE_FREE && free < total / 20) {
        let hint = "Free some space. If the disk is full, deliveries are refused with 503 and must be resent by \
                    their senders.";
        return Check::bad("disk", message, hint);
    }
    Check::fine("disk", message)
}

/// Returns a failed check if there is not enough space for the next backups. `newest` is the size of the newest
/// backup.
fn backups_finding(free: u64, newest: u64) -> Option<Check> {
    (free < newest.saturating_mul(BACKUPS_OF_ROOM)).then(|| {
        let message = format!(
            "{} are free in the directory for backups, and the newest backup has {}.",
            binary_size(free),
            binary_size(newest)
        );
        let hint = "Free some space there, or keep fewer backups with backup.keep. If the disk is full, backups \
                    fail.";
        Check::bad("disk", message, hint)
    })
}

pub(super) async fn queue(services: &Services) -> Option<Check> {
    // The check of the database reports an error.
    let oldest = services.webhooks.oldest_due().await.ok()?;
    let unreadable = services.webhooks.oldest_unreadable().await.ok()?;
    Some(queue_finding(oldest, unreadable, services.clock.now()))
}

/// Returns the check of the queue. `oldest` is the due time of the delivery that has waited longest for a worker.
/// `unreadable` is the time of receipt of the oldest delivery that cannot be read.
fn queue_finding(
    oldest: Option<Timestamp>,
    unreadable: Option<Timestamp>,
    now: Timestamp,
) -> Check {
    let is_long_ago = |time: &Timestamp| {
        let waited_ms = now.as_millis().saturating_sub(time.as_millis());
        waited_ms >= LONG_WAIT_MS
    };
    if let Some(due) = oldest.filter(is_long_ago) {
        return Check::bad(
            "queue",
            format!("A delivery has waited for a worker since {due}."),
            "Raise webhooks.agent_workers or webhooks.send_workers if the workers are busy. If they are not, the log has \
             the reason.",
        );
    }
    if let Some(received) = unreadable.filter(is_long_ago) {
        return Check::bad(
            "queue",
            format!("A delivery of {received} waits because it cannot be read."),
            "If a newer version of Gatehouse stored it, start that version: it processes the delivery. Otherwise, \
             cancel the delivery. The log has its ID and the reason.",
        );
    }
    Check::fine("queue", "No delivery waits long for a worker.")
}

pub(super) async fn channels(services: &Services) -> Option<Check> {
    // The check of the database reports an error.
    let silent = services.webhooks.unresponsive_channels().await.ok()?;
    let accounts = services.channels.list().await.ok()?;
    let named = silent.into_iter().map(|id| {
        let account = accounts.iter().find(|account| account.id == id);
        let label = account.map(|account| account.label.clone());
        (label.unwrap_or_else(|| id.clone()), id)
    });
    Some(channels_finding(&named.collect::<Vec<_>>()))
}

/// Returns the check for `silent`, the labels and IDs of the channels that do not respond.
fn channels_finding(silent: &[(String, String)]) -> Check {
    if silent.is_empty() {
        return Check::fine("channels", "Every channel responds.");
    }
    let labels: Vec<&str> = silent.iter().map(|(label, _)| label.as_str()).collect();
    Check::bad(
        "channels",
        format!("Channels that do not respond: {}.", labels.join(", ")),
        "Deliveries to these channels wait and are sent as soon as the channel responds. Test the channel on its \
         page.",
    )
    .about(
        silent
            .iter()
            .map(|(label, id)| Subject {
                id: id.clone(),
                name: label.clone(),
                message: format!("The channel {label} does not respond."),
            })
            .collect(),
    )
}

pub(super) async fn senders(services: &Services) -> Option<Check> {
    // The check of the database reports an error.
    let stopped = services.webhooks.stopped_senders().await.ok()?;
    Some(senders_finding(&stopped))
}

fn senders_finding(stopped: &[StoppedSender]) -> Check {
    if stopped.is_empty() {
        return Check::fine("senders", "No regular sender has stopped.");
    }
    let subject = |sender: &StoppedSender| Subject {
        id: sender.id.to_string(),
        name: sender.name.clone(),
        message: format!(
            "The webhook {} received deliveries nearly every day. The last one came at {}.",
            sender.name, sender.last_delivery_at
        ),
    };
    let named: Vec<String> = stopped
        .iter()
        .map(|sender| format!("{} (last {})", sender.name, sender.last_delivery_at))
        .collect();
    Check::bad(
        "senders",
        format!(
            "Webhooks that received deliveries nearly every day and then stopped: {}.",
            named.join(", ")
        ),
        "Check the list of failed deliveries in the sender's settings. Many senders turn a webhook off after \
         failures. If you no longer use the webhook, turn it off here.",
    )
    .about(stopped.iter().map(subject).collect())
}

#[cfg(test)]
mod tests;
