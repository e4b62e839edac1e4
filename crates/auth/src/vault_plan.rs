//! Password changes that also change the vault: one transaction, then the vault's memory, in commit
//! order.

use crate::error::AuthError;
use crate::state::{Auth, AuthInner, BoxFuture};
use gatehouse_secrets::VaultPlan;
use gatehouse_store::{Conn, unguarded};
use secrecy::ExposeSecret;
use std::sync::Arc;

impl Auth {
    /// Like [`Auth::change`], then concludes the plan. Returns the recovery key, if one was
    /// created.
    pub(crate) async fn change_with_plan<T, J, A>(
        &self,
        job: J,
        apply: A,
        plan: Arc<VaultPlan>,
    ) -> Result<Option<String>, AuthError>
    where
        T: Send + Sync + 'static,
        J: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, AuthError>> + Send + 'static,
        A: FnOnce(&AuthInner, &T) + Send + 'static,
    {
        let auth = self.clone();
        self.durable(async move {
            let _turn = auth.0.changing.lock().await;
            let value = auth.0.store.write(job).await?;
            apply(&auth.0, &value);
            // Completes the commit even if it ended the caller's identity.
            let recovery_key = unguarded(auth.0.secrets.conclude(plan)).await;
            Ok(recovery_key.map(|key| key.expose_secret().to_owned()))
        })
        .await
    }
}
