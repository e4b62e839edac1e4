//! Checks the login password for all endpoints. Hashing runs in a queue. Wrong passwords are counted per credential
//! across all endpoints.

use crate::error::AuthError;
use crate::password_hash;
use crate::request_context::RequestContext;
use crate::state::Auth;
use crate::throttle::RetryAfter;
use crate::wrong_passwords::{Credential, MAX_WRONG, TryByAll};
use gatehouse_domain::{ClientKey, Problem};
use gatehouse_store::Purpose;
use secrecy::SecretString;

/// The stored hash that a password was verified against. Later writes are conditional on it.
pub(crate) type VerifiedHash = String;

impl Auth {
    /// Returns the stored hash if the password is correct; `None` if it is wrong or none is stored.
    pub(crate) async fn check_password(
        &self,
        context: &RequestContext,
        password: &SecretString,
    ) -> Result<Option<VerifiedHash>, AuthError> {
        let tried = self.begin_try(context).await?;
        let verified = self.verify_password(context.client.key, password).await;
        // On an error of the queue or the database, the password was not checked, so it is not counted as wrong.
        if let (Some(tried), Ok(Some(_)) | Err(_)) = (tried, &verified) {
            tried.give_back();
        }
        verified
    }

    /// Reserves one of the credential's attempts for wrong passwords. Anonymous callers are instead limited per
    /// client by the throttle, which counts them earlier.
    pub(crate) async fn begin_try(
        &self,
        context: &RequestContext,
    ) -> Result<Option<TryByAll<'_>>, AuthError> {
        if context.decision.identity().is_none() {
            return Ok(None);
        }
        let id = context.credential_id();
        let here = self.0.wrong_passwords.begin(&id)?;
        let key = vec![(Credential(id.into()), MAX_WRONG)];
        match self
            .0
            .shared_wrong_passwords
            .take(Purpose::Guesses, 1, key)
            .await
        {
            Ok(everywhere) => Ok(Some(TryByAll { here, everywhere })),
            Err(refused) => {
                here.give_back();
                Err(RetryAfter::from(refused).into())
            }
        }
    }

    /// Runs a function that checks a secret other than the login password, such as the passphrase of a key. A wrong
    /// secret counts as a wrong password of the credential. The error of `work` contains the problem, and whether
    /// the secret was wrong.
    pub async fn guess<T>(
        &self,
        context: &RequestContext,
        work: impl Future<Output = Result<T, (bool, Problem)>>,
    ) -> Result<T, Problem> {
        let tried = self.begin_try(context).await?;
        let done = work.await;
        if let (Some(tried), Ok(_) | Err((false, _))) = (tried, &done) {
            tried.give_back();
        }
        done.map_err(|(_, problem)| problem)
    }

    /// Like [`Auth::check_password`], without counting.
    pub(crate) async fn verify_password(
        &self,
        client: ClientKey,
        password: &SecretString,
    ) -> Result<Option<VerifiedHash>, AuthError> {
        let read = self.0.store.read(|conn| {
            Box::pin(async move { Ok::<_, AuthError>(conn.find_password_hash().await?) })
        });
        let Some(stored) = read.await? else {
            return Ok(None);
        };
        if !password_hash::is_possible(password) {
            return Ok(None);
        }
        let (password, phc) = (password.clone(), stored.clone());
        let right = self
            .0
            .kdf
            .run(client, move || password_hash::verify(&password, &phc))
            .await?;
        Ok(right.then_some(stored))
    }

    /// Hashes a new password for storage.
    pub(crate) async fn hash_password(
        &self,
        client: ClientKey,
        password: &SecretString,
    ) -> Result<String, AuthError> {
        let (password, salt) = (password.clone(), self.0.random.bytes::<16>());
        self.0
            .kdf
            .run(client, move || password_hash::hash(&password, &salt))
            .await?
    }
}
