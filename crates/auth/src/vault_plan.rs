//! Password changes that also change the vault. One transaction stores both; then the vault's memory is updated in
//! commit order.

use crate::error::AuthError;
use crate::recorded::Recorded;
use crate::state::{Auth, AuthInner, BoxFuture};
use gatehouse_secrets::VaultPlan;
use gatehouse_store::{Conn, unguarded};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::sync::Arc;

impl Auth {
    /// Like [`Auth::record`], but also concludes the plan. Returns the recovery key, if one was created.
    pub(crate) async fn record_with_plan<T, J, A>(
        &self,
        recorded: Recorded,
        job: J,
        apply: A,
        plan: Arc<VaultPlan>,
    ) -> Result<Option<String>, AuthError>
    where
        T: Send + Sync + 'static,
        J: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<(Value, T), AuthError>>
            + Send
            + 'static,
        A: FnOnce(&AuthInner, &T) + Send + 'static,
    {
        let auth = self.clone();
        let changed = recorded.changed;
        let job = recorded.job(&self.0, job);
        self.durable(async move {
            let _turn = auth.0.changing.lock().await;
            let value = auth.0.store.write(job).await?;
            apply(&auth.0, &value);
            auth.0.announce_changed(changed);
            // The plan is concluded even if the change ended the caller's credential.
            let recovery_key = unguarded(auth.0.secrets.conclude(plan)).await;
            Ok(recovery_key.map(|key| key.expose_secret().to_owned()))
        })
        .await
    }
}
