//! Messages to channels about tool calls that wait for approval.

mod text;

use crate::Services;
use crate::chat_approvals::Chat;
use crate::live_config::settings::base_url;
use crate::own_messages::OwnMessage;
use crate::sent_links::{Decision, StoredEnd};
use gatehouse_agents::{AgentEvent, Approval, Resolved};
use gatehouse_channels::{Channels, MessageLink};
use gatehouse_config::ApprovalLinks;
use std::sync::Arc;
use std::time::Duration;
pub(crate) use text::message_text;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The delay before a failed message is sent again, unless the vendor requests a different delay.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// The subject of a mail, and the title on ntfy.
const TITLE: &str = "A tool call waits for approval";

impl Services {
    /// Sends messages about waiting calls until `shutdown`: questions to trusted people in their chats, and notices
    /// to the channels of `approvals.notify`. Each message is a task in `tasks`, so a slow channel delays no other
    /// message.
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
                    Ok(AgentEvent::ApprovalResolved(resolved)) => {
                        services.note_end(&resolved, &sends).await;
                        continue;
                    }
                    // If events were missed, their calls can still be answered in the web UI.
                    Ok(_) | Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                let token = services.agents.approval_token(&asked.id);
                if let Some(token) = &token {
                    services.sent_links.note_sent(&asked, token);
                }
                let (services, shutdown) = (Arc::clone(&services), shutdown.clone());
                let all = sends.clone();
                sends.spawn(async move {
                    // Stored before the link is sent.
                    if let Some(token) = token {
                        services.store_link(&asked, &token).await;
                    }
                    services.announce(&asked, &shutdown, &all).await;
                });
            }
        });
        tasks.spawn(work);
    }

    /// Records the end of a call whose link was sent.
    async fn note_end(self: &Arc<Self>, resolved: &Resolved, tasks: &TaskTracker) {
        let end = if resolved.is_answered {
            let decision = Decision {
                allowed: resolved.allowed,
                at: self.clock.now(),
                through: None,
            };
            self.sent_links.note_decision(&resolved.id, decision);
            StoredEnd::Answered(decision)
        } else {
            let now = self.store.shared_now(&self.clock).await;
            if !self.sent_links.note_unanswered(&resolved.id, now) {
                return;
            }
            StoredEnd::Stopped(now)
        };
        let (services, id) = (Arc::clone(self), resolved.id.clone());
        tasks.spawn(async move { services.store_link_end_later(&id, end).await });
    }

    /// Asks the trusted person whose turn needs the approval, and notifies the channels of `approvals.notify`. If
    /// the question is not asked in the chat of the person's message, replies to the message that the turn waits.
    async fn announce(
        self: &Arc<Self>,
        asked: &Arc<Approval>,
        shutdown: &CancellationToken,
        tasks: &TaskTracker,
    ) {
        let person = self.asker(asked).await;
        let (own, reply_to) = person.map_or((None, None), |person| (person.chat, person.reply_to));
        let (on_sent, sent) = oneshot::channel();
        let mut on_sent = own.is_some().then_some(on_sent);
        if let Some((account, message)) = reply_to {
            let (services, asked) = (Arc::clone(self), Arc::clone(asked));
            let shutdown = shutdown.clone();
            tasks.spawn(async move {
                let telling = services.tell_asker(&asked, (&account, &message), sent);
                shutdown.run_until_cancelled(telling).await;
            });
        }
        // The chats in which to ask. If there is no chat, or if it cannot show the question, the target gets a link
        // instead.
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
            places.push((own.clone(), None));
        }
        for (chat, target) in places {
            let on_sent = on_sent.take_if(|_| chat == own);
            let (services, asked) = (Arc::clone(self), Arc::clone(asked));
            let shutdown = shutdown.clone();
            tasks.spawn(async move {
                if let Some(chat) = chat
                    && services
                        .ask_in_chat(&asked, &chat, on_sent, &shutdown)
                        .await
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
        let Some(token) = self.agents.approval_token(&asked.id) else {
            return;
        };
        // Uses the shared clock, because the expiry is also compared with it.
        let at = self.store.shared_now(&self.clock).await;
        let resolved = self.config.resolved();
        let links = resolved.settings.approvals.links;
        let link = format!("{}/approve/{token}", base_url(&resolved.settings));
        drop(resolved);
        let link = may_have_link(target, links).then_some(link);
        let link = link.as_deref();
        let text = &message_text(asked, Channels::markup(target), (at, link));
        let buttons = link.map_or_else(Vec::new, |link| buttons_of(links, link));
        let links = buttons
            .iter()
            .map(|(label, url)| MessageLink { label, url });
        let links: Vec<_> = links.collect();
        while self.agents.approval_token(&asked.id).is_some() {
            let message = OwnMessage {
                target,
                title: Some(TITLE),
                text,
                at,
                links: &links,
            };
            let Some(wait) = self.try_own_message(message, RETRY_AFTER).await else {
                return;
            };
            tokio::time::sleep(wait).await;
        }
    }
}

/// Returns whether a message to a target contains the link. A message to the log does not contain a link that works
/// without a login, because logs are kept and copied.
fn may_have_link(target: &str, links: ApprovalLinks) -> bool {
    let is_log = target.split(':').next() == Some("log");
    !(is_log && links == ApprovalLinks::Bearer)
}

/// Returns the labels and URLs of the buttons that open the page of a call.
fn buttons_of(links: ApprovalLinks, link: &str) -> Vec<(&'static str, String)> {
    match links {
        ApprovalLinks::SignIn => vec![("Open", link.to_owned())],
        // The page shows the whole call, and asks for confirmation.
        ApprovalLinks::Bearer => vec![
            ("Allow…", format!("{link}?answer=allow")),
            ("Deny…", format!("{link}?answer=deny")),
        ],
    }
}

#[cfg(test)]
mod tests;
