//! The HTTP clients, one per policy, and the function that sends requests.

mod socket;

use crate::fenced::fenced;
use crate::policy::Policy;
use crate::resolver::{self, FilteringResolver, Refused};
use crate::tls::{self, NO_TLS};
use crate::{AddressSource, OutboundError, OutboundSettings};
use arc_swap::{ArcSwap, ArcSwapOption};
use reqwest::{Client, ClientBuilder, Proxy, Request, Response, redirect};
use rustls::ClientConfig;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use url::{Host, Url};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The names of the HTTP versions in ALPN.
const HTTP_1: &str = "http/1.1";
const HTTP: [&str; 2] = ["h2", HTTP_1];

/// Sends outgoing requests. Cheap to clone; all clones share connections and settings.
#[derive(Clone)]
pub struct Outbound {
    inner: Arc<Inner>,
}

/// The clients. Each policy has its own client, so that a connection of one policy is never reused under another
/// one, even if the settings change.
struct Inner {
    public_only: Client,
    no_metadata: Client,
    settings: ArcSwap<OutboundSettings>,
    /// The client of the proxy that was used last, with its URL.
    proxied: ArcSwapOption<(Url, Client)>,
    /// The client for WebSockets, created for the first connection. HTTP/2 cannot upgrade a request.
    sockets: OnceLock<Client>,
    /// The TLS settings for protocols other than HTTP, created on first use.
    tls: OnceLock<Arc<ClientConfig>>,
}

impl Outbound {
    /// Creates the clients. Fails only when TLS cannot be initialized.
    pub fn new(settings: OutboundSettings) -> Result<Self, OutboundError> {
        Ok(Self {
            inner: Arc::new(Inner {
                public_only: build(builder(Policy::PublicOnly, &HTTP)?)?,
                no_metadata: build(builder(Policy::NoMetadata, &HTTP)?)?,
                settings: ArcSwap::from_pointee(settings),
                proxied: ArcSwapOption::empty(),
                sockets: OnceLock::new(),
                tls: OnceLock::new(),
            }),
        })
    }

    /// Replaces the settings. They apply from the next request on.
    pub fn update_settings(&self, settings: OutboundSettings) {
        self.inner.settings.store(Arc::new(settings));
    }

    /// Returns the client for this address source, to build requests with. The client follows no redirects, ignores
    /// proxies from the environment, and filters addresses when it connects. URLs whose host is an IP address
    /// bypass its resolver. Therefore, call [`Self::check_url`] before every request, or use [`Self::send`], which
    /// calls it. The client has no response timeout; set one on the request.
    pub fn client(&self, reach: AddressSource) -> &Client {
        match self.policy(reach) {
            Policy::PublicOnly => &self.inner.public_only,
            Policy::NoMetadata => &self.inner.no_metadata,
        }
    }

    /// Checks the text of a URL: `http` or `https`, a host, no user name, and no refused address or name. Other
    /// names are resolved when the client connects; the resolver then checks their addresses.
    pub fn check_url(&self, reach: AddressSource, url: &Url) -> Result<(), OutboundError> {
        check_url(self.policy(reach), url)
    }

    /// Checks a host's text, for protocols other than HTTP.
    pub fn check_host(&self, reach: AddressSource, host: &Host) -> Result<(), OutboundError> {
        let host = match host {
            Host::Domain(name) => Host::Domain(name.as_str()),
            Host::Ipv4(v4) => Host::Ipv4(*v4),
            Host::Ipv6(v6) => Host::Ipv6(*v6),
        };
        check_host(self.policy(reach), &host)
    }

    /// Checks the URL and sends the request. Returns redirects without following them.
    pub async fn send(
        &self,
        reach: AddressSource,
        request: Request,
    ) -> Result<Response, OutboundError> {
        self.check_url(reach, request.url())?;
        Ok(self.client(reach).execute(fenced(request)?).await?)
    }

    /// Like [`Self::send`] with [`AddressSource::Owner`], through an HTTP proxy of the owner. The proxy resolves
    /// the name, so only the text of the URL is checked.
    pub async fn send_through(
        &self,
        proxy: &Url,
        request: Request,
    ) -> Result<Response, OutboundError> {
        self.check_url(AddressSource::Owner, request.url())?;
        self.check_url(AddressSource::Owner, proxy)?;
        let known = self.inner.proxied.load_full();
        let client = if let Some(known) = known.filter(|known| known.0 == *proxy) {
            known.1.clone()
        } else {
            let through = Proxy::all(proxy.as_str())
                .map_err(|_| OutboundError::BadUrl("is not the address of a proxy"))?;
            let made = build(builder(Policy::NoMetadata, &HTTP)?.proxy(through))?;
            let entry = (proxy.clone(), made.clone());
            self.inner.proxied.store(Some(Arc::new(entry)));
            made
        };
        Ok(client.execute(fenced(request)?).await?)
    }

    pub(crate) fn tls_config(&self) -> Result<Arc<ClientConfig>, OutboundError> {
        let tls = &self.inner.tls;
        if let Some(known) = tls.get() {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(tls::system_config(&[])?);
        Ok(Arc::clone(tls.get_or_init(|| made)))
    }

    #[cfg(feature = "testing")]
    pub(crate) fn set_tls_config(&self, config: ClientConfig) -> Result<(), OutboundError> {
        let set = self.inner.tls.set(Arc::new(config));
        set.map_err(|_| OutboundError::Other("TLS is already set up"))
    }

    /// Resolves a host to its permitted addresses, for protocols other than HTTP. Connect to one of them
    /// and do not resolve again.
    pub async fn resolve(
        &self,
        reach: AddressSource,
        host: &str,
    ) -> Result<Vec<IpAddr>, OutboundError> {
        let found = resolver::resolve(self.policy(reach), host).await;
        found.map_err(|error| {
            if error.is::<Refused>() {
                OutboundError::RefusedAddress
            } else {
                OutboundError::Connect
            }
        })
    }

    fn policy(&self, reach: AddressSource) -> Policy {
        match reach {
            AddressSource::Public if !self.inner.settings.load().allow_private => {
                Policy::PublicOnly
            }
            AddressSource::Public | AddressSource::Owner => Policy::NoMetadata,
        }
    }
}

impl fmt::Debug for Outbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbound")
            .field("settings", &self.inner.settings.load())
            .finish_non_exhaustive()
    }
}

fn build(builder: ClientBuilder) -> Result<Client, OutboundError> {
    builder.build().map_err(|_| NO_TLS)
}

/// Creates a builder. Offers `protocols` by ALPN, because `reqwest` does not add them to a TLS configuration that
/// the caller provides.
fn builder(policy: Policy, protocols: &[&str]) -> Result<ClientBuilder, OutboundError> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::system_config(protocols)?)
        .user_agent(concat!("Gatehouse/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .dns_resolver(FilteringResolver { policy });
    Ok(builder)
}

fn check_url(policy: Policy, url: &Url) -> Result<(), OutboundError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(OutboundError::BadUrl("must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(OutboundError::BadUrl(
            "must not contain a user name or password",
        ));
    }
    let host = url.host().ok_or(OutboundError::BadUrl("has no host"))?;
    check_host(policy, &host)
}

fn check_host(policy: Policy, host: &Host<&str>) -> Result<(), OutboundError> {
    let allowed = match *host {
        Host::Domain(name) => policy.allows_name(name),
        Host::Ipv4(v4) => policy.allows(IpAddr::V4(v4)),
        Host::Ipv6(v6) => policy.allows(IpAddr::V6(v6)),
    };
    allowed.then_some(()).ok_or(OutboundError::RefusedAddress)
}

#[cfg(test)]
mod tests;
