//! Bodies of deliveries: accepted or rejected as by `serde_json`, and serialized unchanged.
#![no_main]

use gatehouse_sources::payload::{BodyKind, Kind, Node, Payload, PayloadError};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

fuzz_target!(|bytes: &[u8]| {
    let (pick, body) = gatehouse_fuzz::split(bytes);
    let kinds = [BodyKind::Json, BodyKind::JsonOrFormPayload, BodyKind::Form];
    let kind = kinds[usize::from(pick) % kinds.len()];
    let read = Payload::read(kind, body);
    if kind == BodyKind::Json {
        let theirs =
            serde_json::from_slice::<IgnoredAny>(body).is_ok() && std::str::from_utf8(body).is_ok();
        let deep = matches!(read, Err(PayloadError::TooDeep));
        assert_eq!(read.is_ok(), theirs && !deep);
    }
    let Ok(payload) = read else {
        return;
    };
    let pretty = payload.root().pretty(usize::MAX);
    let again = Payload::from_json(&pretty).expect("what we wrote is JSON");
    assert_eq!(again.root().pretty(usize::MAX), pretty);
    assert_eq!(again.root().compact(usize::MAX), payload.root().compact(usize::MAX));
    let cut = payload.root().pretty(usize::from(pick));
    assert_eq!(
        cut,
        pretty.chars().take(usize::from(pick)).collect::<String>()
    );
    visit(payload.root());
});

/// Checks that every value can be looked up by its path.
fn visit(node: Node<'_>) {
    match node.kind() {
        Kind::Object => {
            for (key, value) in node.entries() {
                assert_eq!(node.get(key).expect("it is there").raw(), value.raw());
                visit(value);
            }
        }
        Kind::Array => {
            for (index, value) in node.items().enumerate() {
                let found = node.get(&index.to_string()).expect("it is there");
                assert_eq!(found.raw(), value.raw());
                visit(value);
            }
        }
        Kind::String => assert!(node.as_str().is_some()),
        Kind::Number => assert!(node.as_id().is_some()),
        Kind::Bool => assert!(node.as_bool().is_some()),
        Kind::Null => assert!(node.is_null()),
    }
}
