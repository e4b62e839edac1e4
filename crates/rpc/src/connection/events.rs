//! Sends events, or withholds them until a response is sent.

use super::{Connection, MAX_WITHHELD, State, io::Output};
use crate::events::Event;
use crate::methods::METHODS;
use std::sync::Arc;

impl Connection {
    /// Sends an event. Withholds it while this node cannot check which credentials other nodes have revoked.
    pub(super) fn event(&mut self, event: Arc<Event>, out: &mut Vec<Output>) {
        let State::Ready(identity) = &self.state else {
            return;
        };
        if !event.may_receive(identity, METHODS) {
            return;
        }
        if self.rpc.services().auth.memory_is_fresh() {
            out.push(Output::Send(event.into()));
        } else if self.withheld.len() < MAX_WITHHELD {
            self.withheld.push_back(event);
        } else {
            // 1013 is "try again later" in the IANA registry of close codes.
            self.close(out, 1013, "the credential cannot be confirmed");
        }
    }

    /// Sends the withheld events after the credential is confirmed.
    pub(super) fn release_events(&mut self, out: &mut Vec<Output>) {
        if !self.withheld.is_empty() && self.rpc.services().auth.memory_is_fresh() {
            let events = self.withheld.drain(..);
            out.extend(events.map(|event| Output::Send(event.into())));
        }
    }
}
