//! The context of a ciphertext. The context is authenticated with the ciphertext, so a value that is moved to
//! another row or column does not decrypt.

use crate::SharePlace;
use std::fmt;

/// The context of one ciphertext. `Display` returns the literal text that is authenticated.
///
/// Names are not escaped. Two contexts never have the same text, because the crates that own the names restrict
/// them. For example, an account ID contains no colon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aad {
    /// `env:{key}`: an environment variable.
    Env { key: String },
    /// `ssh-key:{name}`: a managed SSH private key.
    SshKey { name: String },
    /// `channel:{type}:{account_id}:{field}`: a secret field of a channel account.
    Channel {
        /// The channel's type.
        kind: String,
        account_id: String,
        field: String,
    },
    /// `webhook:config:{field}`: a webhook's secret. All webhooks share this context, so the plaintext contains the
    /// webhook's ID.
    WebhookConfig {
        /// `secret` or `previous_secret`.
        field: String,
    },
    /// `provider:{id}:api_key`: a provider's key in the database.
    ProviderKey { id: String },
    /// `mcp:{server}:authorization`: the client and the tokens of an MCP server.
    McpAuthorization { server: String },
    /// `provider_keys`: the encrypted copy of the provider keys file.
    ProviderKeys,
    /// `voice:cache:{name}`: a cached speech file of this name.
    VoiceCache {
        /// File name, in hexadecimal digits.
        name: String,
    },
    /// `held:{delivery}`: a delivery that arrived while the vault was sealed.
    Held {
        /// The delivery's ID.
        delivery: String,
    },
    /// `vault:hold`: the private key for held deliveries.
    HoldKey,
    /// `vault:share:request:{dek_id}:{generation}:{id}`: a sealed node's request for the data key.
    ShareRequest(SharePlace),
    /// `vault:share:answer:{dek_id}:{generation}:{id}`: the data key, for the node that requested it.
    ShareAnswer(SharePlace),
    /// `vault:share:rotation:{old}:{new}`: the new data key, for nodes that have the old one.
    ShareRotation {
        /// Id of the data key before the rotation.
        old: String,
        /// Id of the data key after it.
        new: String,
    },
    /// `vault:dek`: the data key, wrapped with the key derived from the password.
    WrappedDek,
    /// `vault:dek:recovery`: the data key, wrapped with the key derived from the recovery key.
    RecoveryWrappedDek,
}

impl Aad {
    pub fn env(key: &str) -> Self {
        Self::Env {
            key: key.to_owned(),
        }
    }

    pub fn ssh_key(name: &str) -> Self {
        Self::SshKey {
            name: name.to_owned(),
        }
    }

    pub fn channel(kind: &str, account_id: &str, field: &str) -> Self {
        Self::Channel {
            kind: kind.to_owned(),
            account_id: account_id.to_owned(),
            field: field.to_owned(),
        }
    }

    pub fn held(delivery: &str) -> Self {
        Self::Held {
            delivery: delivery.to_owned(),
        }
    }

    pub fn provider_key(id: &str) -> Self {
        Self::ProviderKey { id: id.to_owned() }
    }

    pub fn mcp_authorization(server: &str) -> Self {
        Self::McpAuthorization {
            server: server.to_owned(),
        }
    }

    pub fn webhook_config(field: &str) -> Self {
        Self::WebhookConfig {
            field: field.to_owned(),
        }
    }
}

impl fmt::Display for Aad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env { key } => write!(f, "env:{key}"),
            Self::SshKey { name } => write!(f, "ssh-key:{name}"),
            Self::Channel {
                kind,
                account_id,
                field,
            } => {
                write!(f, "channel:{kind}:{account_id}:{field}")
            }
            Self::WebhookConfig { field } => write!(f, "webhook:config:{field}"),
            Self::ProviderKey { id } => write!(f, "provider:{id}:api_key"),
            Self::McpAuthorization { server } => write!(f, "mcp:{server}:authorization"),
            Self::ProviderKeys => f.write_str("provider_keys"),
            Self::VoiceCache { name } => write!(f, "voice:cache:{name}"),
            Self::Held { delivery } => write!(f, "held:{delivery}"),
            Self::HoldKey => f.write_str("vault:hold"),
            Self::ShareRequest(place) => write!(f, "vault:share:request:{place}"),
            Self::ShareAnswer(place) => write!(f, "vault:share:answer:{place}"),
            Self::ShareRotation { old, new } => write!(f, "vault:share:rotation:{old}:{new}"),
            Self::WrappedDek => f.write_str("vault:dek"),
            Self::RecoveryWrappedDek => f.write_str("vault:dek:recovery"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_literally_those_of_the_specification() {
        for (aad, text) in [
            (Aad::env("A_KEY"), "env:A_KEY"),
            (Aad::ssh_key("my key@host"), "ssh-key:my key@host"),
            (
                Aad::channel("telegram", "main", "bot_token"),
                "channel:telegram:main:bot_token",
            ),
            (
                Aad::webhook_config("previous_secret"),
                "webhook:config:previous_secret",
            ),
            (Aad::provider_key("openai"), "provider:openai:api_key"),
            (Aad::mcp_authorization("far"), "mcp:far:authorization"),
            (Aad::ProviderKeys, "provider_keys"),
            (
                Aad::VoiceCache {
                    name: "0a".to_owned(),
                },
                "voice:cache:0a",
            ),
            (Aad::WrappedDek, "vault:dek"),
            (Aad::RecoveryWrappedDek, "vault:dek:recovery"),
        ] {
            assert_eq!(aad.to_string(), text);
        }
    }
}
