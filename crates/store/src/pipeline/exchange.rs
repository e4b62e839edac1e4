//! Sends the waiting statements, and awaits the responses.

use super::waiting::{AllSent, Kind};
use super::{Pipeline, Transaction};
use crate::StoreError;
use crate::postgres_answers::{Answer, send};
use crate::postgres_silence::Answered;
use crate::postgres_watch::watched;
use deadpool_postgres::Object;
use futures_util::future::ready;
use std::time::Instant;
use tokio::time::timeout;

impl Pipeline {
    /// Sends the waiting statements and then `last`, and awaits the responses for a limited time. Returns the first
    /// error.
    ///
    /// If the future is dropped before its end, a transaction whose statements were sent can only be rolled back.
    pub(crate) async fn ask<T: Send>(
        &mut self,
        client: &Object,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        self.check()?;
        self.round_trips = self.round_trips.wrapping_add(1);
        let (limit, watch, sent) = (self.limit, self.watch.clone(), Instant::now());
        // A watched statement may take long, so it does not count as unanswered.
        let silence = self.silence.as_ref().filter(|_| watch.is_none());
        let _pending = silence.map(|silence| silence.wait(sent));
        let answer: Answer<'_, T> = if self.waiting.is_empty() {
            last
        } else {
            Box::pin(self.send_with(client, last))
        };
        if let Ok(Some(answered)) = timeout(limit, watched(watch.as_deref(), answer)).await {
            if matches!(&answered, Err(error) if error.is_outdated_statement()) {
                client.statement_cache.clear();
                self.prepared.clear();
            }
            self.answered = Answered::now(sent);
            return answered;
        }
        self.is_silent = true;
        if let Some(silence) = &self.silence {
            silence.note(sent);
        }
        Err(StoreError::silent_server())
    }

    /// Sends statements without parameters and awaits their end without a timeout. If the connection is watched,
    /// fails when the server no longer works on them.
    pub(crate) async fn run_script(
        &mut self,
        client: &Object,
        sql: &str,
    ) -> Result<(), StoreError> {
        self.check()?;
        let watch = self.watch.clone();
        if let Some(answered) = watched(watch.as_deref(), client.batch_execute(sql)).await {
            return Ok(answered?);
        }
        self.is_silent = true;
        Err(StoreError::silent_server())
    }

    async fn send_with<T: Send>(
        &mut self,
        client: &Object,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        // A statement that cannot be prepared keeps waiting, and so do all later ones.
        if self.is_sent() {
            self.send_before_unprepared(client).await?;
        }
        self.exchange(client, self.waiting.len(), last).await
    }

    /// Prepares the waiting statements that are new to the connection. Sends and awaits all earlier statements
    /// before preparing one, because the server locks the tables of a statement when it prepares it, and refuses
    /// statements after an error.
    async fn send_before_unprepared(&mut self, client: &Object) -> Result<(), StoreError> {
        while let Some(place) = self.find_unprepared() {
            if place > 0 {
                let nothing: Answer<'_, ()> = Box::pin(ready(Ok(())));
                self.exchange(client, place, nothing).await?;
            }
            if let Some(first) = self.waiting.first() {
                first.prepare(client).await?;
                self.prepared.extend(first.to_prepare());
            }
        }
        Ok(())
    }

    fn find_unprepared(&self) -> Option<usize> {
        self.waiting.iter().position(|one| {
            one.to_prepare()
                .is_some_and(|sql| !self.prepared.contains(sql))
        })
    }

    /// Sends the first `count` waiting statements, followed by `last`. Awaits the responses.
    async fn exchange<T: Send>(
        &mut self,
        client: &Object,
        count: usize,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        let mut statements = Vec::with_capacity(count);
        for one in self.waiting.iter().take(count) {
            statements.push(one.prepare(client).await?);
            self.prepared.extend(one.to_prepare());
        }
        let waiting: Vec<_> = self.waiting.drain(..count).collect();
        // The value `Unknown` remains if the future is dropped before all responses have arrived.
        let before = std::mem::replace(&mut self.transaction, Transaction::Unknown);
        let mut sent = AllSent::default();
        for (one, statement) in waiting.iter().zip(&statements) {
            one.send(client, statement.as_ref(), &mut sent).await;
        }
        let last = if sent.has_failed {
            None
        } else {
            Some(send(last).await.0)
        };
        let mut known = before;
        for (kind, one) in sent.responses {
            match one.await {
                Ok(Some(id)) => known = Transaction::Begun(id),
                Ok(None) => {}
                Err(error) if kind == Kind::Frame => return Err(error),
                Err(error) => {
                    self.transaction = known;
                    return Err(error);
                }
            }
        }
        self.transaction = known;
        match last {
            Some(last) => last.await,
            None => Err(StoreError::unavailable("a statement could not be sent")),
        }
    }
}
