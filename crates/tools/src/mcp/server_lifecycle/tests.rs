//! Tests of the parent module.

use super::*;

#[test]
fn waits_grow_up_to_a_limit() {
    let seconds: Vec<u64> = (0..10).map(|n| wait(n).as_secs()).collect();
    assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    assert_eq!(wait(u32::MAX), LONGEST_WAIT);
}
