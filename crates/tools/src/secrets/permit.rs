//! Decides which secrets a request may contain.

use super::{MIN_BYTES, RequestSecrets, is_removable};
use gatehouse_agents::{Audience, ToolError};
use gatehouse_config::ToolSecret;
use gatehouse_secrets::{SecretKind, Status};
use secrecy::SecretString;
use std::collections::BTreeSet;
use url::{Host, Url};

impl RequestSecrets {
    /// Refuses names of secrets that may not be sent.
    pub(super) fn permit(
        &self,
        names: &BTreeSet<String>,
        url: &Url,
        ceiling: Audience,
    ) -> Result<(), ToolError> {
        if names.is_empty() {
            return Ok(());
        }
        // Otherwise, an untrusted sender could act with the owner's rights.
        if ceiling < Audience::Trusted {
            return Err(ToolError::new(
                "Secrets cannot be used in a conversation that contains untrusted text.",
            ));
        }
        let host = url.authority();
        if url.scheme() != "https" && !is_loopback(url) {
            return Err(ToolError::new("Secrets are sent over https only."));
        }
        let allowed = self.allowed.load();
        let is_allowed = |name: &str| allowed.iter().any(|it| it.name == name && it.host == host);
        match names.iter().find(|name| !is_allowed(name)) {
            Some(name) => Err(ToolError::new(format!(
                "The secret {name} may not be sent to {host}. The owner lists the allowed hosts in tools.secrets."
            ))),
            None => Ok(()),
        }
    }

    /// Returns whether a secret may be sent to a host.
    pub(crate) fn may_know(&self, url: &Url) -> bool {
        let allowed = self.allowed.load();
        allowed.iter().any(|it| it.host == url.authority())
    }

    /// Returns the values of the secrets that requests may contain, and whether all could be read. Fails if an
    /// unreadable secret is named in the request or may be sent to the host.
    pub(super) async fn known(
        &self,
        names: &BTreeSet<String>,
        url: &Url,
    ) -> Result<(Vec<(String, SecretString)>, bool), ToolError> {
        let allowed = self.allowed.load_full();
        if allowed.is_empty() {
            return Ok((Vec::new(), true));
        }
        let is_missed = |name: &str| {
            let at_host = |it: &ToolSecret| it.name == name && it.host == url.authority();
            names.contains(name) || allowed.iter().any(at_host)
        };
        let unreadable = || match self.secrets.status() {
            Status::Sealed => ToolError::new("The vault is sealed, so secrets cannot be used."),
            _ => ToolError::new("The secret cannot be read."),
        };
        let environment = match self.secrets.environment().await {
            Ok(environment) => environment,
            Err(error) => {
                tracing::debug!(%error, "the secrets for tools cannot be read");
                let is_missed = allowed.iter().any(|it| is_missed(&it.name));
                return if is_missed {
                    Err(unreadable())
                } else {
                    Ok((Vec::new(), false))
                };
            }
        };
        if environment.unreadable.iter().any(|name| is_missed(name)) {
            return Err(unreadable());
        }
        let is_allowed = |name: &str| allowed.iter().any(|it| it.name == name);
        let is_complete = !environment.unreadable.iter().any(|name| is_allowed(name));
        let mut known = environment.variables;
        known.retain(|(name, _)| is_allowed(name));
        Ok((known, is_complete))
    }

    /// Returns the values of the named secrets.
    pub(super) fn pick(
        &self,
        names: &BTreeSet<String>,
        known: &[(String, SecretString)],
    ) -> Result<Vec<(String, SecretString)>, ToolError> {
        let mut values = Vec::with_capacity(names.len());
        for name in names {
            let Some((_, value)) = known.iter().find(|(key, _)| key == name) else {
                let message = format!("There is no secret {name} in the vault.");
                return Err(ToolError::new(message));
            };
            if !is_removable(value) {
                return Err(ToolError::new(format!(
                    "The secret {name} is shorter than {MIN_BYTES} bytes, so it is not sent."
                )));
            }
            self.secrets.note_use(SecretKind::Env, name);
            values.push((name.clone(), value.clone()));
        }
        Ok(values)
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
