//! The order of a socket's messages. The calls of a socket run concurrently, except calls of methods that state an
//! [`Order`]: each of these waits for the preceding one. Contains no sockets and uses no clock.

use std::sync::Arc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// When the next ordered message of a socket starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Immediately. The method waits for no other call, and no other call waits for it.
    Free,
    /// When the call is accepted, which its handler reports with [`crate::Call::accepted`]. The response
    /// comes later.
    Accepted,
    /// When the call is answered.
    Answered,
}

/// The events of a message for which later messages wait.
#[derive(Clone, Debug, Default)]
struct Step {
    accepted: CancellationToken,
    answered: CancellationToken,
}

/// The ordered messages of one socket.
#[derive(Debug, Default)]
pub(crate) struct Line {
    last: Option<Step>,
}

/// A message's position in the line.
#[derive(Debug)]
pub(crate) struct Ticket {
    before: Option<Step>,
    /// Cloned into each call. The message counts as accepted when the last clone is dropped, so a call that fails or
    /// panics does not block the line.
    pub(crate) accepted: Arc<DropGuard>,
}

impl Line {
    /// Appends a message. Returns its position, and a guard to drop when the message is answered or the socket is
    /// closed. Returns `None` for messages without an order.
    pub(crate) fn join(&mut self, order: Order) -> Option<(Ticket, DropGuard)> {
        if order == Order::Free {
            return None;
        }
        let step = Step::default();
        let ticket = Ticket {
            before: self.last.replace(step.clone()),
            accepted: Arc::new(step.accepted.drop_guard()),
        };
        if order == Order::Accepted {
            step.answered.cancel();
        }
        Some((ticket, step.answered.drop_guard()))
    }
}

impl Ticket {
    /// Returns a future that waits for the preceding message. The future does not keep the ticket alive.
    pub(crate) fn into_turn(self) -> impl Future<Output = ()> + Send + use<> {
        let before = self.before;
        async move {
            if let Some(before) = before {
                // `answered` also ends when the socket closes. `accepted` is awaited last, because messages must be
                // accepted in order even then.
                before.answered.cancelled().await;
                before.accepted.cancelled().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn is_ready(turn: &mut std::pin::Pin<&mut impl Future<Output = ()>>) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        turn.as_mut().poll(&mut context) == Poll::Ready(())
    }

    #[test]
    fn a_message_waits_until_the_previous_one_is_accepted_and_answered() {
        let mut line = Line::default();
        assert!(line.join(Order::Free).is_none());
        let (first, first_answered) = line.join(Order::Answered).unwrap();
        let (second, second_answered) = line.join(Order::Accepted).unwrap();
        let (third, _third_answered) = line.join(Order::Answered).unwrap();
        let calls = [&first, &second].map(|ticket| Arc::clone(&ticket.accepted));
        let [first_call, second_call] = calls;
        let (mut first, mut second, mut third) = (
            pin!(first.into_turn()),
            pin!(second.into_turn()),
            pin!(third.into_turn()),
        );
        assert!(is_ready(&mut first));
        assert!(!is_ready(&mut second));
        drop(first_call);
        assert!(!is_ready(&mut second), "not answered");
        drop(first_answered);
        assert!(is_ready(&mut second));
        assert!(!is_ready(&mut third));
        drop(second_call);
        assert!(is_ready(&mut third), "accepted; its answer comes later");
        drop(second_answered);
    }

    #[test]
    fn a_closed_socket_keeps_the_order() {
        let mut line = Line::default();
        let (first, first_answered) = line.join(Order::Answered).unwrap();
        let (second, second_answered) = line.join(Order::Answered).unwrap();
        let call = Arc::clone(&first.accepted);
        drop(first.into_turn());
        let mut second = pin!(second.into_turn());
        drop((first_answered, second_answered));
        assert!(!is_ready(&mut second), "the first still runs");
        drop(call);
        assert!(is_ready(&mut second));
    }
}
