//! Finds the authorization server of an MCP server (MCP 2025-06-18, "Authorization Server Discovery"): the metadata of
//! the protected resource (RFC 9728), then the metadata of the authorization server (RFC 8414, OIDC Discovery 1.0).

use super::challenge::{Challenge, bearer};
use super::error::OAuthError;
use super::http::{Http, check};
use gatehouse_outbound::AddressSource;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

/// The metadata of an authorization server (RFC 8414, section 2).
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Url,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    // The value may be `null`, because some servers write that for a missing list.
    code_challenge_methods_supported: Option<Vec<String>>,
    /// Whether responses contain the issuer (RFC 9207).
    pub(super) authorization_response_iss_parameter_supported: Option<bool>,
    scopes_supported: Option<Vec<String>>,
}

/// The metadata of a protected resource (RFC 9728, section 2).
#[derive(Debug, Deserialize)]
struct Protected {
    resource: String,
    authorization_servers: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
}

/// The result of a discovery.
pub(super) struct Discovered {
    pub(super) metadata: Metadata,
    /// The scopes to request, separated by spaces.
    pub(super) scope: Option<String>,
    /// The parameter `resource`.
    pub(super) resource: String,
}

/// Returns the canonical URI of an MCP server (MCP 2025-06-18, "Canonical Server URI").
pub(super) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_fragment(None);
    let text = String::from(url);
    match text.strip_suffix('/') {
        Some(root) if server.path() == "/" && server.query().is_none() => root.to_owned(),
        _ => text,
    }
}

pub(super) async fn discover(http: &Http) -> Result<Discovered, OAuthError> {
    let server = &http.server;
    check(server)?;
    let challenge = challenge(http).await?;
    let protected = protected(http, challenge.resource_metadata.as_deref()).await?;
    let (issuer, resource, scopes) = if let Some(protected) = protected {
        let issuers = protected.authorization_servers.unwrap_or_default();
        let issuer = issuers.into_iter().next().ok_or(OAuthError::NoServer)?;
        let scopes = protected.scopes_supported.unwrap_or_default();
        (issuer, protected.resource, scopes)
    } else {
        // A server of MCP 2025-03-26 is its own authorization server.
        let origin = server.origin().ascii_serialization();
        (origin, canonical(server), Vec::new())
    };
    let metadata = metadata(http, &issuer).await?;
    let joined = (!scopes.is_empty()).then(|| scopes.join(" "));
    let scope = challenge.scope.or(joined);
    let offline = "offline_access";
    // OpenID Connect servers issue a refresh token only for this scope.
    let scopes = metadata.scopes_supported.iter().flatten();
    let is_offered = scopes.into_iter().any(|it| it == offline);
    let scope = scope.map(|scope| {
        let has = scope.split(' ').any(|it| it == offline);
        if is_offered && !has {
            format!("{scope} {offline}")
        } else {
            scope
        }
    });
    Ok(Discovered {
        metadata,
        scope,
        resource,
    })
}

async fn challenge(http: &Http) -> Result<Challenge, OAuthError> {
    let (status, headers) = http.probe(&http.server).await?;
    if status != 401 {
        return Ok(Challenge::default());
    }
    let lines = headers.get_all("www-authenticate").into_iter();
    let mut found = lines.filter_map(|line| bearer(line.to_str().ok()?));
    Ok(found.next().unwrap_or_default())
}

/// Reads the metadata of the resource. Returns `None` if there are none.
async fn protected(http: &Http, named: Option<&str>) -> Result<Option<Protected>, OAuthError> {
    let server = &http.server;
    let named = named.and_then(|url| server.join(url).ok());
    let name = "oauth-protected-resource";
    let candidates = named.into_iter().chain(well_known(server, name));
    let Some(found) = first::<Protected>(http, candidates).await? else {
        return Ok(None);
    };
    let resource = Url::parse(&found.resource).map_err(|_| OAuthError::OtherResource)?;
    // The metadata may describe the whole host, but not another host (RFC 9728, section 3.3).
    let (own, described) = (server.path(), resource.path().trim_end_matches('/'));
    let rest = own.strip_prefix(described);
    let contains = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if resource.origin() != server.origin() || !contains {
        return Err(OAuthError::OtherResource);
    }
    Ok(Some(found))
}

async fn metadata(http: &Http, issuer: &str) -> Result<Metadata, OAuthError> {
    let url = Url::parse(issuer).map_err(|_| OAuthError::NoServer)?;
    check(&url)?;
    let mut candidates = Vec::new();
    let has_path = url.path().trim_end_matches('/').len() > 1;
    for name in ["oauth-authorization-server", "openid-configuration"] {
        candidates.extend(well_known(&url, name).take(1));
    }
    if has_path {
        let mut appended = url.clone();
        let path = url.path().trim_end_matches('/');
        appended.set_path(&format!("{path}/.well-known/openid-configuration"));
        candidates.push(appended);
    }
    let found = first::<Metadata>(http, candidates.into_iter()).await?;
    let found = found.ok_or(OAuthError::NoMetadata)?;
    // The issuers must be equal (RFC 8414, section 3.3). A trailing slash is a common difference
    // and is ignored.
    if found.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
        return Err(OAuthError::OtherIssuer);
    }
    let methods = &found.code_challenge_methods_supported;
    if !methods.iter().flatten().any(|method| method == "S256") {
        return Err(OAuthError::NoPkce);
    }
    check(&found.authorization_endpoint)?;
    // Only the browser opens this address. It must still follow the rules for addresses that the gateway calls.
    http.outbound
        .check_url(AddressSource::Owner, &found.authorization_endpoint)?;
    check(&found.token_endpoint)?;
    Ok(found)
}

/// Returns the addresses of a well-known document: first with the path inserted, then without it.
fn well_known(url: &Url, name: &str) -> impl Iterator<Item = Url> + use<> {
    let path = url.path().trim_end_matches('/');
    let at = |path: &str| {
        let mut at = url.clone();
        at.set_query(None);
        at.set_fragment(None);
        at.set_path(&format!("/.well-known/{name}{path}"));
        at
    };
    let root = (!path.is_empty()).then(|| at(""));
    std::iter::once(at(path)).chain(root)
}

/// Returns the first candidate's document that can be parsed. Skips documents that are missing or have a different
/// form.
async fn first<T: for<'de> Deserialize<'de>>(
    http: &Http,
    candidates: impl Iterator<Item = Url>,
) -> Result<Option<T>, OAuthError> {
    let mut failure = None;
    for url in candidates {
        match http.get(&url).await {
            Ok(answer) if answer.status == 200 => {
                let read = |json: Value| serde_json::from_value(json).ok();
                if let Some(found) = answer.json.and_then(read) {
                    return Ok(Some(found));
                }
            }
            // These statuses do not mean that the document is absent.
            Ok(answer) if answer.status == 429 || answer.status >= 500 => {
                failure.get_or_insert(OAuthError::Status(answer.status));
            }
            Ok(_) => {}
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    failure.map_or(Ok(None), Err)
}

#[cfg(test)]
mod tests;
