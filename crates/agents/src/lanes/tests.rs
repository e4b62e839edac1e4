//! Tests of the parent module.

use super::*;

#[test]
fn permits_are_limited_and_returned() {
    let lanes = Lanes::default();
    let session = |n: usize| SessionId::from_text(format!("ses_{n}"));
    let mut places: Vec<_> = (0..MAX_LANES)
        .map(|n| lanes.promise(&session(n)).unwrap())
        .collect();
    assert!(lanes.promise(&session(MAX_LANES)).is_err());
    // Sessions that already have a lane can get more places.
    places.extend((0..MAX_WAITING).map(|_| lanes.promise(&session(0)).unwrap()));
    assert!(lanes.promise(&session(0)).is_err());
    drop(places.pop());
    assert!(lanes.promise(&session(0)).is_ok());
    drop(places);
    assert!(lanes.lock().is_empty());
}
