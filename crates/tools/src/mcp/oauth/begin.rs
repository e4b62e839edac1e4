//! Starts an authorization: discovery, registration, and the URL that the person opens.

mod register;

use super::OAuth;
use super::discovery::{Discovered, Metadata, canonical, discover};
use super::error::OAuthError;
use super::record::{Client, Pending, Record, Server};
use crate::secrets::names_secrets;
use data_encoding::BASE64URL_NOPAD;
use register::{manual, register};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use std::time::Duration;
use url::Url;

/// The time in which a person must complete an authorization.
const VALID: Duration = Duration::from_mins(10);
/// The maximum number of attempts to save while other nodes save too.
const TRIES: usize = 5;

/// A client that a person registered at the authorization server.
pub struct GivenClient {
    pub id: String,
    pub secret: Option<SecretString>,
}

impl OAuth {
    /// Returns the URL at which the person authorizes Gatehouse. `session` is the login session that may complete the
    /// authorization. The authorization server redirects the browser to `redirect_uri`.
    pub(in super::super) async fn begin(
        &self,
        (name, url): (&str, &Url),
        (session, redirect_uri): (&str, &str),
        given: Option<GivenClient>,
    ) -> Result<String, OAuthError> {
        if names_secrets(url.as_str()) {
            return Err(OAuthError::SecretUrl);
        }
        let http = self.http(url);
        let Discovered {
            metadata,
            scope,
            resource,
        } = discover(&http).await?;
        let mut registered = None;
        for _ in 0..TRIES {
            let record = self.find(name).await?;
            let mut record = match record.filter(|it| it.row.resource == canonical(url)) {
                Some(record) => record,
                None => self.blank(name, url).await?,
            };
            let known = match (&given, &registered) {
                (Some(given), _) => Some(manual(given, &metadata, redirect_uri)),
                (None, Some(client)) => Some(Client::clone(client)),
                (None, None) => self.known(&record, &metadata, redirect_uri),
            };
            let client = match known {
                Some(client) => client,
                None => register(&http, &metadata, redirect_uri, scope.as_deref()).await?,
            };
            if !client.is_manual {
                registered = Some(client.clone());
            }
            let server = Server {
                issuer: metadata.issuer.clone(),
                token_endpoint: metadata.token_endpoint.clone(),
                revocation_endpoint: metadata.revocation_endpoint.clone(),
                resource: resource.clone(),
            };
            let pending = self.pending(session, &metadata, server, &client);
            let address = address(&metadata, &pending, redirect_uri, scope.as_deref());
            put(&mut record, client, pending);
            if self.save(&record, false).await? {
                return Ok(address);
            }
        }
        Err(OAuthError::Changed)
    }

    /// Returns a record without a grant. Deletes the record of another URL, if there is one.
    async fn blank(&self, name: &str, url: &Url) -> Result<Record, OAuthError> {
        if let Some(row) = self.find_row(name).await? {
            self.delete(name, row.version, None).await?;
        }
        Ok(Record::empty(name, url, self.clock.now()))
    }

    /// Returns the client of an earlier authorization, if it is usable.
    fn known(&self, record: &Record, metadata: &Metadata, redirect_uri: &str) -> Option<Client> {
        let client = record.secret.client.as_ref()?;
        let now = self.clock.now().as_millis();
        let is_valid = client.expires_at.is_none_or(|expires_at| expires_at > now);
        // If the owner entered the client, the owner also registers a changed redirect URI at the
        // authorization server.
        let redirects = client.is_manual || client.redirect_uri == redirect_uri;
        (is_valid && redirects && client.issuer == metadata.issuer).then(|| Client {
            redirect_uri: redirect_uri.to_owned(),
            ..client.clone()
        })
    }

    fn pending(
        &self,
        session: &str,
        metadata: &Metadata,
        server: Server,
        client: &Client,
    ) -> Pending {
        let random = || BASE64URL_NOPAD.encode(&self.random.bytes::<32>());
        Pending {
            state: random(),
            verifier: random(),
            session: session.to_owned(),
            expires_at: self.clock.now().after(VALID).as_millis(),
            requires_iss: metadata
                .authorization_response_iss_parameter_supported
                .unwrap_or(false),
            server,
            client: client.clone(),
        }
    }
}

/// Stores the client and the pending authorization. The tokens of an earlier client are kept until
/// the person has authorized the new client.
fn put(record: &mut Record, client: Client, pending: Pending) {
    if !record.row.authorized {
        record.row.error = None;
    }
    record.row.issuer = Some(client.issuer.clone());
    record.row.client_id = client.is_manual.then(|| client.id.clone());
    record.secret.client = Some(client);
    record.secret.pending = Some(pending);
}

fn address(
    metadata: &Metadata,
    pending: &Pending,
    redirect_uri: &str,
    scope: Option<&str>,
) -> String {
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(pending.verifier.as_bytes()));
    let mut url = metadata.authorization_endpoint.clone();
    url.query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", &pending.client.id)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("state", &pending.state)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256")
        .append_pair("resource", &pending.server.resource)
        .extend_pairs(scope.map(|scope| ("scope", scope)));
    url.into()
}
