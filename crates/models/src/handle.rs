//! The handle of the room, and what it holds.

use crate::candidates::Candidates;
use crate::catalogue::Catalogue;
use crate::local::LocalServer;
use crate::{ModelsSettings, Tuning};
use arc_swap::ArcSwap;
use gatehouse_domain::{Clock, Random};
use gatehouse_outbound::Outbound;
use gatehouse_secrets::Secrets;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What the room is made of.
#[derive(Clone, Debug)]
pub struct ModelsParts {
    /// Where keys are stored.
    pub secrets: Secrets,
    /// The way out.
    pub outbound: Outbound,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
}

/// A model of a provider. Whether both exist is found out when it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    /// The provider's id.
    pub provider: String,
    /// The model as the provider calls it; may contain slashes.
    pub model: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// The models. A cheap handle; all clones share settings and what they know.
#[derive(Clone, Debug)]
pub struct Models {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) secrets: Secrets,
    pub(crate) outbound: Outbound,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) settings: ArcSwap<ModelsSettings>,
    pub(crate) tuning: Tuning,
    pub(crate) catalogue: Catalogue,
    pub(crate) local: LocalServer,
}

impl Models {
    /// The room with these settings.
    pub fn new(parts: ModelsParts, settings: ModelsSettings) -> Self {
        Self::with_tuning(parts, settings, Tuning::default())
    }

    /// The same with other limits and another place of the local server, for tests.
    pub fn with_tuning(parts: ModelsParts, settings: ModelsSettings, tuning: Tuning) -> Self {
        Self {
            inner: Arc::new(Inner {
                secrets: parts.secrets,
                outbound: parts.outbound,
                clock: parts.clock,
                random: parts.random,
                settings: ArcSwap::from_pointee(settings),
                tuning,
                catalogue: Catalogue::default(),
                local: LocalServer::default(),
            }),
        }
    }

    /// Puts other settings in force. Answers that are under way go on with the old ones.
    pub fn update_settings(&self, settings: ModelsSettings) {
        self.inner.settings.store(Arc::new(settings));
        self.inner.catalogue.forget();
    }
}

impl Inner {
    pub(crate) fn candidates<'s>(&'s self, settings: &'s ModelsSettings) -> Candidates<'s> {
        Candidates {
            settings,
            local: self.tuning.local.as_ref(),
        }
    }
}
