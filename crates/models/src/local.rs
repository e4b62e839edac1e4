//! Detects an unconfigured model server on this machine. The probe is short and its result is cached for some seconds,
//! so it never delays a turn.

use crate::caches::Probe;
use crate::handle::Inner;
use crate::listed::Listed;
use std::sync::Arc;

/// How long a probe result is cached.
const REMEMBERED_MS: u64 = 5_000;

impl Inner {
    /// Returns the models of the local server, or `None` when there is no such server.
    pub(crate) async fn local_models(&self) -> Option<Arc<Vec<Listed>>> {
        let settings = self.settings.load_full();
        let endpoint = self.candidates(&settings).local()?;
        let mut last = self.local.0.lock().await;
        let now = self.clock.monotonic_ms();
        if let Some(look) = last
            .as_ref()
            .filter(|look| now.saturating_sub(look.at_ms) < REMEMBERED_MS)
        {
            return look.found.clone();
        }
        let probe = self.tuning.timeouts.probe;
        let found = self.ask_for_models(&endpoint, probe).await.ok();
        *last = Some(Probe {
            at_ms: now,
            found: found.clone(),
        });
        found
    }
}
