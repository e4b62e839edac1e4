//! Messages when an urgent health check fails, and when it passes again. The reported state is in the database, so
//! that the nodes of a database send each message once, and a restart does not repeat it.

use super::Message;
use crate::Services;
use crate::doctor::{self, Check};
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the checks run.
const LOOK: Duration = Duration::from_mins(1);
/// A failure that lasts this long is reported.
const SETTLED_MS: i64 = 5 * 60_000;
/// The key of the state in the table of settings.
const KEY: &str = "health_notices";
/// Checks whose result differs from node to node.
const OF_NODE: [&str; 5] = ["disk", "clock", "certificate", "channels", "audit_export"];

/// What is known of a check that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Failing {
    since: Timestamp,
    told: bool,
}

/// The checks that fail, by their key.
type State = BTreeMap<String, Failing>;

impl Services {
    /// Sends messages about urgent health checks by the rule `notify.health`, until `shutdown`.
    pub(super) fn send_health_notices(
        self: &Arc<Self>,
        shutdown: &CancellationToken,
        tasks: &TaskTracker,
    ) {
        let (services, sends, stop) = (Arc::clone(self), tasks.clone(), shutdown.clone());
        tasks.spawn(shutdown.clone().run_until_cancelled_owned(async move {
            let mut look = tokio::time::interval(LOOK);
            loop {
                look.tick().await;
                let targets = services.notify(|it| it.notify.health.clone());
                if targets.is_empty() {
                    continue;
                }
                for message in services.health_messages().await {
                    services.send_to(targets.clone(), &message, &stop, &sends);
                }
            }
        }));
    }

    /// Runs the checks. Returns the messages that are due.
    async fn health_messages(&self) -> Vec<Message> {
        let checks = doctor::operation_checks(self).await;
        let (node, now) = (node(), self.clock.now());
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let stored = read(conn.find_setting(KEY).await?);
                let mut state = stored.clone();
                let messages = advance(&mut state, &checks, &node, now);
                if state != stored {
                    conn.update_setting(KEY, &json!(state), now).await?;
                }
                Ok::<_, StoreError>(messages)
            })
        });
        write.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the health checks were not compared for messages");
            Vec::new()
        })
    }
}

/// The name of this machine.
fn node() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// A state that cannot be read is like none.
fn read(stored: Option<Value>) -> State {
    let stored = stored.and_then(|value| serde_json::from_value(value).ok());
    stored.unwrap_or_default()
}

/// Compares the checks with the reported state. Returns the changes to report.
fn advance(state: &mut State, checks: &[Check], node: &str, now: Timestamp) -> Vec<Message> {
    let mut messages = Vec::new();
    for check in checks {
        let key = if OF_NODE.contains(&check.id) {
            format!("{}@{node}", check.id)
        } else {
            check.id.to_owned()
        };
        if check.ok {
            if state.remove(&key).is_some_and(|known| known.told) {
                let headline = format!("The health check {key} passes again.");
                messages.push(message(headline, check));
            }
            continue;
        }
        let known = state.entry(key.clone()).or_insert(Failing {
            since: now,
            told: false,
        });
        let lasted = now.as_millis().saturating_sub(known.since.as_millis());
        if !known.told && lasted >= SETTLED_MS {
            known.told = true;
            messages.push(message(format!("The health check {key} failed."), check));
        }
    }
    messages
}

fn message(headline: String, check: &Check) -> Message {
    Message {
        headline,
        details: vec![
            check.message.clone(),
            check.hint.clone().unwrap_or_default(),
        ],
        path: "/settings/system".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + ms)
    }

    fn told(state: &mut State, checks: &[Check], ms: i64) -> Vec<String> {
        let messages = advance(state, checks, "n1", at(ms));
        messages.into_iter().map(|it| it.headline).collect()
    }

    #[test]
    fn a_failure_that_lasts_is_told_once_and_so_is_its_end() {
        let mut state = State::default();
        let (bad, fine) = ([Check::bad("queue", "a", "b")], [Check::fine("queue", "a")]);
        assert!(told(&mut state, &bad, 0).is_empty());
        assert!(told(&mut state, &bad, SETTLED_MS - 1).is_empty());
        let failed = ["The health check queue failed."];
        assert_eq!(told(&mut state, &bad, SETTLED_MS), failed);
        assert!(told(&mut state, &bad, SETTLED_MS + 1).is_empty());
        let again = ["The health check queue passes again."];
        assert_eq!(told(&mut state, &fine, SETTLED_MS + 2), again);
        assert!(told(&mut state, &fine, SETTLED_MS + 3).is_empty());
    }

    #[test]
    fn a_short_failure_is_not_told() {
        let mut state = State::default();
        let (bad, fine) = ([Check::bad("queue", "a", "b")], [Check::fine("queue", "a")]);
        assert!(told(&mut state, &bad, 0).is_empty());
        assert!(told(&mut state, &fine, 60_000).is_empty());
        assert!(told(&mut state, &bad, SETTLED_MS).is_empty());
    }

    #[test]
    fn the_disk_of_another_node_is_another_disk() {
        let mut state = State::default();
        let (bad, fine) = ([Check::bad("disk", "a", "b")], [Check::fine("disk", "a")]);
        advance(&mut state, &bad, "n1", at(0));
        let failed = advance(&mut state, &bad, "n1", at(SETTLED_MS));
        assert_eq!(failed.len(), 1);
        assert!(advance(&mut state, &fine, "n2", at(SETTLED_MS)).is_empty());
        assert_eq!(state.keys().collect::<Vec<_>>(), ["disk@n1"]);
    }
}
