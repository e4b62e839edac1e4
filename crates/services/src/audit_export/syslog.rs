//! Copies the audit log to the local syslog. The format is that of `syslog(3)` in glibc, which is RFC 3164 without the
//! host name. journald, rsyslog and syslog-ng expect it on `/dev/log`. journald reads RFC 5424 as plain text there
//! (systemd/systemd issue 19251).

use super::record;
use gatehouse_domain::{Timestamp, Zone};
use gatehouse_store::AuditRow;
use std::io;
use std::path::Path;
use tokio::net::UnixDatagram;

/// Facility `authpriv` (10), severity `notice` (5).
pub(super) const PRIORITY: u8 = 10 * 8 + 5;
pub(super) const TAG: &str = "gatehouse-audit";
/// rsyslog truncates messages after 8 KiB (`$MaxMessageSize`).
pub(super) const MAX_RECORD_BYTES: usize = 8_000;

/// Sends the rows. Sets `through` to the number of each row that was sent.
pub(super) async fn send(
    path: &Path,
    rows: &[AuditRow],
    zone: &Zone,
    through: &mut i64,
) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(path)?;
    for row in rows {
        socket.send(message(row, zone).as_bytes()).await?;
        *through = row.seq;
    }
    Ok(())
}

fn message(row: &AuditRow, zone: &Zone) -> String {
    let (time, process) = (local_time(row.at, zone), std::process::id());
    let record = record::short_line(row, MAX_RECORD_BYTES);
    format!("<{PRIORITY}>{time} {TAG}[{process}]: {record}")
}

/// Returns a time such as `Jan  2 15:04:05`.
fn local_time(at: Timestamp, zone: &Zone) -> String {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    at.to_zoned(zone.rules().clone())
        .strftime("%b %e %H:%M:%S")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::row;
    use super::*;

    #[test]
    fn the_time_has_no_year_and_a_day_of_two_places() {
        for (ms, expected) in [
            (1_800_000_000_123, "Jan 15 08:00:00"),
            (1_798_967_045_000, "Jan  3 09:04:05"),
        ] {
            assert_eq!(
                local_time(Timestamp::from_millis(ms), &Zone::utc()),
                expected
            );
        }
    }

    #[test]
    fn a_message_is_short_enough_for_rsyslog() {
        let long = serde_json::json!({ "names": "x".repeat(10_000) }).to_string();
        for detail in ["{}", &long] {
            let text = message(&row(1, detail), &Zone::utc());
            let start = format!(
                "<85>Jan 15 08:00:00 gatehouse-audit[{}]: {{\"seq\":1,",
                std::process::id()
            );
            assert!(text.starts_with(&start), "{text}");
            assert!(text.len() < 8 * 1024);
        }
    }
}
