//! Messages to channels about tool calls that wait for approval.

use crate::Services;
use crate::live_config::settings::base_url;
use gatehouse_agents::{AgentEvent, Approval};
use gatehouse_channels::Outgoing;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// The sender's name in the messages.
const SOURCE: &str = "Gatehouse";

impl Services {
    /// Sends a message with a link to the channels of `approvals.notify` for each call that waits. Runs until it is
    /// dropped.
    pub async fn send_approval_messages(&self) {
        let mut events = self.agents.subscribe();
        loop {
            match events.recv().await {
                Ok(AgentEvent::ApprovalRequested(asked)) => self.announce_approval(&asked).await,
                // Calls among the missed events can still be answered in the page.
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn announce_approval(&self, asked: &Arc<Approval>) {
        let resolved = self.config.resolved();
        let settings = &resolved.settings;
        // `None` if the call was answered meanwhile.
        let Some(token) = self.agents.approval_token(&asked.id) else {
            return;
        };
        let link = format!("{}/approve/{token}", base_url(settings));
        let extra = BTreeMap::new();
        for target in &settings.approvals.notify {
            let markup = self.channels.markup(target, &extra).await;
            let tool = markup.escape(&asked.shown.tool);
            let arguments = markup.escape(&asked.shown.arguments);
            let text = format!(
                "The agent {} asks for approval of the tool {tool}:\n\n{arguments}\n\nAnswer until {}: {link}",
                asked.agent, asked.expires_at
            );
            let message = Outgoing {
                target,
                text: &text,
                extra: &extra,
                source: SOURCE,
                at: self.clock.now(),
                delivery: None,
            };
            if let Err(error) = self.channels.send(message).await {
                tracing::warn!(target, %error, "a message about an approval was not sent");
            }
        }
    }
}
