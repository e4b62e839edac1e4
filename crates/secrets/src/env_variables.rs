//! Environment variables for the programs that Gatehouse starts. Values are passed to those programs. Only
//! `env_reveal` returns them to a caller.

use crate::{SecretKind, Secrets, SecretsError};
use gatehouse_domain::{Actor, KeyBinding, Timestamp};
use gatehouse_store::EnvVariableRow;
use gatehouse_vault::Aad;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// The maximum length of a value.
pub const MAX_VALUE_BYTES: usize = 64 * 1024;
/// The maximum length of a name.
const MAX_KEY_CHARACTERS: usize = 128;

/// An environment variable, without its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EnvVariable {
    /// The variable's name.
    pub key: String,
    /// 1 if the value is encrypted, 0 if it is stored in plaintext.
    pub encrypted: u8,
    /// When the variable was first set.
    pub created_at: Timestamp,
    /// When the variable was last set.
    pub updated_at: Timestamp,
    /// When the value was last used. Only in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Why the value was stored in plaintext.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl EnvVariable {
    fn of(row: EnvVariableRow, warning: Option<&str>) -> Self {
        Self {
            key: row.key,
            encrypted: u8::from(row.encrypted),
            created_at: row.created_at,
            updated_at: row.updated_at,
            last_used_at: None,
            warning: warning.map(str::to_owned),
        }
    }
}

/// The variables with their values, for a child process.
#[derive(Debug, Default)]
pub struct Environment {
    /// Name and value.
    pub variables: Vec<(String, SecretString)>,
    /// Names whose value cannot be read: the vault is sealed, or the value is damaged.
    pub unreadable: Vec<String>,
}

fn check_key(key: &str) -> Result<(), SecretsError> {
    let refuse = |reason: &str| Err(SecretsError::invalid("key", reason));
    let mut characters = key.chars();
    let starts_well = characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return refuse("letters, digits and underscores, not beginning with a digit");
    }
    if key.len() > MAX_KEY_CHARACTERS {
        return refuse("at most 128 characters");
    }
    // These names decide which code runs, or configure Gatehouse itself.
    let reserved = ["LD_", "DYLD_", "SERVICE_"];
    if key == "PATH" || reserved.iter().any(|prefix| key.starts_with(prefix)) {
        return refuse("this name is reserved");
    }
    Ok(())
}

fn check_value(value: &SecretString) -> Result<(), SecretsError> {
    let value = value.expose_secret();
    if value.len() > MAX_VALUE_BYTES {
        return Err(SecretsError::invalid("value", "at most 64 KiB"));
    }
    if value.contains('\0') {
        return Err(SecretsError::invalid(
            "value",
            "an environment variable cannot hold a NUL character",
        ));
    }
    Ok(())
}

impl Secrets {
    /// Lists every variable by name, without values.
    pub async fn list_env_variables(&self) -> Result<Vec<EnvVariable>, SecretsError> {
        let rows = self.env_rows().await?;
        let uses = self.last_uses(SecretKind::Env).await?;
        let shown = |row: EnvVariableRow| EnvVariable {
            last_used_at: uses.get(&row.key).copied(),
            ..EnvVariable::of(row, None)
        };
        Ok(rows.into_iter().map(shown).collect())
    }

    /// Sets a variable. The value is encrypted while the vault is unsealed. While it is sealed, a setting decides:
    /// the value is refused, or it is stored in plaintext with a warning and encrypted at the next unseal. A key
    /// that is sent to a service is bound to that service.
    pub async fn set_env_variable(
        &self,
        actor: &Actor,
        key: &str,
        value: SecretString,
        service: Option<&KeyBinding>,
    ) -> Result<EnvVariable, SecretsError> {
        check_key(key)?;
        check_value(&value)?;
        let belongs_to = service.map(ToString::to_string);
        let (inner, actor, key) = (Arc::clone(&self.0), actor.clone(), key.to_owned());
        let aad = Aad::env(&key);
        let write = self.0.write_secret(&aad, &value, move |conn, stored| {
            let (inner, actor, key) = (Arc::clone(&inner), actor.clone(), key.clone());
            let belongs_to = belongs_to.clone();
            Box::pin(async move {
                let now = inner.now();
                let row = EnvVariableRow {
                    key,
                    value: stored.value.to_string(),
                    encrypted: stored.encrypted,
                    belongs_to,
                    created_at: now,
                    updated_at: now,
                };
                let row = conn.update_env_variable(&row).await?;
                let detail = json!({ "key": row.key, "encrypted": u8::from(row.encrypted) });
                inner.note(conn, "env.set", &actor, detail).await?;
                conn.insert_change("env", now).await?;
                Ok(EnvVariable::of(row, stored.warning))
            })
        });
        write.await
    }

    pub async fn delete_env_variable(&self, actor: &Actor, key: &str) -> Result<(), SecretsError> {
        let (inner, actor, name) = (Arc::clone(&self.0), actor.clone(), key.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let key = name;
                if !conn.delete_env_variable(&key).await? {
                    return Err(SecretsError::NotFound("environment variable"));
                }
                let kind = SecretKind::Env.as_str();
                conn.delete_secret_use(kind, &key).await?;
                let detail = json!({ "key": key });
                inner.note(conn, "env.deleted", &actor, detail).await?;
                conn.insert_change("env", inner.now()).await?;
                Ok::<_, SecretsError>(())
            })
        });
        write.await?;
        self.forget_use(SecretKind::Env, key);
        Ok(())
    }

    /// Returns all values, for a child process.
    pub async fn environment(&self) -> Result<Environment, SecretsError> {
        let _shared = self.0.gate.read().await;
        let mut environment = Environment::default();
        for row in self.env_rows().await? {
            let opened = self
                .0
                .open_stored(&Aad::env(&row.key), row.value, row.encrypted);
            match opened {
                Ok(value) => environment.variables.push((row.key, value)),
                Err(error) => {
                    if !matches!(error, SecretsError::Sealed) {
                        tracing::error!(%error, "an environment variable cannot be read");
                    }
                    environment.unreadable.push(row.key);
                }
            }
        }
        Ok(environment)
    }

    async fn env_rows(&self) -> Result<Vec<EnvVariableRow>, SecretsError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { conn.list_env_variables().await }));
        Ok(read.await?)
    }
}

#[cfg(test)]
mod tests;
