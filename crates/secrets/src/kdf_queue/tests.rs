//! Tests of the parent module.

use super::*;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::{Context, Poll, Waker};

type Answer = Result<u32, KdfError>;
type Job<'a> = Pin<Box<dyn Future<Output = Answer> + 'a>>;

fn key(number: u32) -> ClientKey {
    ClientKey::of(IpAddr::V4(Ipv4Addr::from_bits(number)))
}

fn poll(job: &mut Job<'_>) -> Poll<Answer> {
    job.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Starts a job that ends when a message is sent or the sender is dropped.
fn blocker(queue: &KdfQueue, number: u32) -> (SyncSender<()>, Job<'_>) {
    let (sender, receiver): (SyncSender<()>, Receiver<()>) = sync_channel(1);
    let mut job: Job<'_> = Box::pin(queue.run(key(number), move || {
        receiver.recv().ok();
        number
    }));
    assert!(poll(&mut job).is_pending());
    (sender, job)
}

fn waiter(queue: &KdfQueue, number: u32) -> Result<Job<'_>, KdfError> {
    let mut job: Job<'_> = Box::pin(queue.run(key(number), move || number));
    match poll(&mut job) {
        Poll::Ready(answer) => Err(answer.unwrap_err()),
        Poll::Pending => Ok(job),
    }
}

#[tokio::test]
async fn one_client_waits_eight_times_and_is_then_refused() {
    let queue = KdfQueue::new(2);
    let (end_a, a) = blocker(&queue, 1);
    let (end_b, b) = blocker(&queue, 1);
    let waiting: Vec<_> = (0..8).map(|_| waiter(&queue, 1).unwrap()).collect();
    assert_eq!(waiter(&queue, 1).err(), Some(KdfError::Busy));
    assert!(waiter(&queue, 2).is_ok(), "others still get in");
    drop((end_a, end_b));
    assert_eq!((a.await, b.await), (Ok(1), Ok(1)));
    for job in waiting {
        assert_eq!(job.await, Ok(1));
    }
    assert!(queue.lock().is_empty());
}

#[tokio::test]
async fn thirty_two_wait_in_all_and_no_more() {
    let queue = KdfQueue::new(1);
    let (end, running) = blocker(&queue, 0);
    let mut waiting: Vec<_> = (0..32).map(|n| waiter(&queue, n).unwrap()).collect();
    assert_eq!(waiter(&queue, 99).err(), Some(KdfError::Busy));
    drop(waiting.pop());
    waiting.push(waiter(&queue, 99).unwrap());
    assert_eq!(
        waiter(&queue, 100).err(),
        Some(KdfError::Busy),
        "a leaver freed one place"
    );
    drop(end);
    assert_eq!(running.await, Ok(0));
    for job in waiting {
        assert!(job.await.is_ok());
    }
    assert!(queue.lock().is_empty());
}

#[tokio::test]
async fn four_imports_wait_two_of_one_client() {
    let queue = KdfQueue::for_imports();
    let (end, running) = blocker(&queue, 1);
    let mut waiting: Vec<_> = (0..2).map(|_| waiter(&queue, 1).unwrap()).collect();
    assert_eq!(waiter(&queue, 1).err(), Some(KdfError::Busy));
    waiting.extend((2..4).map(|n| waiter(&queue, n).unwrap()));
    assert_eq!(waiter(&queue, 4).err(), Some(KdfError::Busy));
    drop(end);
    assert_eq!(running.await, Ok(1));
    for job in waiting {
        assert!(job.await.is_ok());
    }
}

#[tokio::test]
async fn a_started_job_keeps_its_turn_when_its_caller_goes_away() {
    let queue = KdfQueue::new(1);
    let (end, running) = blocker(&queue, 1);
    drop(running);
    assert_eq!(queue.running.available_permits(), 0);
    let next = waiter(&queue, 1).unwrap();
    drop(end);
    assert_eq!(next.await, Ok(1));
}

#[tokio::test]
async fn a_panic_ends_its_job_alone() {
    let queue = KdfQueue::new(1);
    let broken: Answer = queue.run(key(1), || panic!("for the test")).await;
    assert_eq!(broken, Err(KdfError::TaskAborted));
    assert_eq!(queue.run(key(1), || 7).await, Ok(7));
}

#[test]
fn a_full_queue_is_rate_limited() {
    assert_eq!(Problem::from(KdfError::Busy).code, ErrorCode::RateLimited);
    assert_eq!(
        Problem::from(KdfError::TaskAborted).code,
        ErrorCode::Internal
    );
}
