//! Tests of the parent module.

use super::*;

#[test]
fn a_page_is_searched_within_a_number_and_a_time() {
    let just = PAGE.time.saturating_sub(Duration::from_nanos(1));
    assert!(PAGE.allows(PAGE.entries - 1, just));
    assert!(!PAGE.allows(PAGE.entries, Duration::ZERO));
    assert!(PAGE.allows(PAGE.at_least, Duration::MAX));
    assert!(!PAGE.allows(PAGE.at_least + 1, PAGE.time));
}
