//! Closes a connection: the reasons, and the messages that are sent before.

use super::{CONNECT_WITHIN_MS, Connection, State, io::Output};
use crate::envelope::{Id, refusal};
use gatehouse_domain::Problem;

impl Connection {
    pub(super) fn credential_ended(&self) -> bool {
        let State::Ready(identity) = &self.state else {
            return false;
        };
        let services = self.rpc.services();
        !services.auth.is_live(identity)
            || services
                .auth
                .expires_at(identity)
                .is_some_and(|at| at <= services.clock.now())
    }

    pub(super) fn close(&mut self, out: &mut Vec<Output>, code: u16, reason: &'static str) {
        self.state = State::Closed;
        self.queued.clear();
        self.withheld.clear();
        self.place = None;
        out.push(Output::Close { code, reason });
    }

    /// Sends an error response and closes the connection.
    pub(super) fn refuse(
        &mut self,
        out: &mut Vec<Output>,
        id: &Id,
        problem: &Problem,
        reason: &'static str,
    ) {
        out.push(Output::Send(refusal(id, problem).into()));
        self.close(out, problem.code.close_code(), reason);
    }

    pub(super) fn oversized(&mut self, out: &mut Vec<Output>) {
        let problem = Problem::too_large("message", self.max_message_bytes());
        self.refuse(out, &Id::null(), &problem, "message too long");
    }

    /// Evicts the connection. Only unauthenticated connections are evicted.
    pub(super) fn evict(&mut self, out: &mut Vec<Output>) {
        if self.place.is_some() {
            let problem = Problem::rate_limited(CONNECT_WITHIN_MS);
            self.refuse(out, &Id::null(), &problem, "too many sockets");
        }
    }
}
