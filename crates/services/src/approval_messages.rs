//! Messages to channels about tool calls that wait for approval.

use crate::Services;
use crate::chat_approvals::{Chat, UNANSWERED, asked_in, notes, second};
use crate::live_config::settings::base_url;
use crate::own_messages::OwnMessage;
use crate::sent_links::{Decision, StoredEnd};
use gatehouse_agents::{AgentEvent, Approval, Resolved};
use gatehouse_channels::{Channels, Markup, MessageLink};
use gatehouse_config::ApprovalLinks;
use gatehouse_domain::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The wait before a failed message is sent again, unless the vendor asks for another one.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// The subject of a mail, and the title on ntfy.
const TITLE: &str = "A tool call waits for approval";
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
                    Ok(AgentEvent::ApprovalResolved(resolved)) => {
                        services.note_end(&resolved, &sends).await;
                        continue;
                    }
                    // Calls among the missed events can still be answered in the web UI.
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
                    // Before anyone has the link.
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

    /// Asks the trusted person whose turn needs the approval, replies that it waits if the question is not in the chat
    /// of the message, and notifies the channels of `approvals.notify`.
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
        // By the clock that the expiry is compared with.
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

/// Whether a message to a target contains the link. The log does not get one that answers without a login, because logs
/// are kept and copied.
fn may_have_link(target: &str, links: ApprovalLinks) -> bool {
    let is_log = target.split(':').next() == Some("log");
    !(is_log && links == ApprovalLinks::Bearer)
}

/// The labels of the buttons that open the page of a call, and their URLs.
fn buttons_of(links: ApprovalLinks, link: &str) -> Vec<(&'static str, String)> {
    match links {
        ApprovalLinks::SignIn => vec![("Open", link.to_owned())],
        // The page shows the whole call, and asks before it answers.
        ApprovalLinks::Bearer => vec![
            ("Allow…", format!("{link}?answer=allow")),
            ("Deny…", format!("{link}?answer=deny")),
        ],
    }
}

/// The message about a call at a time, with the link to its page at the end.
pub(crate) fn message_text(
    asked: &Approval,
    markup: Markup,
    (at, link): (Timestamp, Option<&str>),
) -> String {
    let shown = &asked.shown;
    let mut characters = shown.arguments.char_indices();
    let end = characters.nth(MAX_ARGUMENT_CHARS).map(|(at, _)| at);
    let (kept, cut) = match end.and_then(|end| shown.arguments.get(..end)) {
        Some(kept) => {
            let whole = if link.is_some() { "link" } else { "web UI" };
            let note = format!(
                "…\n\nThe arguments are too long for this message. The {whole} shows all of them."
            );
            (kept, note)
        }
        None => (shown.arguments.as_str(), String::new()),
    };
    let answer = match link {
        Some(link) => format!("Read and answer it: {link}"),
        None => "Read and answer it in the web UI.".to_owned(),
    };
    let (tool, arguments) = (markup.exact(&shown.tool), markup.exact(kept));
    let hidden = shown.hidden + tool.hidden + arguments.hidden;
    let conversation = asked_in(asked, |text| {
        let exact = markup.exact(text);
        markup.escape(&exact.text).into_owned()
    });
    format!(
        "The agent {} asks for approval of the tool {}:\n\n{}{cut}{}{}\n\nAnswer until {}, {} after the call. \
         {UNANSWERED}\n{answer}",
        markup.escape(&asked.agent),
        markup.escape(&tool.text),
        markup.escape(&arguments.text),
        notes(hidden, asked.reason),
        conversation,
        second(asked.expires_at),
        in_words(at.until(asked.expires_at)),
    )
}

/// A duration in words, such as `5 minutes`. It is rounded, because the message is written a moment after the call: to
/// ten seconds from 50 seconds on, otherwise to a second.
fn in_words(duration: Duration) -> String {
    let step = if duration < Duration::from_secs(50) {
        1
    } else {
        10
    };
    let half = Duration::from_millis(step * 500);
    let seconds = duration.saturating_add(half).as_secs() / step * step;
    let units = [
        (seconds / 3_600, "hour"),
        (seconds / 60 % 60, "minute"),
        (seconds % 60, "second"),
    ];
    let mut words = Vec::new();
    for (count, unit) in units {
        match count {
            0 => {}
            1 => words.push(format!("1 {unit}")),
            count => words.push(format!("{count} {unit}s")),
        }
    }
    if words.is_empty() {
        return "0 seconds".to_owned();
    }
    words.join(" ")
}

#[cfg(test)]
mod tests;
