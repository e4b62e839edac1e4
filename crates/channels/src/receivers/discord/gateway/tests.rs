//! Tests of the parent module.

use super::*;

#[test]
fn a_close_code_says_whether_another_try_may_help() {
    for code in [4004, 4010, 4011, 4012, 4013, 4014] {
        let stopped = matches!(of_close_code(Some(code)), Err(ReceiveError::Stopped { .. }));
        assert!(stopped, "{code}");
    }
    for code in [4007, 4009] {
        assert!(
            matches!(of_close_code(Some(code)), Ok(Next::Identify)),
            "{code}"
        );
    }
    for code in [None, Some(1000), Some(1006), Some(4000), Some(4008)] {
        assert!(
            matches!(of_close_code(code), Ok(Next::Reconnect)),
            "{code:?}"
        );
    }
}
