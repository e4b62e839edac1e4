//! The usage of a turn: checks the budgets before each model call, and stores the usage with the next message of the
//! turn.

use super::failure::TurnFailure;
use super::running::Running;
use crate::admission::find_webhook;
use crate::budget_values::BudgetWarning;
use crate::budgets::find_exhausted;
use crate::handle::Inner;
use crate::send::Origin;
use crate::usage::{Cause, Used, count};
use gatehouse_domain::{Random, Timestamp, UtcDay};
use gatehouse_models::{CallProgress, ModelRef, Usage};
use gatehouse_store::{Conn, StoreError, UsageRow};
use std::sync::Arc;

/// Usage to store in a transaction.
pub(super) struct Unstored {
    cause: Option<Cause>,
    rows: Vec<UsageRow>,
    now: Timestamp,
    random: Arc<dyn Random>,
}

impl Unstored {
    /// Stores the usage. Returns the budgets that reach their warning level.
    pub(super) async fn store(&self, conn: &mut Conn) -> Result<Vec<BudgetWarning>, StoreError> {
        let Some(cause) = &self.cause else {
            return Ok(Vec::new());
        };
        Inner::store_usage(conn, &self.rows, cause, (self.now, &*self.random)).await
    }
}

impl Running<'_> {
    /// Fails if a budget that applies to the next call is used up.
    pub(super) async fn check_budgets(&mut self, model: &ModelRef) -> Result<(), TurnFailure> {
        let cause = match &self.spending.cause {
            Some(cause) => cause.clone(),
            None => self.read_cause().await?,
        };
        self.spending.cause = Some(cause.clone());
        let (model, now) = (model.to_string(), self.inner.clock.now());
        let unstored = self.spending.unstored().clone();
        let read = self.inner.store.read(move |conn| {
            Box::pin(
                async move { find_exhausted(conn, &cause, Some(&model), &unstored, now).await },
            )
        });
        match read.await? {
            None => Ok(()),
            Some(exhausted) => Err(TurnFailure::Budget(exhausted)),
        }
    }

    async fn read_cause(&self) -> Result<Cause, TurnFailure> {
        let webhook = match &self.turn.origin {
            Origin::Chat | Origin::Api | Origin::Channel { .. } => String::new(),
            Origin::Webhook { delivery, .. } => {
                let delivery = delivery.clone();
                let read = self.inner.store.read(move |conn| {
                    Box::pin(async move { find_webhook(conn, Some(&delivery)).await })
                });
                read.await?
            }
        };
        Ok(Cause {
            agent: self.turn.agent.clone(),
            webhook,
            api_key: Cause::api_key_of(&self.turn.actor.name),
        })
    }

    /// Records the usage of a call whose answer is complete.
    pub(super) fn spend(&mut self, model: &ModelRef, reported: Usage, estimate: Usage) {
        self.add_usage(reported);
        self.count(model, Used::by_whole(reported, estimate));
    }

    /// Records the usage of a call that ended early.
    pub(super) fn spend_part(
        &mut self,
        model: &ModelRef,
        progress: &CallProgress,
        sent_tokens: u64,
    ) {
        if let Some(used) = Used::by_part(progress, sent_tokens) {
            self.count(model, used);
        }
    }

    fn count(&mut self, model: &ModelRef, used: Used) {
        let Some(cause) = &self.spending.cause else {
            return;
        };
        let day = UtcDay::of(self.inner.clock.now());
        let name = model.to_string();
        let mut row = cause.row(day, &name, used, &self.inner.models.facts(model));
        row.turns = i64::from(!self.spending.is_counted);
        // The models of an agent come from its settings, not from a caller.
        row.is_configured = true;
        self.spending.is_counted = true;
        count(&row, &self.inner.model_labels);
        self.spending.unstored().push(row);
    }

    /// Takes the usage to store with a message.
    pub(super) fn take_unstored(&self) -> Unstored {
        Unstored {
            cause: self.spending.cause.clone(),
            rows: std::mem::take(&mut *self.spending.unstored()),
            now: self.inner.clock.now(),
            random: Arc::clone(&self.inner.random),
        }
    }

    /// Keeps usage whose transaction failed.
    pub(super) fn keep_unstored(&self, unstored: &Unstored) {
        let rows = unstored.rows.iter().cloned();
        self.spending.unstored().extend(rows);
    }

    /// Stores the remaining usage at the end of the turn.
    pub(super) async fn store_rest(&self) {
        let unstored = self.take_unstored();
        if unstored.rows.is_empty() {
            return;
        }
        let write = self
            .inner
            .store
            .write(move |conn| Box::pin(async move { unstored.store(conn).await }));
        match write.await {
            Ok(warnings) => self.inner.publish_warnings(warnings),
            Err(error) => tracing::error!(
                error = &error as &dyn std::error::Error,
                "what a turn used could not be stored"
            ),
        }
    }
}
