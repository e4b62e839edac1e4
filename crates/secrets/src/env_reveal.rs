//! Values of environment variables for programs that a person runs. Callers can read values only through this
//! module. The caller has authorized the request.

use crate::{SecretKind, Secrets, SecretsError};
use gatehouse_domain::Actor;
use gatehouse_domain::env_names::steers_a_program;
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;

/// The result of revealing variables.
#[derive(Debug, Default)]
pub struct Revealed {
    /// Name and value.
    pub variables: Vec<(String, SecretString)>,
    /// Names that are withheld, because they can make a program run other code.
    pub withheld: Vec<String>,
    /// Names whose value cannot be read.
    pub unreadable: Vec<String>,
}

impl Secrets {
    /// Returns the values of all variables, or of the named ones. Before that, writes the names, and the program
    /// that the caller reports, to the audit log.
    pub async fn reveal_env_variables(
        &self,
        actor: &Actor,
        only: Option<&[String]>,
        program: &str,
    ) -> Result<Revealed, SecretsError> {
        let environment = self.environment().await?;
        let wanted = |name: &String| only.is_none_or(|only| only.contains(name));
        let mut revealed = Revealed::default();
        for (name, value) in environment.variables {
            if !wanted(&name) {
                continue;
            }
            if steers_a_program(&name) {
                revealed.withheld.push(name);
            } else {
                revealed.variables.push((name, value));
            }
        }
        let unreadable = environment.unreadable.into_iter();
        revealed.unreadable = unreadable.filter(wanted).collect();
        let known = |name: &String| {
            let mut names = revealed.variables.iter().map(|(name, _)| name);
            names.any(|known| known == name)
                || revealed.withheld.contains(name)
                || revealed.unreadable.contains(name)
        };
        let missing: Vec<String> = only
            .into_iter()
            .flatten()
            .filter(|name| !known(name))
            .cloned()
            .collect();
        if !missing.is_empty() {
            return Err(SecretsError::NoSuchVariables(missing));
        }
        let keys: Vec<&String> = revealed.variables.iter().map(|(name, _)| name).collect();
        let detail = json!({ "keys": keys, "program": program });
        let (inner, actor) = (Arc::clone(&self.0), actor.clone());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                inner.note(conn, "env.revealed", &actor, detail).await?;
                Ok::<_, SecretsError>(())
            })
        });
        write.await?;
        for (name, _) in &revealed.variables {
            self.note_use(SecretKind::Env, name);
        }
        Ok(revealed)
    }
}
