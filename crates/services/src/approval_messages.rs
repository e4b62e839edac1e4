//! Messages to channels about tool calls that wait for approval.

use crate::Services;
use crate::chat_approvals::Chat;
use crate::live_config::settings::base_url;
use crate::own_messages::OwnMessage;
use gatehouse_agents::{AgentEvent, Approval};
use gatehouse_channels::Channels;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The wait before a failed message is sent again, unless the vendor asks for another one.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// Longer arguments are cut in a message. The link shows all of them.
const MAX_ARGUMENT_CHARS: usize = 1_500;

impl Services {
    /// Asks trusted people in their chats about each call that waits, and notifies the channels of `approvals.notify`,
    /// until `shutdown`.
    /// Each message is a task in `tasks`, so a slow channel delays no other message.
    pub fn send_approval_messages(
        self: &Arc<Self>,
        shutdown: CancellationToken,
        tasks: &TaskTracker,
    ) {
        let (services, sends) = (Arc::clone(self), tasks.clone());
        let mut events = self.agents.subscribe();
        let work = shutdown.clone().run_until_cancelled_owned(async move {
            loop {
                let asked = match events.recv().await {
                    Ok(AgentEvent::ApprovalRequested(asked)) => asked,
                    // Calls among the missed events can still be answered in the web UI.
                    Ok(_) | Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                let (services, shutdown) = (Arc::clone(&services), shutdown.clone());
                let all = sends.clone();
                sends.spawn(async move { services.announce(&asked, &shutdown, &all).await });
            }
        });
        tasks.spawn(work);
    }

    /// Asks the person whose turn needs the approval, if they may answer in their chat, and notifies the
    /// channels of `approvals.notify`.
    async fn announce(
        self: &Arc<Self>,
        asked: &Arc<Approval>,
        shutdown: &CancellationToken,
        tasks: &TaskTracker,
    ) {
        let own = self.chat_of_asker(asked).await;
        // The chats to ask in. Each has the target that gets a link instead, if there is no chat or it cannot
        // show the question.
        let mut places: Vec<(Option<Chat>, Option<String>)> = Vec::new();
        for target in self.config.resolved().settings.approvals.notify.clone() {
            let chat = self.chat_of_target(&target).await.map(|chat| {
                let own = own.clone().filter(|own| own.place == chat.place);
                own.unwrap_or(chat)
            });
            if chat.is_none() || places.iter().all(|(other, _)| *other != chat) {
                places.push((chat, Some(target)));
            }
        }
        if own.is_some() && places.iter().all(|(other, _)| *other != own) {
            places.push((own, None));
        }
        for (chat, target) in places {
            let (services, asked) = (Arc::clone(self), Arc::clone(asked));
            let shutdown = shutdown.clone();
            tasks.spawn(async move {
                if let Some(chat) = chat
                    && services.ask_in_chat(&asked, &chat, &shutdown).await
                {
                    return;
                }
                if let Some(target) = target {
                    let announced = services.announce_approval(&asked, &target);
                    shutdown.run_until_cancelled(announced).await;
                }
            });
        }
    }

    /// Sends the message until the channel accepts it or the call no longer waits.
    async fn announce_approval(&self, asked: &Approval, target: &str) {
        let at = self.clock.now();
        while let Some(token) = self.agents.approval_token(&asked.id) {
            let text = self.approval_message(asked, target, &token);
            let text = &text;
            let message = OwnMessage { target, text, at };
            let Some(wait) = self.try_own_message(message, RETRY_AFTER).await else {
                return;
            };
            tokio::time::sleep(wait).await;
        }
    }

    fn approval_message(&self, asked: &Approval, target: &str, token: &str) -> String {
        let markup = Channels::markup(target);
        let base = base_url(&self.config.resolved().settings);
        let shown = &asked.shown;
        let mut characters = shown.arguments.char_indices();
        let end = characters.nth(MAX_ARGUMENT_CHARS).map(|(at, _)| at);
        let (kept, cut) = match end.and_then(|end| shown.arguments.get(..end)) {
            Some(kept) => (kept, "\n… The link shows the rest."),
            None => (shown.arguments.as_str(), ""),
        };
        format!(
            "The agent {} asks for approval of the tool {}:\n\n{}{cut}\n\nAnswer until {}: {base}/approve/{token}",
            markup.escape(&asked.agent),
            markup.escape(&shown.tool),
            markup.escape(kept),
            asked.expires_at,
        )
    }
}
