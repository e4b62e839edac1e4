//! Rows for tests, and queries that only tests need. Each test changes the fields that it examines.

use crate::delivery_configs::CONFIG;
use crate::sql::query;
use crate::{AuthSessionRow, ChatSessionRow, Conn, Engine, NewDelivery, StoreError};
use gatehouse_domain::id::SessionId;
use gatehouse_domain::{AuthSessionId, DeliveryId, DeliveryStatus, Timestamp, WebhookId};

/// Returns a time in milliseconds.
pub const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// Returns the session `as_{n}` with the hash `hash{n}`, created at `n`. Its user agent has characters that need
/// quoting.
pub fn auth_session(n: i64) -> AuthSessionRow {
    AuthSessionRow {
        id: AuthSessionId::from_text(format!("as_{n}")),
        token_hash: format!("hash{n}"),
        login_method: "password".to_owned(),
        user_agent: Some("Größe, “quoted” \\ \u{1f512}\n".to_owned()),
        client_ip: None,
        created_at: at(n),
        last_seen_at: at(n),
        expires_at: at(n + 1_000_000),
        confirmed_at: at(n),
        made_by: None,
        passkey_id: None,
    }
}

/// Returns an empty session of the default agent with the ID, key and label `id`, created at 1.
pub fn chat_session(id: &str) -> ChatSessionRow {
    ChatSessionRow {
        id: SessionId::from_text(id),
        key: id.to_owned(),
        label: id.to_owned(),
        agent_id: "default".to_owned(),
        source: "user".to_owned(),
        tainted: false,
        private: false,
        message_count: 0,
        last_seq: 0,
        last_turn: 0,
        summary: None,
        summary_turn: 0,
        summary_origin: "model".to_owned(),
        share_id: None,
        pinned: false,
        archived: false,
        tags: String::new(),
        created_at: at(1),
        updated_at: at(1),
    }
}

/// Returns a queued delivery of `hook_1` for an agent, received and due at `n`. It is the only one in the session
/// `{n}`. IDs sort like their numbers.
pub fn queued_delivery(n: u32) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::from_text(format!("del_{n:012x}")),
        webhook_id: WebhookId::from_text("hook_1"),
        status: DeliveryStatus::Queued,
        event_type: None,
        entity_key: None,
        delivery_key: None,
        unique_key: None,
        bytes_key: None,
        duplicate_of: None,
        replay_of: None,
        redelivery: None,
        summary: None,
        session_key: n.to_string(),
        received_at: at(i64::from(n)),
        next_attempt_at: Some(at(i64::from(n))),
        headers: "{}".to_owned(),
        body_size: 2,
        body_preview: "{}".to_owned(),
        payload: Some("{}".to_owned()),
        config: Some("{}".into()),
        target: Some("".into()),
        error: None,
    }
}

/// Returns statements that store a value in a delivery. This version cannot read the value, but a newer version may
/// have stored it.
pub fn make_unreadable(engine: Engine, id: &DeliveryId) -> String {
    let (before, value) = match engine {
        Engine::Sqlite => ("", "x'00'"),
        Engine::Postgres => (
            "ALTER TABLE webhook_deliveries ALTER COLUMN body_size DROP NOT NULL;",
            "NULL",
        ),
    };
    format!("{before} UPDATE webhook_deliveries SET body_size = {value} WHERE id = '{id}'")
}

/// Makes the deliveries of [`make_unreadable`] readable.
pub const MAKE_READABLE: &str = "UPDATE webhook_deliveries SET body_size = 2";

impl Conn {
    /// Returns the configuration of the webhook at the receipt of a delivery. `None` if there is no such
    /// delivery or it has no configuration.
    pub async fn find_delivery_config(&mut self, id: &str) -> Result<Option<String>, StoreError> {
        let sql = format!(
            "SELECT {CONFIG} FROM webhook_deliveries WHERE id = $1
                 AND COALESCE(config, config_key) IS NOT NULL"
        );
        self.find(query(sql).bind(id.to_owned())).await
    }

    pub async fn count_held_deliveries(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT COUNT(*) FROM held_deliveries"))
            .await
    }
}
