//! Setup codes of requests.

use super::{CodeVerdict, already_complete, check_setup_code, replacement};
use crate::audit::kinds;
use crate::error::AuthError;
use crate::request_context::RequestContext;
use crate::state::{Auth, AuthInner, Settled};
use std::sync::Arc;

impl Auth {
    /// Returns whether this caller must send the setup code to set the first credential now.
    pub fn wants_setup_code(&self, context: &RequestContext) -> bool {
        !self.facts().setup_complete && self.needs_setup_code(context)
    }

    /// Returns whether this caller must send the setup code to store the first password or passkey.
    pub(crate) fn needs_setup_code(&self, context: &RequestContext) -> bool {
        !context.locality.is_local() || self.0.settings.load().given.local_setup_code
    }

    /// Evaluates and counts the caller's code before any other work. The transaction that completes setup checks
    /// the code again with [`check_setup_code`].
    pub async fn pass_setup_code(
        &self,
        context: &RequestContext,
        given: Option<&str>,
    ) -> Result<(), AuthError> {
        if !self.needs_setup_code(context) {
            return Ok(());
        }
        let (given, now) = (given.map(str::to_owned), self.0.now());
        let (random, actor) = (Arc::clone(&self.0.random), context.actor());
        let sent = given.is_some();
        let (verdict, _) = self
            .change(
                move |conn| {
                    Box::pin(async move {
                        // If setup was completed in the meantime, no code is created.
                        if Settled::read(conn).await?.facts.setup_complete {
                            return Err(already_complete());
                        }
                        let verdict =
                            check_setup_code(conn, given.as_deref(), now, &*random).await?;
                        Ok((verdict, Settled::read(conn).await?))
                    })
                },
                |inner, (_, settled)| inner.settle(settled),
            )
            .await?;
        if verdict == CodeVerdict::Wrong && sent {
            self.note_failure(kinds::SETUP_CODE_WRONG, &actor).await;
        }
        verdict.into_result()
    }

    /// Replaces a used-up code when the replacement is due, so that the operator sees the new code before the first
    /// attempt.
    pub(crate) async fn replace_due_setup_code(&self) -> Result<(), AuthError> {
        if self.facts().setup_complete {
            return Ok(());
        }
        let now = self.0.now();
        let random = Arc::clone(&self.0.random);
        let due = self.0.store.read(move |conn| {
            Box::pin(async move {
                let row = conn.find_setup_code().await?;
                Ok::<_, AuthError>(
                    row.is_some_and(|row| replacement(&row, now, &*random).is_some()),
                )
            })
        });
        if !due.await? {
            return Ok(());
        }
        let random = Arc::clone(&self.0.random);
        self.change(
            move |conn| {
                Box::pin(async move {
                    if !Settled::read(conn).await?.facts.setup_complete {
                        check_setup_code(conn, None, now, &*random).await?;
                    }
                    Ok(Settled::read(conn).await?)
                })
            },
            AuthInner::settle,
        )
        .await
        .map(drop)
    }
}
