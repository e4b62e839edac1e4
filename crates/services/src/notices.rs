//! Messages to channels when something needs the owner's attention: a delivery failed, a webhook refuses every
//! request, a budget is nearly used up, or a health check fails. The settings `notify.*` name the channels. The
//! nodes of a database count together, and one of them sends the message. If a node restarts before it has sent a
//! message, the message is lost.

mod failures;
mod health;
mod rules;

use crate::Services;
use crate::live_config::settings::base_url;
use crate::own_messages::OwnMessage;
use gatehouse_agents::{AgentEvent, Budget};
use gatehouse_channels::Channels;
use gatehouse_config::Settings;
use gatehouse_domain::WebhookId;
use rules::{Kind, Notice};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often to check for collected failures whose message is due.
const LOOK: Duration = Duration::from_secs(30);

/// The delay before a failed message is sent again, unless the vendor requests a different delay.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// The maximum time for which sending a message is retried.
const GIVE_UP_MS: u64 = 3_600_000;

/// A message in parts. Untrusted parts are escaped for each channel.
#[derive(Clone, Debug)]
struct Message {
    headline: String,
    /// Text from senders, vendors and models.
    details: Vec<String>,
    /// The path of the page that shows more.
    path: String,
}

impl Services {
    /// Sends messages by the rules of `notify.*`, until `shutdown`. Each message is a task in `tasks`.
    pub fn send_notices(self: &Arc<Self>, shutdown: CancellationToken, tasks: &TaskTracker) {
        let (services, sends) = (Arc::clone(self), tasks.clone());
        self.send_budget_warnings(&shutdown, tasks);
        self.send_health_notices(&shutdown, tasks);
        let stop = shutdown.clone();
        let work = shutdown.run_until_cancelled_owned(async move {
            let mut look = tokio::time::interval(LOOK);
            loop {
                tokio::select! {
                    taken = services.webhooks.next_failures() => {
                        for notice in services.note_all(taken).await {
                            services.tell(notice, &stop, &sends).await;
                        }
                    }
                    _ = look.tick() => {
                        // These failures could not be counted before.
                        let left = services.webhooks.take_failures();
                        let mut notices = services.note_all(left).await;
                        notices.extend(services.due().await);
                        for notice in notices {
                            services.tell(notice, &stop, &sends).await;
                        }
                    }
                }
            }
        });
        tasks.spawn(work);
    }

    /// Sends warnings about budgets in a separate task. A budget warns only once per period, and agents publish too
    /// many events to wait for writes.
    fn send_budget_warnings(self: &Arc<Self>, shutdown: &CancellationToken, tasks: &TaskTracker) {
        let (services, sends, stop) = (Arc::clone(self), tasks.clone(), shutdown.clone());
        let mut events = self.agents.subscribe();
        tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
            loop {
                match events.recv().await {
                    Ok(AgentEvent::BudgetWarning(warning)) => {
                        let targets = services.notify(|it| it.notify.budget_warning.clone());
                        services.send_to(targets, &budget(&warning.budget), &stop, &sends);
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        }));
    }

    fn notify(&self, targets: impl FnOnce(&Settings) -> Vec<String>) -> Vec<String> {
        targets(&self.config.resolved().settings)
    }

    fn targets(&self, kind: Kind) -> Vec<String> {
        match kind {
            Kind::Failed => self.notify(|it| it.notify.delivery_failed.clone()),
            Kind::Refused => self.notify(|it| it.notify.webhook_refuses.clone()),
        }
    }

    async fn tell(self: &Arc<Self>, notice: Notice, stop: &CancellationToken, sends: &TaskTracker) {
        let name = self.name_of(&notice.webhook).await;
        // Retention may have deleted the delivery in the meantime.
        let delivery = self.webhooks.delivery(notice.delivery.as_str()).await.ok();
        let (summary, error) = delivery.map_or_else(Default::default, |delivery| {
            (
                delivery.summary.unwrap_or_default(),
                delivery.error.unwrap_or_default(),
            )
        });
        let (count, webhook) = (notice.count, &notice.webhook);
        let message = match notice.kind {
            Kind::Failed => Message {
                headline: match count {
                    1 => format!("A delivery of the webhook {name} failed."),
                    _ => format!("{count} deliveries of the webhook {name} failed. The last one:"),
                },
                details: vec![summary, error],
                path: format!("/deliveries/{}", notice.delivery),
            },
            Kind::Refused => Message {
                headline: format!(
                    "The webhook {name} refused {count} requests and accepted none in between. The last reason:"
                ),
                details: vec![error],
                path: format!("/webhooks/{webhook}"),
            },
        };
        self.send_to(self.targets(notice.kind), &message, stop, sends);
    }

    /// Returns the name of a webhook, or its ID if it has been deleted.
    async fn name_of(&self, id: &WebhookId) -> String {
        let found = self.webhooks.get(id.as_str()).await;
        found.map_or_else(|_| id.to_string(), |webhook| webhook.name)
    }

    fn send_to(
        self: &Arc<Self>,
        targets: Vec<String>,
        message: &Message,
        stop: &CancellationToken,
        sends: &TaskTracker,
    ) {
        for target in targets {
            let (services, message) = (Arc::clone(self), message.clone());
            sends.spawn(stop.clone().run_until_cancelled_owned(async move {
                services.send_notice(&message, &target).await;
            }));
        }
    }

    /// Sends a message until the channel accepts it.
    async fn send_notice(&self, message: &Message, target: &str) {
        let markup = Channels::markup(target);
        let base = base_url(&self.config.resolved().settings);
        let mut parts = vec![markup.escape(&message.headline).into_owned()];
        let details = message.details.iter().filter(|part| !part.is_empty());
        parts.extend(details.map(|part| markup.escape(part).into_owned()));
        parts.push(format!("{base}{}", message.path));
        let (text, at) = (&parts.join("\n\n"), self.clock.now());
        let begun = self.clock.monotonic_ms();
        loop {
            let message = OwnMessage {
                target,
                title: None,
                text,
                at,
                links: &[],
            };
            let Some(wait) = self.try_own_message(message, RETRY_AFTER).await else {
                return;
            };
            if self.clock.monotonic_ms().saturating_sub(begun) >= GIVE_UP_MS {
                return;
            }
            tokio::time::sleep(wait).await;
        }
    }
}

fn budget(budget: &Budget) -> Message {
    let (used, limit) = match (budget.tokens, budget.cost) {
        (Some(tokens), _) => (budget.used_tokens.to_string(), format!("{tokens} tokens")),
        (None, cost) => (
            format!("{:.2}", budget.used_cost),
            format!("{:.2}", cost.unwrap_or_default()),
        ),
    };
    Message {
        headline: format!(
            "At least 80 % of the budget of {} for this {} is used: {used} of {limit}. It resets at {}.",
            budget.scope,
            budget.period.as_str(),
            budget.resets_at
        ),
        details: Vec::new(),
        path: "/settings/usage".to_owned(),
    }
}
