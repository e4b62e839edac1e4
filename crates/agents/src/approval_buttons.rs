//! The tokens in buttons that answer a waiting tool call from a chat.
//!
//! A token is derived from the call's link token, the button's choice, the person who may press it, and the chat in
//! which it is shown. Together with the choice it fits into 64 bytes. It needs no table: every node can check it with
//! the data that the nodes share about the call. It becomes invalid when the call ends. Reading the database is enough
//! to compute a token, but not to use it, because the vendor reports who pressed the button.

use crate::error::AgentsError;
use crate::event::Approval;
use crate::handle::Agents;
use gatehouse_domain::id::ApprovalId;
use gatehouse_store::WaitingApprovalRow;
use serde_json::json;
use std::sync::Arc;

/// The chat that shows a question with buttons, and the person who may press them, as the vendor's IDs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ButtonRecipient {
    /// The channel account.
    pub account: String,
    pub chat: String,
    pub person: String,
}

/// The call that a pressed button belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum PressedCall {
    Waiting(Box<Approval>),
    /// The call may still wait, but cannot be answered now. Its node has not reported for a while, or stored the call
    /// in a form that this version cannot read.
    Paused,
    /// The call no longer waits or never existed.
    Gone,
}

/// Returns 128 bits in hex. `token_key` is the key of the call's link token.
fn token_of(token_key: &str, place: &ButtonRecipient, choice: &str) -> String {
    let whole = json!([token_key, place.account, place.chat, place.person, choice]);
    WaitingApprovalRow::token_key_of(&whole.to_string())
}

impl Agents {
    /// Returns the token of a button for a call that waits on this node, or `None` if it no longer waits. `choice`
    /// names the answer that the button gives.
    pub fn button_token(
        &self,
        id: &ApprovalId,
        place: &ButtonRecipient,
        choice: &str,
    ) -> Option<String> {
        let token = self.approval_token(id)?;
        let key = WaitingApprovalRow::token_key_of(&token);
        Some(token_of(&key, place, choice))
    }

    /// Finds the waiting call, on any node, that this person answers with a button press in this chat. `choice` is the
    /// choice of the button.
    pub async fn find_approval_by_button(
        &self,
        token: &str,
        place: &ButtonRecipient,
        choice: &str,
    ) -> Result<PressedCall, AgentsError> {
        let is_meant = |key: &str| token_of(key, place, choice) == token;
        if self.0.has_other_nodes() {
            return self.0.shared_approval_that(is_meant).await;
        }
        let mut here = self.0.approvals_here().into_iter();
        let found = here.find(|(_, token)| is_meant(&WaitingApprovalRow::token_key_of(token)));
        Ok(found.map_or(PressedCall::Gone, |(approval, _)| {
            PressedCall::Waiting(Box::new(Arc::unwrap_or_clone(approval)))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_place_counts() {
        let place = ButtonRecipient {
            account: "a".to_owned(),
            chat: "b".to_owned(),
            person: "c".to_owned(),
        };
        let token = token_of("key", &place, "allow");
        assert_eq!(token.len(), 32, "128 bits in hex");
        assert_eq!(token, token_of("key", &place.clone(), "allow"));
        assert_ne!(token, token_of("kez", &place, "allow"));
        assert_ne!(token, token_of("key", &place, "deny"));
        for change in [
            |place: &mut ButtonRecipient| place.account.push('"'),
            |place: &mut ButtonRecipient| place.chat.push('"'),
            |place: &mut ButtonRecipient| place.person.push('"'),
        ] {
            let mut other = place.clone();
            change(&mut other);
            assert_ne!(token, token_of("key", &other, "allow"));
        }
    }
}
