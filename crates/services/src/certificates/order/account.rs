//! The account at the certificate authority.

use super::{Ordering, StepError, is_unknown_account};
use gatehouse_store::{StoreError, TlsAccountRow};
use instant_acme::{Account, Error, NewAccount};

impl Ordering<'_> {
    pub(super) async fn stored_account(&self) -> Result<Option<TlsAccountRow>, StoreError> {
        let directory = self.acme.directory.to_string();
        let store = &self.services.store;
        let read = store
            .read(move |conn| Box::pin(async move { conn.find_tls_account(&directory).await }));
        read.await
    }

    fn contact(&self) -> String {
        format!("mailto:{}", self.acme.email)
    }

    /// Opens the stored account and sets the configured contact. Creates an account if none is stored, or if it no
    /// longer exists at the authority.
    pub(super) async fn account(&self) -> Result<Account, StepError> {
        let Some(row) = self.stored_account().await? else {
            return self.create_account().await;
        };
        let credentials = serde_json::from_str(&row.credentials).map_err(Error::from)?;
        let builder = Account::builder_with_http(Box::new(self.http.clone()));
        let account = builder.from_credentials(credentials).await?;
        if row.email == self.acme.email {
            return Ok(account);
        }
        match account.update_contacts(&[self.contact().as_str()]).await {
            Err(error) if is_unknown_account(&error) => return self.create_account().await,
            updated => updated?,
        }
        self.store_account(row.credentials).await?;
        Ok(account)
    }

    /// Creates an account, which replaces the stored one.
    pub(super) async fn create_account(&self) -> Result<Account, StepError> {
        let builder = Account::builder_with_http(Box::new(self.http.clone()));
        let contact = self.contact();
        let new = NewAccount {
            contact: &[contact.as_str()],
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let directory = self.acme.directory.to_string();
        let (account, credentials) = builder.create(&new, directory, None).await?;
        let credentials = serde_json::to_string(&credentials).map_err(Error::from)?;
        self.store_account(credentials).await?;
        Ok(account)
    }

    async fn store_account(&self, credentials: String) -> Result<(), StoreError> {
        let row = TlsAccountRow {
            directory: self.acme.directory.to_string(),
            email: self.acme.email.clone(),
            credentials,
            created_at: self.services.clock.now(),
        };
        let write = self.services.store.write(move |conn| {
            let row = row.clone();
            Box::pin(async move { conn.update_tls_account(&row).await })
        });
        write.await
    }
}
