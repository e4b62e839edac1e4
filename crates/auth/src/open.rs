//! Opens the crate's handle. Reads the state but not the credentials, which are loaded in the
//! background.

use crate::audit::failures::FailureLog;
use crate::change_feed::feed::Feed;
use crate::error::AuthError;
use crate::kdf_queue::KdfQueue;
use crate::live_map::{CAPACITY, LiveMap};
use crate::settings::{ActiveSettings, AuthSettings};
use crate::setup_code::renew_at_start;
use crate::shared_read::SharedRead;
use crate::state::{Auth, AuthInner, Settled};
use crate::throttle::{self, DEFAULT_CAPACITY, Throttle};
use crate::wrong_passwords::{self, WrongPasswords};
use arc_swap::ArcSwap;
use gatehouse_domain::{Clock, Random};
use gatehouse_secrets::Secrets;
use gatehouse_store::{SharedCounts, Store, SweepClock};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Mutex, Notify, broadcast, watch};
use tokio_util::task::TaskTracker;

/// The number of events that a slow subscriber may lag behind.
const EVENTS: usize = 64;

impl Auth {
    /// Reads the state. Creates a setup code if setup is incomplete and no code is usable.
    pub async fn open(
        store: Store,
        secrets: Secrets,
        kdf: KdfQueue,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        settings: AuthSettings,
    ) -> Result<Self, AuthError> {
        let (last_change, settled) = read_or_renew(&store, &clock, &random).await?;
        let tasks = TaskTracker::new();
        let inner = AuthInner {
            shared_throttle: SharedCounts::new(&store, &clock, &tasks, throttle::WINDOW_MS),
            shared_wrong_passwords: SharedCounts::new(
                &store,
                &clock,
                &tasks,
                wrong_passwords::WINDOW_MS,
            ),
            sweep_clock: SweepClock::default(),
            throttle: Throttle::new(Arc::clone(&clock), DEFAULT_CAPACITY),
            facts_read: SharedRead::default(),
            wrong_passwords: WrongPasswords::new(Arc::clone(&clock)),
            failures: FailureLog::default(),
            feed: Feed::new(
                store.engine().is_shared(),
                last_change,
                clock.monotonic_ms(),
            ),
            settings: ArcSwap::from_pointee(ActiveSettings::from(settings)),
            setup_code: watch::Sender::new(None),
            settled: ArcSwap::from_pointee(settled.clone()),
            sessions: LiveMap::new(CAPACITY),
            keys: LiveMap::new(CAPACITY),
            devices: LiveMap::new(CAPACITY),
            targets: OnceLock::new(),
            changed: watch::Sender::new(0),
            first_watched: Notify::new(),
            settings_changed: watch::Sender::new(0),
            events: broadcast::Sender::new(EVENTS),
            foreign: broadcast::Sender::new(EVENTS),
            changing: Mutex::new(()),
            tasks,
            store: store.with_reserved_reader(),
            lists: store,
            secrets,
            kdf,
            clock,
            random,
        };
        inner.settle(&settled);
        Ok(Self(Arc::new(inner)))
    }

    /// Applies new settings.
    pub fn update_settings(&self, settings: AuthSettings) {
        self.0
            .settings
            .store(Arc::new(ActiveSettings::from(settings)));
        self.0.announce(&[]);
    }
}

/// Reads the state. Writes only if necessary, so that a start works on a read-only disk.
async fn read_or_renew(
    store: &Store,
    clock: &Arc<dyn Clock>,
    random: &Arc<dyn Random>,
) -> Result<(i64, Settled), AuthError> {
    let (last_change, settled, code) = store
        .read(|conn| {
            Box::pin(async move {
                let last = conn.find_last_change().await?;
                let settled = Settled::read(conn).await?;
                Ok::<_, AuthError>((last, settled, conn.find_setup_code().await?))
            })
        })
        .await?;
    let fresh = code
        .is_some_and(|row| row.codes_made == 1 && row.wrong_tries < crate::setup_code::MAX_WRONG);
    if settled.facts.setup_complete || fresh {
        return Ok((last_change, settled));
    }
    let (now, random) = (clock.now(), Arc::clone(random));
    let settled = store
        .write(move |conn| {
            Box::pin(async move {
                let settled = Settled::read(conn).await?;
                if settled.facts.setup_complete {
                    return Ok(settled);
                }
                renew_at_start(conn, now, &*random).await?;
                Ok::<_, AuthError>(Settled::read(conn).await?)
            })
        })
        .await?;
    Ok((last_change, settled))
}
