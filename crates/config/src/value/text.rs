//! Validates texts and URLs against their rule.

use crate::host_and_port::host_and_port;
use crate::invalid_value::{InvalidValue, check_line, check_secret};
use crate::key::Rule;
use crate::section::voice::providers;
use crate::section::{
    audit::Syslog, database::DatabaseUrl, log, models, proxy, server::AllowedOrigin, tls,
};
use gatehouse_domain::{Cidr, Zone};
use serde_json::Value;
use std::net::SocketAddr;
use url::Url;

/// The maximum length of a text value.
const MAX_TEXT_BYTES: usize = 8192;

pub(super) fn text(rule: Rule, value: &Value) -> Result<String, InvalidValue> {
    let text = value
        .as_str()
        .ok_or_else(|| InvalidValue::new("expected a string"))?;
    if text.len() > MAX_TEXT_BYTES {
        return Err(InvalidValue::new(format!(
            "longer than {MAX_TEXT_BYTES} bytes"
        )));
    }
    match rule {
        Rule::Address => text
            .parse::<SocketAddr>()
            .map(|a| a.to_string())
            .map_err(|_| {
                InvalidValue::new("expected an IP address and a port, such as 127.0.0.1:8420")
            }),
        Rule::WebOrTcpUrl | Rule::BaseOrTcpUrl if is_tcp(text) => tcp_url(text),
        Rule::WebUrl | Rule::WebOrTcpUrl => {
            web_url(text).map(|url| url.as_str().trim_end_matches('/').to_owned())
        }
        Rule::BaseUrl | Rule::BaseOrTcpUrl => base_url(text),
        Rule::Origin => text
            .parse::<AllowedOrigin>()
            .map(|origin| origin.to_string()),
        Rule::Network => text
            .parse::<Cidr>()
            .map(|net| net.to_string())
            .map_err(|_| {
                InvalidValue::new("expected an IP address or a network, such as 10.0.0.0/8")
            }),
        Rule::HeaderName => proxy::check_header(text),
        Rule::OneOf(words) if words.contains(&text) => Ok(text.to_owned()),
        Rule::OneOf(words) => Err(InvalidValue::expected_one_of(words)),
        Rule::Provider(names) => providers::id_of(names, text).map(str::to_owned),
        Rule::File if text.is_empty() || text.contains('\0') => {
            Err(InvalidValue::new("expected a path"))
        }
        Rule::ModelPath => models::check_model_path(text),
        Rule::Zone => match text.parse::<Zone>() {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(InvalidValue::new(error.to_string())),
        },
        Rule::Cron => match text.parse::<croner::Cron>() {
            Ok(_) => Ok(text.to_owned()),
            Err(error) => Err(InvalidValue::new(format!(
                "expected a cron pattern, such as 30 3 * * *: {}",
                error.to_string().trim_end_matches('.')
            ))),
        },
        Rule::Line => check_line(text),
        Rule::DomainName => tls::check_domain(text),
        Rule::Email => tls::check_email(text),
        Rule::Argument | Rule::SecretArgument if text.contains('\0') => {
            Err(InvalidValue::new("expected a string without NUL"))
        }
        Rule::File | Rule::Argument | Rule::SecretArgument => Ok(text.to_owned()),
        Rule::Secret => check_secret(text),
        Rule::Syslog => text.parse::<Syslog>().map(|syslog| syslog.to_string()),
        Rule::LogFilter => log::check_filter(text),
        Rule::DatabaseUrl => text.parse::<DatabaseUrl>().map(|_| text.to_owned()),
    }
}

/// Parses an http or https URL with a host and without credentials, query or fragment.
pub(crate) fn web_url(text: &str) -> Result<Url, InvalidValue> {
    let wrong = || InvalidValue::new("expected a URL such as https://gatehouse.example.com");
    let url = Url::parse(text).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(InvalidValue::new(
            "the URL must not contain a user name or password",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(InvalidValue::new(
            "the URL must not have a query or fragment",
        ));
    }
    Ok(url)
}

/// Parses a base URL and returns it in the form that the vendor's SDK expects. Appends `/v1` if there is no path.
fn base_url(text: &str) -> Result<String, InvalidValue> {
    let url = web_url(text)?;
    let base = url.as_str().trim_end_matches('/');
    Ok(if url.path().trim_end_matches('/').is_empty() {
        format!("{base}/v1")
    } else {
        base.to_owned()
    })
}

fn is_tcp(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("tcp"))
}

/// Parses `tcp://host:port`.
fn tcp_url(text: &str) -> Result<String, InvalidValue> {
    let found = host_and_port(text);
    let wrong = || InvalidValue::new("expected a URL such as tcp://127.0.0.1:10200");
    let (host, port) = found.ok_or_else(wrong)?;
    Ok(format!("tcp://{host}:{port}"))
}
