//! The URLs and headers of a provider's requests: the family's form, Azure's form, the headers of the settings, and the
//! proxy.
//!
//! Azure `OpenAI`: <https://learn.microsoft.com/azure/ai-foundry/openai/reference>, "Chat completions": the deployment
//! is a part of the path, `api-version` is a query parameter, and the key is sent as `api-key`.

use crate::candidates::Endpoint;
use crate::family::{below, secret_header};
use crate::family_of_kind::family;
use crate::handle::Inner;
use gatehouse_outbound::{AddressSource, Outbound, OutboundError};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Request, Response};
use secrecy::ExposeSecret;
use url::Url;

const AZURE_KEY: HeaderName = HeaderName::from_static("api-key");

impl Endpoint<'_> {
    /// Returns the URL of chat requests to a model.
    pub(crate) fn chat_url(&self, model: &str) -> Url {
        let path = family(self.kind).chat_path();
        match self.azure_api_version {
            None => below(&self.base_url, path),
            Some(version) => {
                let mut whole = vec!["deployments", model];
                whole.extend(path);
                let mut url = below(&self.base_url, &whole);
                url.query_pairs_mut().append_pair("api-version", version);
                url
            }
        }
    }

    /// Returns the URL of the model list.
    pub(crate) fn list_url(&self) -> Url {
        let mut url = below(&self.base_url, &["models"]);
        if let Some(query) = family(self.kind).list_query() {
            let whole = url.query().map(|own| format!("{own}&{query}"));
            url.set_query(Some(whole.as_deref().unwrap_or(query)));
        }
        if let Some(version) = self.azure_api_version {
            url.query_pairs_mut().append_pair("api-version", version);
        }
        url
    }

    /// Returns the headers of every request. Returns `None` if the key is not a valid header value.
    pub(crate) fn headers(&self, key: Option<&str>) -> Option<HeaderMap> {
        let mut headers = family(self.kind).headers(key)?;
        if self.azure_api_version.is_some() {
            headers.remove(AUTHORIZATION);
            if let Some(key) = key {
                secret_header(&mut headers, AZURE_KEY, key)?;
            }
        }
        for (name, value) in self.headers.into_iter().flatten() {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            let mut value = HeaderValue::from_str(value.expose_secret()).ok()?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Some(headers)
    }
}

impl Inner {
    /// Sends a request to a provider, through the proxy unless the provider is in the local network.
    pub(crate) async fn send(
        &self,
        endpoint: &Endpoint<'_>,
        request: Request,
    ) -> Result<Response, OutboundError> {
        let outbound: &Outbound = &self.outbound;
        let settings = self.settings.load_full();
        match settings.proxy.as_ref().filter(|_| !endpoint.is_local()) {
            Some(proxy) => outbound.send_through(proxy, request).await,
            None => outbound.send(AddressSource::Owner, request).await,
        }
    }
}
