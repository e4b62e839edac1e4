//! Forwards the crates' own notifications to the event bus until shutdown. Each crate has its own channel and is
//! independent of the bus.

mod vault;
#[cfg(feature = "voice")]
mod voice;

use super::{
    AUTH_CHANGED, AuthChangedParams, EventBus, Records, deliveries, kinds, relay, vault_shares,
};
use crate::dispatch::Rpc;
use gatehouse_domain::{ErrorCode, Scope};
use gatehouse_services::Services;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use vault::{vault_progress, vault_status};
#[cfg(feature = "voice")]
use voice::follow_voice;

/// The delay before another attempt to read settings.
const AGAIN: Duration = Duration::from_secs(1);

/// Turns notifications of other crates into events and applies changes made by other nodes, until shutdown.
pub async fn bridge(rpc: &Rpc, shutdown: &CancellationToken, tasks: &TaskTracker) {
    let (services, bus) = (rpc.services(), rpc.events());
    let forward = Forward {
        bus,
        shutdown,
        tasks,
    };
    let feed = || services.auth.foreign_changes();
    forward.run(vault_status(Arc::clone(services), bus.clone()));
    forward.run(vault_progress(Arc::clone(services), bus.clone()));
    forward.run(follow_settings(Arc::clone(services), bus.clone()));
    forward.run(follow_webhooks(Arc::clone(services), feed()));
    forward.run(follow_turns(Arc::clone(services), feed()));
    forward.run(follow_mcp(Arc::clone(services), feed()));
    forward.run(follow_channels(Arc::clone(services), feed()));
    forward.run(follow_provider_keys(Arc::clone(services), feed()));
    forward.run(vault_shares::follow(Arc::clone(services), feed()));
    for changes in [services.store.changes(), feed()] {
        forward.run(follow_records(bus.clone(), changes));
    }
    if services.store.engine().is_shared() {
        forward.run(relay::send(services.store.clone(), bus.subscribe()));
        forward.run(relay::receive(bus.clone(), services.store.node_messages()));
    }
    #[cfg(feature = "voice")]
    forward.run(follow_voice(Arc::clone(services), bus.clone()).await);
    let listeners = bus.clone();
    let deliveries = services
        .webhooks
        .subscribe(move || listeners.has_listeners());
    forward.run(deliveries::follow(bus.clone(), deliveries));
    forward.each(services.auth.changes_events(), |bus, what| {
        bus.publish_kind(&AUTH_CHANGED, &AuthChangedParams { what });
    });
    forward.each(services.agents.subscribe(), |bus, event| {
        let scope = if event.is_for_approvers() {
            Scope::Approvals
        } else {
            Scope::Read
        };
        bus.publish(event.name(), &event, scope);
    });
    forward.each(services.channels.subscribe(), |bus, message| {
        bus.publish_kind(&kinds::CHANNEL_MESSAGE, &message);
    });
    #[cfg(feature = "voice")]
    forward.each(services.voice.subscribe_personas(), |bus, event| {
        bus.publish_kind(&kinds::VOICE_PERSONA, &event);
    });
}

async fn follow_settings(services: Arc<Services>, bus: EventBus) {
    let mut settings = services.auth.settings_changed();
    while settings.changed().await.is_ok() {
        settings.mark_unchanged();
        // A conflict between settings is logged. The settings are applied again after the next
        // change.
        while let Err(problem) = services.apply_settings().await
            && problem.code == ErrorCode::StorageUnavailable
        {
            tracing::warn!("changed settings could not be read; retrying");
            tokio::time::sleep(AGAIN).await;
        }
        bus.publish_records(Records::Config);
    }
}

/// Reports which lists have changed through a commit on this or another node.
async fn follow_records(bus: EventBus, mut changes: Receiver<Arc<str>>) {
    loop {
        match changes.recv().await {
            Ok(subject) if &*subject != "*" => {
                if let Some(what) = Records::of(&subject) {
                    bus.publish_records(what);
                }
            }
            Ok(_) | Err(RecvError::Lagged(_)) => {
                for what in Records::ALL {
                    bus.publish_records(what);
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Notifies this node's voice that another node changed a provider's key.
async fn follow_provider_keys(services: Arc<Services>, mut feed: Receiver<Arc<str>>) {
    loop {
        match feed.recv().await {
            Ok(subject) if !matches!(&*subject, "provider_keys" | "*") => {}
            Ok(_) | Err(RecvError::Lagged(_)) => services.secrets.provider_keys_changed(),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Reloads the webhooks after another node changed some.
async fn follow_webhooks(services: Arc<Services>, mut changes: Receiver<Arc<str>>) {
    loop {
        let concerns = match changes.recv().await {
            Ok(subject) => matches!(&*subject, "webhooks" | "*"),
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        if concerns {
            services.webhooks.reload_with_retries().await;
        }
    }
}

/// Stops turns that another node aborted. Reads answers to tool calls that another node received.
async fn follow_turns(services: Arc<Services>, mut changes: Receiver<Arc<str>>) {
    loop {
        match changes.recv().await {
            Ok(subject) => services.agents.apply_change(&subject).await,
            // After a missed abort, the turn continues, and the caller can abort again.
            Err(RecvError::Lagged(_)) => services.agents.apply_change("*").await,
            Err(RecvError::Closed) => return,
        }
    }
}

/// Restarts MCP servers that another node has restarted.
async fn follow_mcp(services: Arc<Services>, mut changes: Receiver<Arc<str>>) {
    loop {
        match changes.recv().await {
            Ok(subject) => services.tools.mcp().apply_change(&subject),
            // After a missed restart, the caller can request another one.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// Drops cached channel accounts when another node changes some, and their secrets when the vault is sealed.
async fn follow_channels(services: Arc<Services>, mut feed: Receiver<Arc<str>>) {
    let mut status = services.secrets.subscribe_status();
    loop {
        let concerns = tokio::select! {
            subject = feed.recv() => match subject {
                Ok(subject) => matches!(&*subject, "channels" | "vault" | "*"),
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => return,
            },
            changed = status.changed() => {
                if changed.is_err() {
                    return;
                }
                true
            }
        };
        if concerns {
            services.channels.forget_accounts();
        }
    }
}

/// Starts the tasks that feed the bus.
struct Forward<'a> {
    bus: &'a EventBus,
    shutdown: &'a CancellationToken,
    tasks: &'a TaskTracker,
}

impl Forward<'_> {
    /// Runs a future until shutdown.
    fn run<F>(&self, work: F)
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        let stop = self.shutdown.clone();
        self.tasks.spawn(stop.run_until_cancelled_owned(work));
    }

    fn each<T, F>(&self, mut events: Receiver<T>, publish: F)
    where
        T: Clone + Send + 'static,
        F: Fn(&EventBus, T) + Send + 'static,
    {
        let bus = self.bus.clone();
        self.run(async move {
            loop {
                match events.recv().await {
                    Ok(event) => publish(&bus, event),
                    // Missed messages are skipped, because listeners also query the lists.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                }
            }
        });
    }
}
