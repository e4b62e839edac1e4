//! Environment variables that contain a key for a service: web search, or an MCP server with a URL. Such a variable
//! is bound to the kind and origin of the service that it was entered for.

use crate::{SecretKind, Secrets, SecretsError};
use gatehouse_domain::KeyBinding;
use gatehouse_vault::Aad;
use secrecy::SecretString;

/// The key for a service, or why there is none.
#[derive(Debug)]
pub enum KeyOfService {
    Key(SecretString),
    /// The variable does not exist.
    Absent,
    /// The variable is bound to another service; the text is that service's origin.
    Elsewhere(String),
}

impl Secrets {
    /// Returns the value of a variable that is to be sent to `service`. A variable that was set before the service
    /// was configured is unbound. It is bound to the first service that requests it.
    ///
    /// Returns `Sealed` while the value cannot be read.
    pub async fn key_of_service(
        &self,
        variable: &str,
        service: &KeyBinding,
    ) -> Result<KeyOfService, SecretsError> {
        let _shared = self.0.gate.read().await;
        let key = variable.to_owned();
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.find_env_variable(&key).await }));
        let Some(mut row) = read.await? else {
            return Ok(KeyOfService::Absent);
        };
        if row.belongs_to.is_none() {
            let (key, text) = (row.key.clone(), service.to_string());
            let bind = self.0.store.write(move |conn| {
                Box::pin(async move {
                    conn.update_env_variable_binding(&key, &text).await?;
                    conn.find_env_variable(&key).await
                })
            });
            match bind.await? {
                Some(bound) => row = bound,
                None => return Ok(KeyOfService::Absent),
            }
        }
        let text = row.belongs_to.unwrap_or_default();
        let binding = text.parse::<KeyBinding>();
        if !binding.as_ref().is_ok_and(|own| own.admits(service)) {
            let origin = binding.map(|own| own.origin().to_owned());
            return Ok(KeyOfService::Elsewhere(origin.unwrap_or_default()));
        }
        let aad = Aad::env(&row.key);
        let value = self.0.open_stored(&aad, row.value, row.encrypted)?;
        self.note_use(SecretKind::Env, &row.key);
        Ok(KeyOfService::Key(value))
    }
}
