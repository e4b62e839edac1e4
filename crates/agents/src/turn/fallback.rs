//! Decides what happens if a model fails. If no text was shown yet, the step is repeated, or the agent's next model is
//! tried. If text was shown, the turn ends with the reason, because a new answer could contradict the text that the
//! user has read.

use super::failure::TurnFailure;
use super::reply::Reply;
use super::{Running, Setup};
use crate::agent::AgentConfig;
use gatehouse_models::{ModelError, ModelRef};
use std::collections::VecDeque;

/// Maximum number of restarts of a step whose answer broke off.
const MAX_RESTARTS: u32 = 2;

impl Running<'_> {
    /// Calls the model. If it fails, calls the next models in order.
    pub(super) async fn ask(&mut self, setup: &mut Setup) -> Result<Reply, TurnFailure> {
        let mut restarts = 0;
        // The error of the first model is reported, because the agent names this model.
        let mut first: Option<ModelError> = None;
        loop {
            let broken = match self.ask_model(setup).await {
                Ok(reply) => return Ok(reply),
                Err(broken) => broken,
            };
            let error = match broken.failure {
                TurnFailure::Model(error) if !broken.was_shown => error,
                failure => return Err(failure),
            };
            // No part of the failed answer was shown, so it is dropped.
            self.partial = None;
            if broken.had_begun && error.is_retryable() && restarts < MAX_RESTARTS {
                restarts += 1;
                tracing::info!(turn = %self.turn.id, %error, "an answer broke off; the step starts again");
                continue;
            }
            tracing::debug!(turn = %self.turn.id, %error, "a model failed");
            let reported: &ModelError = first.get_or_insert(error);
            match self.next_model(&mut setup.fallback).await? {
                Some(model) => {
                    tracing::warn!(turn = %self.turn.id, error = %reported, %model, "the next model takes over");
                    let sees = self.inner.models.facts(&model).vision == Some(true);
                    setup.conversation.ask_another(model.to_string(), sees);
                    setup.model = model;
                    self.limit = None;
                    restarts = 0;
                }
                None => return Err(first.take().map_or(TurnFailure::Stopped, TurnFailure::from)),
            }
        }
    }

    /// Returns the next usable model of the list.
    pub(super) async fn next_model(
        &self,
        list: &mut VecDeque<String>,
    ) -> Result<Option<ModelRef>, TurnFailure> {
        while let Some(path) = list.pop_front() {
            // Agents store their models as `provider/model`.
            let (provider, model) = path.split_once('/').unwrap_or(("", &path));
            let choosing = self.inner.models.choose(Some(provider), Some(model));
            let chosen = self.turn.cancel.run_until_cancelled(choosing).await;
            match chosen.ok_or(TurnFailure::Stopped)? {
                Ok(model) => return Ok(Some(model)),
                Err(error) => tracing::warn!(%path, %error, "a fallback model cannot be used"),
            }
        }
        Ok(None)
    }

    /// Returns the model of the turn: the requested one, otherwise the first usable fallback.
    pub(super) async fn choose_model(
        &self,
        config: &AgentConfig,
        fallback: &mut VecDeque<String>,
    ) -> Result<ModelRef, TurnFailure> {
        let wanted = self.turn.model.as_deref().or(config.model.as_deref());
        let choosing = self.inner.models.choose(config.provider.as_deref(), wanted);
        let chosen = self.turn.cancel.run_until_cancelled(choosing).await;
        let error = match chosen.ok_or(TurnFailure::Stopped)? {
            Ok(model) => return Ok(model),
            Err(error) => error,
        };
        self.next_model(fallback).await?.ok_or(error.into())
    }
}
