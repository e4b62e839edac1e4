//! Messages when an urgent health check fails, and when it passes again. If a check has several parts, such as the
//! senders, each part has its own state and messages. The database stores the last reported state. The nodes of a
//! database together send each message once, and a restart does not repeat it.

mod state;

use super::Message;
use crate::Services;
use crate::doctor;
use gatehouse_store::StoreError;
use serde_json::{Value, json};
use state::{Look, State, advance};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the checks run.
const LOOK: Duration = Duration::from_mins(1);
/// The key of the state in the table of settings.
const KEY: &str = "health_notices";

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
                let due = if targets.is_empty() {
                    let forgotten = services.forget_health().await;
                    forgotten.map(|()| Vec::new())
                } else {
                    services.health_messages(targets).await
                };
                match due {
                    Ok(due) => {
                        for (target, message) in due {
                            services.send_to(vec![target], &message, &stop, &sends);
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "messages about health checks were not sent");
                    }
                }
            }
        }));
    }

    /// Runs the checks. Returns the messages that are due, with their targets.
    async fn health_messages(
        &self,
        targets: Vec<String>,
    ) -> Result<Vec<(String, Message)>, StoreError> {
        let look = Look {
            checks: doctor::operation_checks(self).await,
            // The node's name is omitted on a database of a single node, whose state is kept when the host's name
            // changes.
            node: self.store.engine().is_shared().then(node),
            targets: BTreeSet::from_iter(targets),
            now: self.clock.now(),
        };
        // Reads first: usually nothing has changed, so nothing must be written.
        let stored = read(self.stored_health().await?);
        let mut state = stored.clone();
        if advance(&mut state, &look).is_empty() && state == stored {
            return Ok(Vec::new());
        }
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let stored = read(conn.find_setting(KEY).await?);
                let mut state = stored.clone();
                let messages = advance(&mut state, &look);
                if state != stored {
                    conn.update_setting(KEY, &json!(state), look.now).await?;
                }
                Ok::<_, StoreError>(messages)
            })
        });
        write.await
    }

    /// Deletes the state. Without targets, the checks do not run, so the state would be out of date when targets
    /// are set again. Keeps the state of a shared database, because other nodes may have targets.
    async fn forget_health(&self) -> Result<(), StoreError> {
        if self.store.engine().is_shared() {
            return Ok(());
        }
        if self.stored_health().await?.is_none() {
            return Ok(());
        }
        let write = self
            .store
            .write(|conn| Box::pin(async move { conn.delete_setting(KEY).await.map(drop) }));
        write.await
    }

    async fn stored_health(&self) -> Result<Option<Value>, StoreError> {
        let find = self
            .store
            .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
        find.await
    }
}

/// Returns the name of this machine.
fn node() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// Reads the stored state. An unreadable state counts as none.
fn read(stored: Option<Value>) -> State {
    let stored = stored.and_then(|value| serde_json::from_value(value).ok());
    stored.unwrap_or_default()
}
