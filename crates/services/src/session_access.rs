//! Limits what a caller can see of a session, by the `only` of its credential.

use gatehouse_agents::Session;
use gatehouse_auth::AuthIdentity;

/// Returns whether the `only` of the caller permits one of the methods that read messages.
pub fn may_read_messages(identity: &AuthIdentity) -> bool {
    let ways = ["chat.history", "/api/sessions/{id}/messages"];
    ways.iter().any(|way| identity.may_call(way))
}

/// Omits the share's ID if the `only` of the caller permits neither reading messages nor sharing. Anyone with the
/// ID can read the messages, even after the caller's key was revoked.
pub fn visible(identity: &AuthIdentity, mut session: Session) -> Session {
    if !may_read_messages(identity) && !identity.may_call("sessions.share") {
        session.share_id = None;
    }
    session
}
