//! The handle of the models crate.

use crate::caches::{Catalogue, LocalServer, Shown};
use crate::candidates::Candidates;
use crate::learned::LearnedFacts;
use crate::rejected_keys::RejectedKeys;
use crate::{ModelsSettings, Tuning};
use arc_swap::ArcSwap;
use gatehouse_domain::{Clock, Random};
use gatehouse_outbound::Outbound;
use gatehouse_secrets::Secrets;
use std::sync::Arc;

/// The dependencies of the models crate.
#[derive(Clone, Debug)]
pub struct ModelsParts {
    /// Stores the provider keys.
    pub secrets: Secrets,
    pub outbound: Outbound,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// Access to language models. Cheap to clone; clones share settings and caches.
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
    pub(crate) learned_facts: LearnedFacts,
    pub(crate) shown: Shown,
    pub(crate) rejected_keys: RejectedKeys,
}

impl Models {
    pub fn new(parts: ModelsParts, settings: ModelsSettings) -> Self {
        Self::with_tuning(parts, settings, Tuning::default())
    }

    /// Does the same as [`Self::new`], with other limits and another address of the local server, for tests.
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
                learned_facts: LearnedFacts::default(),
                shown: Shown::default(),
                rejected_keys: RejectedKeys::default(),
            }),
        }
    }

    /// Applies new settings. Answers in progress keep the old settings.
    pub fn update_settings(&self, settings: ModelsSettings) {
        self.inner.settings.store(Arc::new(settings));
        self.inner.catalogue.forget();
        self.inner.learned_facts.forget();
        self.inner.shown.forget();
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
