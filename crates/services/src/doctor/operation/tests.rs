//! Tests of the parent module.

use super::*;
use gatehouse_domain::WebhookId;

#[test]
fn a_disk_is_nearly_full_below_half_a_gibibyte_or_a_twentieth() {
    const GIB: u64 = 1024 * MIB;
    let is_fine = |free, total| disk_finding(DATA, free, total).ok;
    assert!(is_fine(LEAST_FREE, GIB));
    assert!(!is_fine(LEAST_FREE - 1, GIB));
    assert!(is_fine(4 * GIB, 80 * GIB));
    assert!(!is_fine(4 * GIB - 1, 80 * GIB));
    assert!(is_fine(LITTLE_FREE, 1000 * GIB));
    assert!(!is_fine(LITTLE_FREE - 1, 1000 * GIB));
    let of_database = disk_finding(DATABASE, GIB, 100 * GIB);
    assert_eq!(
        (of_database.ok, of_database.message.as_str()),
        (false, "1024 MiB are free in the directory of the database.")
    );
}

#[test]
fn backups_need_room_for_two_more() {
    assert_eq!(backups_finding(0, 0), None);
    assert_eq!(backups_finding(2 * MIB, MIB), None);
    let full = backups_finding(2 * MIB - 1, MIB).unwrap();
    assert!(!full.ok && full.message.ends_with("the newest backup has 1 MiB."));
}

#[tokio::test]
async fn paths_of_one_file_system_are_recognized() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    tokio::fs::File::create(&file).await.unwrap();
    let (one, other) = (
        space(directory.path().to_path_buf()).await.unwrap(),
        space(file).await.unwrap(),
    );
    assert_eq!(one.device, other.device);
    assert!(one.total > 0 && one.free <= one.total);
    assert!(space(directory.path().join("missing")).await.is_none());
}

#[test]
fn a_delivery_waits_long_from_ten_minutes_on() {
    let now = Timestamp::from_millis(1_800_000_000_000);
    let since = |ms: i64| Timestamp::from_millis(now.as_millis() - ms);
    assert!(queue_finding(None, None, now).ok);
    let (short, long) = (Some(since(LONG_WAIT_MS - 1)), Some(since(LONG_WAIT_MS)));
    assert!(queue_finding(short, short, now).ok);
    assert!(!queue_finding(long, short, now).ok);
    let unreadable = queue_finding(short, long, now);
    assert!(!unreadable.ok && unreadable.message.contains("cannot be read"));
}

#[test]
fn a_sender_that_stopped_is_named() {
    assert!(senders_finding(&[]).ok);
    let stopped = StoppedSender {
        id: WebhookId::from_text("wh_a"),
        name: "CI".to_owned(),
        last_delivery_at: Timestamp::from_millis(1_800_000_000_000),
    };
    let check = senders_finding(&[stopped]);
    assert!(
        !check.ok && check.message.contains("CI (last 2027-01-15"),
        "{check:?}"
    );
    assert_eq!(
        (
            check.subjects[0].id.as_str(),
            check.subjects[0].name.as_str()
        ),
        ("wh_a", "CI")
    );
}
