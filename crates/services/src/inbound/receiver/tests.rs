//! Tests of the parent module.

use super::code::code_wait;
use super::*;

#[test]
fn a_code_waits_as_long_as_the_vendor_asks_up_to_a_limit() {
    assert_eq!(code_wait(None, 1), Some(BACKOFF.0));
    assert_eq!(code_wait(Some(CODE_WAIT), CODE_SENDS - 1), Some(CODE_WAIT));
    assert_eq!(code_wait(Some(CODE_WAIT), CODE_SENDS), None);
    let longer = CODE_WAIT + Duration::from_millis(1);
    assert_eq!(code_wait(Some(longer), 1), None);
}
