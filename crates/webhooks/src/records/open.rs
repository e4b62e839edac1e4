//! Webhooks that verify nothing.

use crate::error::WebhooksError;
use crate::handle::Webhooks;
use gatehouse_sources::AuthMode;

/// The webhooks that anyone who knows their URL can post to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenWebhooks {
    /// The number of all webhooks, including those that verify their deliveries.
    pub all: i64,
    /// The number of enabled webhooks with a URL that verify nothing.
    pub open: i64,
    /// The names of the oldest of these.
    pub names: Vec<String>,
}

impl Webhooks {
    /// Counts the enabled webhooks that verify nothing, and returns up to `limit` of their names.
    pub async fn open_webhooks(&self, limit: i64) -> Result<OpenWebhooks, WebhooksError> {
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let mode = AuthMode::NONE.as_str();
                Ok::<_, WebhooksError>(OpenWebhooks {
                    all: conn.count_webhooks().await?,
                    open: conn.count_enabled_webhooks_with_mode(mode).await?,
                    names: conn.list_enabled_webhooks_with_mode(mode, limit).await?,
                })
            })
        });
        read.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mode_verifies_nothing() {
        let open = AuthMode::all().iter().filter(|mode| !mode.needs_secret());
        assert_eq!(open.collect::<Vec<_>>(), [&AuthMode::NONE]);
    }
}
