//! Columns that API keys and devices share: their limits, and the credential that created them.

use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{ApiKeyId, AuthSessionId, Cidr, DeviceId, PasskeyId};

/// A credential that another credential created, directly or through others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreatedCredentialRow {
    ApiKey(ApiKeyId),
    Device(DeviceId),
    Passkey(PasskeyId),
    Session(AuthSessionId),
}

impl FromRow for CreatedCredentialRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let id: String = row.try_get("id")?;
        Ok(match row.try_get::<String, _>("kind")?.as_str() {
            "device" => Self::Device(DeviceId::from_text(id)),
            "passkey" => Self::Passkey(PasskeyId::from_text(id)),
            "session" => Self::Session(AuthSessionId::from_text(id)),
            _ => Self::ApiKey(ApiKeyId::from_text(id)),
        })
    }
}

/// A credential and its creator, both as names in `made_by`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MakerRow {
    pub name: String,
    pub made_by: Option<String>,
}

columns! {
    MakerRow:
    name, made_by
}

pub(crate) fn cidrs_from(
    text: Option<&str>,
    what: &'static str,
) -> Result<Option<Vec<Cidr>>, StoreError> {
    text.map(|text| text.split_whitespace().map(str::parse).collect())
        .transpose()
        .map_err(|_| StoreError::Damaged { what })
}

pub(crate) fn cidrs_to_text(list: Option<&[Cidr]>) -> Option<String> {
    let texts = |list: &[Cidr]| list.iter().map(Cidr::to_string).collect::<Vec<_>>();
    list.map(|list| texts(list).join(" "))
}

pub(crate) fn patterns_from(text: Option<String>) -> Option<Vec<String>> {
    text.map(|text| text.split_whitespace().map(str::to_owned).collect())
}

impl Conn {
    /// Returns all credentials that this one created, directly or indirectly. `maker` is the name in
    /// `made_by`.
    pub async fn list_created_by(
        &mut self,
        maker: &str,
    ) -> Result<Vec<CreatedCredentialRow>, StoreError> {
        // UNION rather than UNION ALL, so that the recursion ends even if the rows form a cycle. Only manual edits
        // of the database can create a cycle.
        let query = query(
            "WITH RECURSIVE
                 made (kind, id, name, made_by) AS (
                     SELECT 'api_key', id, 'api_key ' || id, made_by FROM auth_api_keys
                     UNION ALL SELECT 'device', id, 'device ' || id, made_by FROM auth_devices
                     UNION ALL SELECT 'passkey', id, 'passkey ' || id, made_by FROM auth_passkeys
                     UNION ALL SELECT 'session', id, 'session ' || id, made_by FROM auth_sessions),
                 below (kind, id, name) AS (
                     SELECT kind, id, name FROM made WHERE made_by = $1
                     UNION SELECT made.kind, made.id, made.name
                           FROM made JOIN below ON made.made_by = below.name)
             SELECT kind, id FROM below",
        );
        self.list(query.bind(maker)).await
    }

    /// Returns the credential with this name, its creator, the creator's creator, and so on, in any order. Passkeys
    /// are not included.
    pub async fn list_makers_of(&mut self, name: &str) -> Result<Vec<MakerRow>, StoreError> {
        // UNION for the same reason as in `list_created_by`.
        let query = query(
            "WITH RECURSIVE
                 made (name, made_by) AS (
                     SELECT 'api_key ' || id, made_by FROM auth_api_keys
                     UNION ALL SELECT 'device ' || id, made_by FROM auth_devices
                     UNION ALL SELECT 'session ' || id, made_by FROM auth_sessions),
                 above (name, made_by) AS (
                     SELECT name, made_by FROM made WHERE name = $1
                     UNION SELECT made.name, made.made_by
                           FROM made JOIN above ON made.name = above.made_by)
             SELECT name, made_by FROM above",
        );
        self.list(query.bind(name)).await
    }

    /// Changes the creator of everything that `maker` created directly: to `new_maker` for API keys and devices, to
    /// `lasting` for passkeys and sessions. All are names in `made_by`.
    pub async fn update_made_by(
        &mut self,
        maker: &str,
        new_maker: Option<&str>,
        lasting: Option<&str>,
    ) -> Result<(), StoreError> {
        for (table, new_maker) in [
            ("auth_api_keys", new_maker),
            ("auth_devices", new_maker),
            ("auth_passkeys", lasting),
            ("auth_sessions", lasting),
        ] {
            let query = query(format!(
                "UPDATE {table} SET made_by = $2 WHERE made_by = $1"
            ));
            self.run(query.bind(maker).bind(new_maker)).await?;
        }
        Ok(())
    }

    /// Sets the creator of an API key or device. Both are names in `made_by`.
    pub async fn update_made_by_of(
        &mut self,
        name: &str,
        made_by: Option<&str>,
    ) -> Result<(), StoreError> {
        for sql in [
            "UPDATE auth_api_keys SET made_by = $2 WHERE 'api_key ' || id = $1",
            "UPDATE auth_devices SET made_by = $2 WHERE 'device ' || id = $1",
        ] {
            self.run(query(sql).bind(name).bind(made_by)).await?;
        }
        Ok(())
    }
}
