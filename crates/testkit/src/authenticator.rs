//! A software authenticator and browser client based on the `passkey` crate, which shares no code with the
//! library that the server uses for verification.

use passkey::authenticator::{Authenticator, UiHint, UserCheck, UserValidationMethod};
use passkey::client::{Client, DefaultClientData};
use passkey::crypto::rust_crypto::RustCryptoBackend;
use passkey::types::Passkey;
use passkey::types::ctap2::{Aaguid, Ctap2Error};
use passkey::types::webauthn::{CredentialCreationOptions, CredentialRequestOptions};
use public_suffix::PublicSuffixList;
use serde_json::Value;
use url::Url;

/// A user who is always present and verified.
struct Present;

#[async_trait::async_trait]
impl UserValidationMethod for Present {
    type PasskeyItem = Passkey;

    async fn check_user<'a>(
        &self,
        _: UiHint<'a, Passkey>,
        _: bool,
        _: bool,
    ) -> Result<UserCheck, Ctap2Error> {
        Ok(UserCheck {
            presence: true,
            verification: true,
        })
    }

    fn is_verification_enabled(&self) -> Option<bool> {
        Some(true)
    }

    fn is_presence_enabled(&self) -> bool {
        true
    }
}

/// An authenticator with at most one passkey.
pub struct SoftAuthenticator {
    client: Client<Option<Passkey>, Present, RustCryptoBackend, PublicSuffixList, ()>,
    origin: Url,
}

impl SoftAuthenticator {
    /// Returns a new authenticator, used by a browser on this origin.
    pub fn on(origin: &str) -> Self {
        let authenticator =
            Authenticator::new(Aaguid::new_empty(), None, Present, RustCryptoBackend);
        let client = Client::new(authenticator).allows_insecure_localhost(true);
        Self {
            client,
            origin: Url::parse(origin).unwrap(),
        }
    }

    /// Moves the browser to another origin.
    pub fn move_to(&mut self, origin: &str) {
        self.origin = Url::parse(origin).unwrap();
    }

    /// Returns the stored passkey. A test can change it to simulate a cloned authenticator.
    pub fn passkey_mut(&mut self) -> Option<&mut Passkey> {
        self.client.authenticator_mut().store_mut().as_mut()
    }

    /// Answers `navigator.credentials.create()`.
    pub async fn create(&mut self, options: &Value) -> Option<Value> {
        let request: CredentialCreationOptions = serde_json::from_value(options.clone()).unwrap();
        let made = self
            .client
            .register(&self.origin, request, DefaultClientData)
            .await
            .ok()?;
        Some(serde_json::to_value(made).unwrap())
    }

    /// Answers `navigator.credentials.get()`.
    pub async fn get(&mut self, options: &Value) -> Option<Value> {
        let request: CredentialRequestOptions = serde_json::from_value(options.clone()).unwrap();
        let made = self
            .client
            .authenticate(&self.origin, request, DefaultClientData)
            .await
            .ok()?;
        Some(serde_json::to_value(made).unwrap())
    }
}
