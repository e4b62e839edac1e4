//! Forwards the crates' own notifications to the event bus until shutdown. Each crate has its own channel
//! and knows nothing about the bus.

use super::{
    AUTH_CHANGED, AuthChangedParams, EventBus, Records, VAULT_PROGRESS, VAULT_STATUS,
    VaultProgressParams, VaultStatusParams, deliveries, kinds,
};
use crate::rooms::Rooms;
use crate::vault_status::VaultStatus;
use gatehouse_domain::Scope;
use gatehouse_secrets::Progress;
#[cfg(feature = "voice")]
use gatehouse_voice::{SttStatus, TtsStatus};
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Turns notifications of other crates into events and applies changes made by other nodes, until shutdown.
pub async fn bridge(rooms: &Arc<Rooms>, shutdown: &CancellationToken, tasks: &TaskTracker) {
    tasks.spawn(
        shutdown
            .clone()
            .run_until_cancelled_owned(vault_status(Arc::clone(rooms))),
    );
    tasks.spawn(
        shutdown
            .clone()
            .run_until_cancelled_owned(vault_progress(Arc::clone(rooms))),
    );
    tasks.spawn(
        shutdown
            .clone()
            .run_until_cancelled_owned(follow_settings(Arc::clone(rooms))),
    );
    tasks.spawn(shutdown.clone().run_until_cancelled_owned(follow_webhooks(
        Arc::clone(rooms),
        rooms.auth.foreign_changes(),
    )));
    tasks.spawn(shutdown.clone().run_until_cancelled_owned(follow_channels(
        Arc::clone(rooms),
        rooms.auth.foreign_changes(),
    )));
    for changes in [rooms.store.changes(), rooms.auth.foreign_changes()] {
        let work = follow_records(rooms.events.clone(), changes);
        tasks.spawn(shutdown.clone().run_until_cancelled_owned(work));
    }
    tasks.spawn(
        shutdown
            .clone()
            .run_until_cancelled_owned(follow_provider_keys(
                rooms.events.clone(),
                rooms.secrets.subscribe_provider_keys(),
            )),
    );
    #[cfg(feature = "voice")]
    tasks.spawn(
        shutdown
            .clone()
            .run_until_cancelled_owned(follow_voice(Arc::clone(rooms)).await),
    );
    let deliveries = deliveries::follow(rooms.events.clone(), rooms.webhooks.subscribe());
    tasks.spawn(shutdown.clone().run_until_cancelled_owned(deliveries));
    let forward = Forward {
        bus: &rooms.events,
        shutdown,
        tasks,
    };
    forward.each(rooms.auth.changes_events(), |bus, what| {
        bus.publish_kind(&AUTH_CHANGED, &AuthChangedParams { what });
    });
    forward.each(rooms.agents.subscribe(), |bus, event| {
        let scope = if event.is_for_approvers() {
            Scope::Approvals
        } else {
            Scope::Read
        };
        bus.publish(event.name(), &event, scope);
    });
    forward.each(rooms.channels.subscribe(), |bus, message| {
        bus.publish_kind(&kinds::CHANNEL_MESSAGE, &message);
    });
    #[cfg(feature = "voice")]
    forward.each(rooms.voice.subscribe_personas(), |bus, event| {
        bus.publish_kind(&kinds::VOICE_PERSONA, &event);
    });
}

async fn vault_status(rooms: Arc<Rooms>) {
    let mut status = rooms.secrets.subscribe_status();
    while status.changed().await.is_ok() {
        let status = VaultStatus::from(*status.borrow_and_update());
        rooms
            .events
            .publish_kind(&VAULT_STATUS, &VaultStatusParams { status });
    }
}

async fn vault_progress(rooms: Arc<Rooms>) {
    let mut progress = rooms.secrets.progress();
    while progress.changed().await.is_ok() {
        let now = progress.borrow_and_update().clone();
        if let Some(Progress {
            operation,
            done,
            total,
        }) = now
        {
            let params = VaultProgressParams {
                operation,
                done,
                total,
            };
            rooms.events.publish_kind(&VAULT_PROGRESS, &params);
        }
    }
}

async fn follow_settings(rooms: Arc<Rooms>) {
    let mut settings = rooms.auth.settings_changed();
    while settings.changed().await.is_ok() {
        settings.mark_unchanged();
        // The failure is logged; the next change retries.
        drop(rooms.apply_settings().await);
        tell(&rooms.events, Records::Config);
    }
}

fn tell(bus: &EventBus, what: Records) {
    bus.publish_records(what);
}

/// Reports which lists have changed through a commit on this or another node.
async fn follow_records(bus: EventBus, mut changes: Receiver<Arc<str>>) {
    loop {
        match changes.recv().await {
            Ok(subject) if &*subject != "*" => {
                if let Some(what) = Records::of(&subject) {
                    tell(&bus, what);
                }
            }
            Ok(_) | Err(RecvError::Lagged(_)) => {
                for what in Records::ALL {
                    tell(&bus, what);
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}

async fn follow_provider_keys(bus: EventBus, mut keys: watch::Receiver<()>) {
    while keys.changed().await.is_ok() {
        tell(&bus, Records::Providers);
    }
}

/// Reports the voice providers when they differ from the last report: after settings were applied, the
/// vault was opened or sealed, or a key was added or removed.
#[cfg(feature = "voice")]
async fn follow_voice(rooms: Arc<Rooms>) -> impl Future<Output = ()> {
    // Subscribes now, not at the future's first poll.
    let mut applied = rooms.config.applied();
    let mut vault = rooms.secrets.subscribe_status();
    let mut keys = rooms.secrets.subscribe_provider_keys();
    let mut told = voice_statuses(&rooms).await;
    async move {
        loop {
            let changed = tokio::select! {
                changed = applied.changed() => changed,
                changed = vault.changed() => changed,
                changed = keys.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
            let now = voice_statuses(&rooms).await;
            if now != told {
                told = now.clone();
                let params = kinds::VoiceSettingsParams {
                    tts: now.0,
                    stt: now.1,
                };
                rooms.events.publish_kind(&kinds::VOICE_SETTINGS, &params);
            }
        }
    }
}

#[cfg(feature = "voice")]
async fn voice_statuses(rooms: &Rooms) -> (TtsStatus, SttStatus) {
    (
        rooms.voice.tts_status().await,
        rooms.voice.stt_status().await,
    )
}

/// Reloads the webhooks after another node changed some.
async fn follow_webhooks(rooms: Arc<Rooms>, mut changes: Receiver<Arc<str>>) {
    loop {
        let concerns = match changes.recv().await {
            Ok(subject) => matches!(&*subject, "webhooks" | "*"),
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        if concerns && let Err(error) = rooms.webhooks.reload().await {
            tracing::warn!(%error, "changed webhooks could not be reloaded");
        }
    }
}

/// Drops cached channel accounts after another node changed some, and their secrets as soon as the vault is
/// sealed.
async fn follow_channels(rooms: Arc<Rooms>, mut feed: Receiver<Arc<str>>) {
    let mut status = rooms.secrets.subscribe_status();
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
            rooms.channels.forget_accounts();
        }
    }
}

/// Forwards the messages of a crate's channel.
struct Forward<'a> {
    bus: &'a EventBus,
    shutdown: &'a CancellationToken,
    tasks: &'a TaskTracker,
}

impl Forward<'_> {
    fn each<T, F>(&self, mut events: Receiver<T>, publish: F)
    where
        T: Clone + Send + 'static,
        F: Fn(&EventBus, T) + Send + 'static,
    {
        let bus = self.bus.clone();
        let work = async move {
            loop {
                match events.recv().await {
                    Ok(event) => publish(&bus, event),
                    // Missed messages are skipped; listeners also query the lists.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                }
            }
        };
        let stop = self.shutdown.clone();
        self.tasks.spawn(stop.run_until_cancelled_owned(work));
    }
}
