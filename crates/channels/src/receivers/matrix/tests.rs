//! Tests of the parent module.

use super::*;

#[test]
fn an_unread_message_is_shown_for_an_hour() {
    let mut syncing = Syncing::default();
    assert_eq!(syncing.warning(false, 0), None);
    assert_eq!(syncing.warning(true, 5), Some(UNREAD));
    assert_eq!(syncing.warning(false, 4 + UNREAD_MS), Some(UNREAD));
    assert_eq!(syncing.warning(false, 5 + UNREAD_MS), None);
}
