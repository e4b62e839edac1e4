use super::*;
use std::net::Ipv4Addr;

fn client(n: u32) -> ClientKey {
    ClientKey::of(Ipv4Addr::from(0x0a00_0000 + n).into())
}

fn slots(total: usize, per_client: usize) -> ConnectionSlots {
    ConnectionSlots::new(ConnectionLimits {
        total,
        per_client,
        idle: Duration::from_mins(1),
    })
}

fn has_ended(slot: &ConnectionSlot) -> bool {
    slot.ended().is_cancelled()
}

#[test]
fn a_client_s_oldest_idle_connection_makes_room_for_its_next() {
    let slots = slots(10, 2);
    let first = slots.take(client(1), false).unwrap();
    let second = slots.take(client(1), false).unwrap();
    let in_work = first.begin_request();
    let third = slots.take(client(1), false).unwrap();
    assert!(!has_ended(&first) && has_ended(&second));
    let in_work = (in_work, third.begin_request());
    assert!(slots.take(client(1), false).is_none(), "both are in work");
    assert!(slots.take(client(2), false).is_some());
    // Many clients connect through a proxy.
    assert!(slots.take(client(1), true).is_some());
    drop(in_work);
    drop((first, second, third));
    assert!(slots.lock().all.is_empty() && slots.lock().by_client.is_empty());
    assert!(slots.lock().evictable.is_empty() && slots.lock().by_number.is_empty());
}

#[test]
fn the_client_with_the_most_connections_makes_room_and_an_admitted_one_does_not() {
    let slots = slots(6, 4);
    let owner = slots.take(client(1), false).unwrap();
    owner.keep();
    let few = slots.take(client(2), false).unwrap();
    let many: Vec<_> = (0..4)
        .map(|_| slots.take(client(3), false).unwrap())
        .collect();
    let _in_work: Vec<_> = many.iter().map(ConnectionSlot::begin_request).collect();
    let new = slots.take(client(4), false).unwrap();
    assert!(has_ended(&many[0]), "the oldest, although it is in work");
    assert!(![&owner, &few, &new].into_iter().any(has_ended));
    assert!(!many[1..].iter().any(has_ended));
    assert_eq!(slots.lock().all.len(), 6);
    for slot in [&few, &new].into_iter().chain(&many) {
        slot.keep();
    }
    assert!(slots.take(client(5), false).is_none(), "all are let in");
    drop(few);
    assert!(slots.take(client(5), false).is_some());
}

#[test]
fn a_place_belongs_to_all_of_its_copies() {
    let slots = slots(1, 1);
    let slot = slots.take(client(1), false).unwrap();
    slot.keep();
    let copy = slot.clone();
    drop(slot);
    assert!(slots.take(client(2), false).is_none());
    drop(copy);
    assert!(slots.take(client(2), false).is_some());
}

#[tokio::test]
async fn idle_is_counted_from_the_end_of_the_last_request() {
    let slots = slots(1, 1);
    let slot = slots.take(client(1), false).unwrap();
    let limit = Duration::from_millis(60);
    let in_work = slot.begin_request();
    let begin = Instant::now();
    let working = tokio::time::timeout(Duration::from_millis(150), slot.idle(limit));
    assert!(working.await.is_err(), "a request is in work");
    drop(in_work);
    slot.idle(limit).await;
    assert!(begin.elapsed() >= Duration::from_millis(210));
}

#[test]
fn some_files_are_left_for_everything_else() {
    let total = |files| ConnectionLimits::for_open_files(files).total;
    assert_eq!(total(1 << 20), 16_384);
    assert_eq!(total(1024), 768);
    assert_eq!(total(4096), 3584);
}
