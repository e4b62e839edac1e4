//! Tests that the capability table is consistent.

use super::*;
use crate::provider::{SttId, TtsId};
use std::collections::HashSet;

fn check(id: &str, lacks: Lacks) {
    let mut seen = HashSet::new();
    for (lack, why) in lacks {
        assert!(seen.insert(lack), "{id} lacks {lack:?} twice");
        assert!(why.len() > 10 && !why.contains('\n'), "{id}: {lack:?}");
    }
    let is_both = seen.contains(&Lack::Http) && seen.contains(&Lack::Program);
    assert!(!is_both, "{id} is nowhere");
    assert!(
        seen.contains(&Lack::Http) || seen.contains(&Lack::Program),
        "{id}"
    );
    assert!(
        seen.contains(&Lack::Key) || seen.contains(&Lack::Program),
        "{id}"
    );
}

#[test]
fn what_is_lacking_is_said_once_with_a_reason() {
    for id in TtsId::ALL {
        check(id.as_str(), id.capability().lacks);
    }
    for id in SttId::ALL {
        check(id.as_str(), id.capability().lacks);
    }
}

#[test]
fn numbers_and_what_is_lacking_agree() {
    for id in TtsId::ALL {
        let can = id.capability();
        assert_eq!(can.speed.is_none(), can.is_lacking(Lack::Speed), "{id}");
        let takes_all = |speed: &RangeInclusive<f64>| (*speed.start(), *speed.end()) == (0.25, 4.0);
        let has_no_limit = can.speed.as_ref().is_none_or(takes_all);
        assert_eq!(has_no_limit, can.is_lacking(Lack::SpeedLimit), "{id}");
        assert!(can.max_characters.min(can.max_bytes) >= 1000, "{id}");
    }
    for id in SttId::ALL {
        assert!(id.capability().max_bytes >= 25 << 20, "{id}");
    }
}
