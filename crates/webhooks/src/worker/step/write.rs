//! Writing the results of ended runs, and claiming the next deliveries.

use crate::worker::settle::Ending;
use crate::worker::{Worker, complain};
use gatehouse_channels::PreparedInbox;
use gatehouse_store::{Claims, StoreError, Take};
use std::sync::Arc;

impl Worker {
    /// Stores ended runs without claiming.
    pub(in super::super) async fn write_ended(&mut self) -> Result<(), StoreError> {
        self.take_in_all();
        if self.settled.is_empty() {
            return Ok(());
        }
        self.write(&[]).await.map(drop)
    }

    /// Stores results and claims deliveries in one transaction. If the database permanently refuses this
    /// transaction, uses one transaction per run and per line. Runs that are not acknowledged stay in `settled`.
    pub(super) async fn write(&mut self, takes: &[Take]) -> Result<Claims, StoreError> {
        let endings: Vec<_> = self
            .settled
            .iter()
            .map(|it| Arc::clone(&it.ending))
            .collect();
        match self.write_together(endings, takes.to_vec()).await {
            Ok((written, claims)) => {
                let reported = self.settled.drain(..).zip(written);
                let mut must_release = false;
                for (settled, was_ours) in reported {
                    must_release |= settled.waits_for_vault();
                    settled.publish(&self.inner, was_ours);
                }
                if must_release {
                    // The vault may have been unlocked between the refusal and the write.
                    self.tidy_at = 0;
                }
                Ok(claims)
            }
            Err(error) if error.is_unavailable() => Err(error),
            Err(error) => {
                complain(&error);
                self.write_each().await?;
                self.claim_each(takes).await
            }
        }
    }

    async fn write_together(
        &mut self,
        endings: Vec<Arc<Ending>>,
        takes: Vec<Take>,
    ) -> Result<(Vec<bool>, Claims), StoreError> {
        let owner = self.inner.node.clone();
        let want = (!takes.is_empty()).then(|| self.claim_request(takes));
        let write = self.inner.store.write_queue(move |conn| {
            Box::pin(async move {
                let written = Ending::write_all(&endings, conn, &owner).await?;
                let ours = endings
                    .iter()
                    .zip(&written)
                    .filter(|(_, is_ours)| **is_ours);
                let messages: Vec<_> = ours.filter_map(|(ending, _)| ending.inbox()).collect();
                if !messages.is_empty() {
                    PreparedInbox::insert_all(messages, conn)?;
                }
                let claims = match &want {
                    Some(want) => conn.claim_deliveries(want).await?,
                    None => Claims::default(),
                };
                Ok::<_, StoreError>((written, claims))
            })
        });
        write.await
    }

    /// Stores ended runs one by one. If the database permanently refuses a result, stores a reduced one.
    async fn write_each(&mut self) -> Result<(), StoreError> {
        while let Some(settled) = self.settled.last() {
            let ending = Arc::clone(&settled.ending);
            let was_ours = match self.write_together(vec![ending], Vec::new()).await {
                Ok((written, _)) => written == [true],
                Err(error) if error.is_unavailable() => return Err(error),
                Err(error) => self.write_reduced(&error).await?,
            };
            if let Some(settled) = self.settled.pop() {
                settled.publish(&self.inner, was_ours);
            }
        }
        Ok(())
    }

    /// Stores the last run of `settled` as failed, without values that a database could refuse.
    async fn write_reduced(&mut self, refused: &StoreError) -> Result<bool, StoreError> {
        let now = self.inner.now();
        let Some(settled) = self.settled.last_mut() else {
            return Ok(false);
        };
        tracing::error!(
            delivery = %settled.attempt().0,
            error = refused as &dyn std::error::Error,
            "the database refused to store the result of a delivery; it is stored as failed"
        );
        settled.reduce(now);
        let ending = Arc::clone(&settled.ending);
        match self.write_together(vec![ending], Vec::new()).await {
            Ok((written, _)) => Ok(written == [true]),
            Err(error) if error.is_unavailable() => Err(error),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the failure was also refused; the lease of the delivery will expire, and another attempt follows"
                );
                Ok(false)
            }
        }
    }

    /// Claims line by line, so an error in one line does not affect the others.
    async fn claim_each(&mut self, takes: &[Take]) -> Result<Claims, StoreError> {
        let mut all = Claims::default();
        for take in takes {
            match self.write_together(Vec::new(), vec![take.clone()]).await {
                Ok((_, claims)) => {
                    all.claimed.extend(claims.claimed);
                    all.failed.extend(claims.failed);
                    all.more |= claims.more;
                    all.postponed |= claims.postponed;
                }
                Err(error) if error.is_unavailable() && all.claimed.is_empty() => {
                    return Err(error);
                }
                Err(error) => complain(&error),
            }
        }
        Ok(all)
    }
}
