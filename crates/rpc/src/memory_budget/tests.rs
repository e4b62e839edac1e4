use super::*;
use std::net::Ipv4Addr;

const MIB: usize = 1024 * 1024;

fn known(name: &str) -> Holder {
    Holder::Known(name.into())
}

fn unauthenticated_client(last: u8) -> Holder {
    Holder::Stranger(ClientKey::of(Ipv4Addr::new(192, 0, 2, last).into()))
}

fn take(budget: &ByteBudget, holder: Holder, bytes: usize) -> Option<Share> {
    let mut share = budget.share(holder);
    share.grow(bytes).then_some(share)
}

#[test]
fn the_usual_limits_are_256_mib_and_grow_with_the_messages() {
    let usual = Limits::for_messages(36 * MIB);
    assert_eq!(
        (
            usual.total,
            usual.each,
            usual.unauthenticated,
            usual.unauthenticated_client
        ),
        (256 * MIB, 128 * MIB, 128 * MIB, 64 * MIB)
    );
    assert_eq!(Limits::for_messages(100 * MIB).total, 700 * MIB);
}

#[test]
fn bytes_are_charged_up_to_the_limit_and_released() {
    let budget = ByteBudget::new(Limits::flat(10));
    let six = take(&budget, known("a"), 6).unwrap();
    assert!(take(&budget, known("b"), 5).is_none());
    let mut none = take(&budget, known("a"), 0).unwrap();
    assert!(!none.grow(5) && none.grow(4) && !none.grow(1));
    none.shrink_to(3);
    none.shrink_to(7);
    assert_eq!((none.bytes(), budget.held_bytes()), (3, 9));
    drop(none);
    let four = take(&budget, known("a"), 4).unwrap();
    assert!(take(&budget, known("a"), 1).is_none());
    drop((six, four));
    assert!(budget.lock().each.is_empty());
    assert!(take(&budget, known("a"), 10).is_some());
    assert!(take(&budget, known("a"), usize::MAX).is_none());
}

#[test]
fn one_credential_leaves_half_to_the_others() {
    let budget = ByteBudget::new(Limits::for_messages(36 * MIB));
    // Large shares must leave a sixteenth free.
    let most = 120 * MIB;
    assert!(take(&budget, known("a"), most + 1).is_none());
    let held = take(&budget, known("a"), most).unwrap();
    assert!(take(&budget, known("a"), MIB).is_none());
    let small = take(&budget, known("a"), SMALL_BYTES);
    assert!(small.is_some(), "small calls go on");
    assert!(take(&budget, known("b"), 100 * MIB).is_some());
    drop((held, small));
    assert_eq!(budget.held_bytes(), 0);
}

#[test]
fn strangers_leave_half_to_who_is_let_in() {
    let budget = ByteBudget::new(Limits::for_messages(36 * MIB));
    assert!(take(&budget, unauthenticated_client(1), 60 * MIB + 1).is_none());
    let one = take(&budget, unauthenticated_client(1), 60 * MIB).unwrap();
    let two = take(&budget, unauthenticated_client(2), 60 * MIB).unwrap();
    assert!(take(&budget, unauthenticated_client(3), MIB).is_none());
    assert!(take(&budget, known("a"), 119 * MIB).is_some());
    drop((one, two));
    assert_eq!(budget.lock().unauthenticated, 0);
    assert!(take(&budget, unauthenticated_client(3), MIB).is_some());
}

#[test]
fn a_buffer_is_charged_as_it_is_allocated() {
    let budget = ByteBudget::new(Limits::flat(10_000));
    let (mut share, mut buffer) = (budget.share(known("a")), Vec::new());
    assert!(share.reserve(&mut buffer, 1, 100_000));
    assert_eq!((buffer.capacity(), share.bytes()), (4096, 4096));
    buffer.resize(4096, 0);
    assert!(share.reserve(&mut buffer, 1, 5000));
    assert_eq!((buffer.capacity(), share.bytes()), (5000, 5000));
    buffer.resize(5000, 0);
    assert!(!share.reserve(&mut buffer, 5001, 100_000));
    assert_eq!((buffer.capacity(), share.bytes()), (5000, 5000));
    assert!(share.reserve(&mut buffer, 5000, 5000));
    assert_eq!(budget.held_bytes(), 10_000);
}
