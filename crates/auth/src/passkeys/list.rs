//! Lists, renames and removes passkeys.

use super::api::{PasskeyItem, PasskeyList, RenameRequest};
use crate::api::Done;
use crate::audit::kinds;
use crate::error::AuthError;
use crate::recorded::{Changed, Recorded};
use crate::request_context::{Caller, Outcome};
use crate::sessions::end_sessions_of;
use crate::state::{Auth, Settled};
use gatehouse_domain::{PasskeyId, Scope, visible};
use gatehouse_store::PasskeyRow;
use serde_json::json;

/// The maximum length of a passkey's name, in characters.
const MAX_NAME: usize = 100;

pub(super) fn check_name(name: &str) -> Result<String, AuthError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || !visible::is_name(name) {
        return Err(AuthError::field(
            "name",
            "1 to 100 characters, none of which hide or reorder text",
        ));
    }
    Ok(name.to_owned())
}

impl From<PasskeyRow> for PasskeyItem {
    fn from(row: PasskeyRow) -> Self {
        let PasskeyRow {
            id,
            name,
            rp_id,
            created_at,
            last_used_at,
            made_by,
            ..
        } = row;
        Self {
            id,
            name,
            rp_id,
            created_at,
            last_used_at,
            made_by,
        }
    }
}

impl Auth {
    pub(super) async fn passkey_rows(&self) -> Result<Vec<PasskeyRow>, AuthError> {
        let rows = self
            .0
            .store
            .read(|conn| Box::pin(async move { Ok::<_, AuthError>(conn.list_passkeys().await?) }));
        rows.await
    }

    /// `GET /api/auth/passkeys`.
    pub async fn list_passkeys(&self, caller: &Caller<'_>) -> Result<PasskeyList, AuthError> {
        caller.context.require(Scope::Read)?;
        let passkeys = self
            .passkey_rows()
            .await?
            .into_iter()
            .map(PasskeyItem::from)
            .collect();
        Ok(PasskeyList { passkeys })
    }

    /// `PATCH /api/auth/passkeys/{id}`.
    pub async fn rename_passkey(
        &self,
        caller: &Caller<'_>,
        id: PasskeyId,
        request: RenameRequest,
    ) -> Result<Outcome<Done>, AuthError> {
        caller.context.require(Scope::Admin)?;
        let name = check_name(&request.name)?;
        let actor = caller.context.actor();
        self.record(
            Recorded::new(kinds::PASSKEY_RENAMED, actor, &[Changed::PASSKEYS]),
            move |conn| {
                Box::pin(async move {
                    if !conn.update_passkey_name(&id, &name).await? {
                        return Err(AuthError::NotFound("passkey"));
                    }
                    Ok((json!({ "passkey": id, "name": name }), ()))
                })
            },
            |_, ()| {},
        )
        .await?;
        Ok(Outcome::plain(Done::OK))
    }

    /// `DELETE /api/auth/passkeys/{id}`. Refuses to remove the last credential. Ends the sessions that the passkey
    /// opened, except the caller's own.
    pub async fn delete_passkey(
        &self,
        caller: &Caller<'_>,
        id: PasskeyId,
    ) -> Result<Outcome<Done>, AuthError> {
        let identity = caller.context.require(Scope::Admin)?;
        self.require_confirmed(identity).await?;
        let kept = identity.as_session().map(|session| session.id().clone());
        let (actor, now) = (caller.context.actor(), self.0.now());
        let changed = &[Changed::PASSKEYS, Changed::SESSIONS];
        self.record(
            Recorded::new(kinds::PASSKEY_REMOVED, actor, changed),
            move |conn| {
                Box::pin(async move {
                    // Reads the name before the row is deleted.
                    let all = conn.list_passkeys().await?;
                    let name = all.into_iter().find(|row| row.id == id);
                    let name = name.map(|row| row.name);
                    if !conn.delete_passkey(&id).await? {
                        return Err(AuthError::NotFound("passkey"));
                    }
                    let settled = Settled::read(conn).await?;
                    if !settled.facts.setup_complete {
                        return Err(AuthError::Conflict(
                            "This is the only way to log in. Use reset to remove it.",
                        ));
                    }
                    let ended = end_sessions_of(conn, &id, kept.as_ref(), now).await?;
                    let sessions_ended = ended.len();
                    let detail =
                        json!({ "passkey": id, "name": name, "sessions_ended": sessions_ended });
                    Ok((detail, (settled, ended)))
                })
            },
            |inner, (settled, ended)| {
                inner.settle(settled);
                inner
                    .sessions
                    .end_where(|session| ended.contains(session.id()));
            },
        )
        .await?;
        Ok(Outcome::plain(Done::OK))
    }
}
