//! Changes of the password that change the vault with it: one transaction, then the vault's memory,
//! in the order of the commits.

use crate::error::AuthError;
use crate::state::{Auth, AuthInner, BoxFuture};
use gatehouse_secrets::VaultPlan;
use gatehouse_store::{Conn, unguarded};
use secrecy::ExposeSecret;
use std::sync::Arc;

impl Auth {
    /// As [`Auth::change`], and then concludes the plan; answers the recovery key, once.
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
            // Belongs to what was committed, also where that ended the identity of the caller.
            let recovery_key = unguarded(auth.0.secrets.conclude(plan)).await;
            Ok(recovery_key.map(|key| key.expose_secret().to_owned()))
        })
        .await
    }
}
