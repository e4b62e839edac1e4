//! Parses the address of a service without an HTTP URL.

use url::Url;

/// Parses `scheme://host:port` of a scheme that is not a web scheme. Normalizes the host as in an HTTP URL, because
/// the URL parser recognizes IP addresses and changes the case only for web schemes.
pub(crate) fn host_and_port(text: &str) -> Option<(String, u16)> {
    let url = Url::parse(text).ok()?;
    let is_bare = matches!(url.path(), "" | "/")
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let (Some(host), Some(port), true) = (url.host_str(), url.port(), is_bare) else {
        return None;
    };
    let url = Url::parse(&format!("http://{host}:{port}")).ok()?;
    Some((url.host_str()?.to_owned(), port))
}
