//! The keys of the sessions of people who write through a channel.

use gatehouse_store::{Conn, ReceivedMessageRow, StoreError};

fn account_key(account: &str) -> String {
    format!("channel:{account}")
}

/// Returns the key of the direct session of a person.
pub fn person_key(account: &str, person: &str) -> String {
    format!("{}:{person}", account_key(account))
}

/// Returns the session key of a message: one key per person and channel. A group has its own session, because other
/// people read the answers in the group.
pub fn session_key(message: &ReceivedMessageRow) -> String {
    let key = person_key(&message.account_id, &message.person);
    if message.is_group {
        format!("{key}:{}", message.chat)
    } else {
        key
    }
}

/// Withdraws the approvals for later calls in the sessions of a person, or given by that person. `None` means every
/// person of the account.
pub(crate) async fn withdraw_allowed(
    conn: &mut Conn,
    account: &str,
    person: Option<&str>,
) -> Result<(), StoreError> {
    let key = match person {
        Some(person) => person_key(account, person),
        None => account_key(account),
    };
    conn.delete_allowed_calls_under(&key).await
}
