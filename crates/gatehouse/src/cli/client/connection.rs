//! Creates the HTTP client of the command line.

use crate::cli::globals::{Globals, own_address};
use anyhow::{Context, Result};
use gatehouse_config::Layers;
use reqwest::{Certificate, Url, redirect};
use std::collections::BTreeMap;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeout of a request. It is long, because rotating many records or making a backup takes
/// time.
const TIMEOUT: Duration = Duration::from_hours(1);

/// Returns whether a URL names this machine.
pub fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_matches(['[', ']']);
        let address = host.parse::<std::net::IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command reads one small file and blocks no other task"
)]
pub(super) fn http_client(
    globals: &Globals,
    layers: &Layers,
    url: &Url,
) -> Result<reqwest::ClientBuilder> {
    let data_dir = layers.data_dir();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT)
        .redirect(redirect::Policy::none());
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    // The URL contains the name of this server's certificate. The connection goes to this machine, even if DNS resolves
    // the name elsewhere.
    if globals.given_url(layers)?.is_none()
        && let Some(name) = url.domain()
    {
        let address = own_address(&layers.resolve(&BTreeMap::new())?.settings);
        builder = builder.no_proxy().resolve(name, address);
    }
    if url.scheme() == "https"
        && let Ok(pem) = std::fs::read(data_dir.join("self-signed-cert.pem"))
    {
        let ours = Certificate::from_pem(&pem).context("the self-signed certificate is damaged")?;
        builder = builder.tls_certs_merge([ours]);
    }
    Ok(builder)
}
