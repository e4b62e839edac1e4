//! Reports to the client which tool calls wait for approval during an answer.

use super::conversation::Conversation;
use super::wire::ServerMessage;
use gatehouse_agents::{AgentEvent, Approval, Resolved};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

impl Conversation {
    /// Reports tool calls that begin or stop waiting for approval in the answer's session.
    pub(super) fn agent_event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::ApprovalRequested(asked) => self.waits(asked),
            AgentEvent::ApprovalResolved(resolved) => self.resolved(resolved),
            _ => {}
        }
    }

    fn waits(&mut self, asked: &Approval) {
        let answer = self.answer.as_ref();
        if answer.is_none_or(|answer| answer.session != asked.session) {
            return;
        }
        self.waiting.push(asked.id.clone());
        let message = if self.parts.approves {
            ServerMessage::Approval(asked)
        } else {
            ServerMessage::Waiting {
                id: &asked.id,
                expires_at: asked.expires_at,
            }
        };
        self.tell(&message);
    }

    fn resolved(&mut self, resolved: &Resolved) {
        let Some(place) = self.waiting.iter().position(|id| *id == resolved.id) else {
            return;
        };
        self.waiting.swap_remove(place);
        self.tell(&ServerMessage::ApprovalEnded {
            id: &resolved.id,
            allowed: resolved.allowed,
        });
    }
}

/// Returns the next event. Skips events that were lost because the receiver lagged.
pub(super) async fn next_event<T: Clone>(events: &mut Receiver<T>) -> T {
    loop {
        match events.recv().await {
            Ok(event) => return event,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast;

    #[tokio::test]
    async fn the_next_event_follows_those_that_were_missed() {
        let (send, mut events) = broadcast::channel(1);
        for event in 0..3 {
            send.send(event).unwrap();
        }
        assert_eq!(next_event(&mut events).await, 2);
    }
}
