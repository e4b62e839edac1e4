//! Tests of the parent module.

use super::*;

#[tokio::test]
async fn look_ups_of_replies_leave_those_of_reactions() {
    let mut lookups = Lookups::default();
    for _ in 0..LOOKUPS.1 {
        assert_eq!(lookups.replies.find(async { Ok(1) }).await, Some(1));
    }
    assert_eq!(lookups.replies.find(async { Ok(1) }).await, None);
    assert_eq!(lookups.reactions.find(async { Ok(1) }).await, Some(1));
}
