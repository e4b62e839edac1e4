//! Checks of addresses, TLS and proxies.

use super::Check;
use gatehouse_auth::RequestContext;
use gatehouse_auth::host::Authority;
use gatehouse_auth::locality::{FailedCheck, Locality};
use gatehouse_config::{Process, Resolved, Settings, Tls};
use secrecy::ExposeSecret;

const MIN_TOKEN_BYTES: usize = 16;
/// The files that Docker and Podman create in the root directory of a container.
const CONTAINER_MARKS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// Checks the public URL. `visited` is the host of the caller's request, if it is known.
pub(super) fn external_url(resolved: &Resolved, visited: Option<&Authority<'_>>) -> Check {
    let id = "external_url";
    let settings = &resolved.settings;
    let bind = settings.server.bind;
    let Some(url) = &settings.server.external_url else {
        if bind.ip().is_loopback() {
            return Check::fine(
                id,
                "server.external_url is not set. It is not needed while only this machine \
                 connects.",
            );
        }
        return Check::bad(
            id,
            "The server accepts connections from other machines, but server.external_url is not \
             set.",
            "Set it to the URL that browsers use. Passkeys and webhook URLs depend on it.",
        );
    };
    let host = url.host_str().unwrap_or_default();
    let loopback = is_loopback_name(host);
    if url.scheme() == "http" && !loopback {
        return Check::bad(
            id,
            "server.external_url uses plain http.",
            "Passkeys and secure cookies require https.",
        );
    }
    // The default is one of several names of a certificate. Passkeys work with each of them.
    let visited = visited
        .filter(|_| resolved.configured_external_url().is_some())
        .map(|at| at.host.to_string());
    match visited {
        Some(visited) if visited != host && !is_loopback_name(&visited) => Check::bad(
            id,
            "Your request uses a different host than server.external_url.",
            "Passkeys are bound to their host. Use the same host, or correct the setting.",
        ),
        _ => Check::fine(id, "server.external_url is valid."),
    }
}

fn is_loopback_name(host: &str) -> bool {
    Authority::parse(host.as_bytes()).is_ok_and(|at| at.host.is_loopback())
}

/// Returns whether this process runs in a container of Docker or Podman.
pub(super) async fn is_in_container() -> bool {
    for mark in CONTAINER_MARKS {
        if tokio::fs::try_exists(mark).await.unwrap_or(false) {
            return true;
        }
    }
    false
}

/// Checks TLS. In a container (`in_container`), the port is reachable at the address where it is published,
/// whatever `server.bind` is. The process cannot determine that address, and with the network of the host the port
/// is reachable everywhere. The check therefore fails, and its hint names the case in which the port is safe.
pub(super) fn tls(settings: &Settings, process: &Process, in_container: bool) -> Check {
    let external = settings.server.external_url.as_ref();
    let is_of_machine = external
        .and_then(|url| url.host_str())
        .is_some_and(is_loopback_name);
    let proxied = process.behind_proxy || !settings.proxy.trusted_cidrs.is_empty();
    match settings.server.tls {
        Tls::Files { .. } | Tls::Acme(_) => Check::fine("tls", "Served over TLS."),
        Tls::SelfSigned => Check {
            hint: Some("Browsers show a warning, and passkeys may not work.".to_owned()),
            ..Check::fine("tls", "Served over TLS with a self-signed certificate.")
        },
        Tls::Off if settings.server.bind.ip().is_loopback() => {
            Check::fine("tls", "Plain HTTP, on this machine only.")
        }
        Tls::Off if proxied => {
            Check::fine("tls", "Plain HTTP. The reverse proxy must terminate TLS.")
        }
        Tls::Off if in_container && is_of_machine => Check::bad(
            "tls",
            "Plain HTTP in a container: if other machines reach the port, passwords can be read in \
             transit.",
            "If the port is published only on 127.0.0.1, nothing outside this machine reaches it. \
             Otherwise, set server.tls, or use a reverse proxy with TLS.",
        ),
        Tls::Off => Check::bad(
            "tls",
            "Plain HTTP to other machines: passwords can be read in transit.",
            "Set server.tls, or use a reverse proxy with TLS.",
        ),
    }
}

pub(super) fn proxy(
    settings: &Settings,
    process: &Process,
    context: Option<&RequestContext>,
) -> Check {
    let id = "proxy";
    let listed = !settings.proxy.trusted_cidrs.is_empty();
    let forwarded = context.is_some_and(|context| {
        context.locality
            == Locality::Remote {
                failed_check: FailedCheck::ForwardingHeader,
            }
    });
    match (process.behind_proxy, listed) {
        (true, false) => Check {
            hint: Some(
                "Set proxy.trusted_cidrs so that limits apply to real clients. Until then, \
                 `allowed_cidrs` of keys and webhooks are compared with the proxy's IP address."
                    .to_owned(),
            ),
            ..Check::fine(id, "Behind a proxy, but proxy.trusted_cidrs is not set.")
        },
        (false, false) if forwarded => Check::bad(
            id,
            "Your request came through a proxy, but none is configured.",
            "Set SERVICE_BEHIND_PROXY=true and proxy.trusted_cidrs.",
        ),
        (false, false) => Check::fine(id, "No proxy is configured, and none was detected."),
        (_, true) => Check::fine(id, "Trusted proxies are configured."),
    }
}

/// Checks that `metrics.token` is long enough, because wrong tokens are not counted. Returns `None` if it is unset.
pub(super) fn metrics_token(settings: &Settings) -> Option<Check> {
    let id = "metrics_token";
    let length = settings.metrics.token.as_ref()?.expose_secret().len();
    Some(if length < MIN_TOKEN_BYTES {
        Check::bad(
            id,
            format!(
                "metrics.token has fewer than {MIN_TOKEN_BYTES} characters and can be guessed."
            ),
            "Set a random token, for example from `openssl rand -hex 32`.",
        )
    } else {
        Check::fine(id, "metrics.token is long enough.")
    })
}

pub(super) fn locality(locality: Locality) -> Check {
    let id = "locality";
    let Locality::Remote { failed_check } = locality else {
        return Check::fine(id, "Your connection is local: all four checks passed.");
    };
    let number = failed_check.number();
    let (why, hint) = match failed_check {
        FailedCheck::BehindProxy => (
            "SERVICE_BEHIND_PROXY is set",
            "Unset it if there is no reverse proxy.",
        ),
        FailedCheck::ForwardingHeader => (
            "a forwarding header is present",
            "Connect to the server directly, not through a proxy.",
        ),
        FailedCheck::Host => (
            "the Host header is not a loopback name",
            "Use localhost or 127.0.0.1 in the URL.",
        ),
        FailedCheck::PeerAddress => (
            "the connection does not come from a loopback address",
            "In a container, use host networking, or set SERVICE_TRUST_DOCKER_LOOPBACK=true.",
        ),
    };
    // A remote connection is not an error. The hint is for users who expected a local connection.
    Check {
        hint: Some(hint.to_owned()),
        ..Check::fine(
            id,
            format!("Your connection is remote: check {number} failed ({why})."),
        )
    }
}

#[cfg(test)]
mod tests;
