//! Environment variables whose value is a key for a service: those of web search and of MCP servers
//! behind a URL. Such a variable belongs to the kind and origin of the service that it was entered for.

use crate::{Secrets, SecretsError};
use gatehouse_domain::KeyBinding;
use gatehouse_vault::Aad;
use secrecy::SecretString;

/// What there is to send to a service.
#[derive(Debug)]
pub enum KeyOfService {
    /// This key.
    Key(SecretString),
    /// There is no such variable.
    Absent,
    /// The variable was entered for another service; the text is the origin of that.
    Elsewhere(String),
}

impl Secrets {
    /// The value of a variable to send to `service`. A variable that was bound to no service, because it
    /// was set before the service was configured, belongs to the first that asks for it.
    ///
    /// `Sealed` when the value cannot be read now.
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
        Ok(KeyOfService::Key(value))
    }
}
