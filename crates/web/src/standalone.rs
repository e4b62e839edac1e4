//! Pages without a script: shared sessions, links to approvals and the documents. Their texts may be untrusted, so each
//! is escaped, and the content security policy permits only the style below.

mod language;

pub(crate) use language::Language;

use crate::pages::{escape_attribute as escape, typeface};
use axum::body::{Body, Bytes};
use axum::response::Response;
use data_encoding::BASE64;
use gatehouse_domain::Timestamp;
use http::header::{
    ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    VARY,
};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::sync::LazyLock;

/// The style of all pages. Uses the web UI's typeface, unless this build has none.
static STYLE: LazyLock<String> = LazyLock::new(|| {
    let rules = include_str!("standalone/style.css");
    typeface().map_or_else(
        || rules.to_owned(),
        |path| {
            format!(
                "@font-face{{font-family:'Gatehouse Sans';font-weight:400 600;font-display:fallback;\
                 src:url('/{path}') format('woff2')}}\n{rules}"
            )
        },
    )
});

static READ_ONLY: LazyLock<HeaderValue> = LazyLock::new(|| policy("'none'"));
static WITH_FORM: LazyLock<HeaderValue> = LazyLock::new(|| policy("'self'"));

/// Returns a policy that permits no script and only this style.
fn policy(form_action: &str) -> HeaderValue {
    let hash = BASE64.encode(&Sha256::digest(&*STYLE));
    let text = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; font-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action {form_action}; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

/// The logo of the product, the same as in the web UI (`ui/src/design/Gate.svelte`).
const MARK: &str = "<svg viewBox=\"0 0 64 64\" width=\"28\" height=\"28\" aria-hidden=\"true\">\
    <rect width=\"64\" height=\"64\" rx=\"15\" fill=\"#1d4a40\"/>\
    <path d=\"M11 53V15h9v6h7v-6h10v6h7v-6h9v38H43V39a11 11 0 0 0-22 0v14z\" fill=\"#f3f0e7\"/>\
    <path d=\"M26.5 30.5v12M32 28.5v14M37.5 30.5v12M22.5 35.5h19\" fill=\"none\" stroke=\"#c9a04a\" \
    stroke-width=\"2.6\" stroke-linecap=\"round\"/></svg>";

/// Whether the page may submit a form to this server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    None,
    Own,
}

/// Returns the document up to the start of its body.
pub(crate) fn begin(language: Language, title: &str) -> String {
    let (title, tag, style) = (escape(title), language.tag(), &*STYLE);
    format!(
        "<!doctype html>\n<html lang=\"{tag}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"icon\" type=\"image/svg+xml\" href=\"/favicon.ico\">\n\
         <style>{style}</style>\n</head>\n<body>\n"
    )
}

/// Returns the logo and the name of the product, for a header.
pub(crate) fn brand() -> String {
    format!("<span class=\"brand\">{MARK}Gatehouse</span>")
}

/// Returns the document up to its heading.
pub(crate) fn head(language: Language, title: &str) -> String {
    let heading = escape(title);
    let begin = begin(language, &format!("{title} · Gatehouse"));
    let brand = brand();
    format!("{begin}<header>{brand}</header>\n<main>\n<h1 dir=\"auto\">{heading}</h1>\n")
}

/// Returns a page with one paragraph, such as a refusal.
pub(crate) fn notice(language: Language, title: &str, text: &str) -> Bytes {
    let (head, text) = (head(language, title), escape(text));
    format!("{head}<p>{text}</p>\n{END}").into()
}

/// Returns whether the caller is a browser that opens a page. Such a caller cannot show JSON to a
/// person.
pub(crate) fn accepts_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// The end of a document without a footer.
pub(crate) const END: &str = "</main>\n</body>\n</html>\n";

pub(crate) fn respond(page: Bytes, forms: Forms) -> Response {
    let mut response = Response::new(Body::from(page));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    // A cached copy would outlive a revoked link.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let policy = match forms {
        Forms::None => READ_ONLY.clone(),
        Forms::Own => WITH_FORM.clone(),
    };
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    if forms == Forms::Own {
        // With the usual `no-referrer`, browsers send the form with `Origin: null`, which the gate refuses
        // (<https://fetch.spec.whatwg.org/#append-a-request-origin-header>).
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    }
    headers.insert(VARY, HeaderValue::from(ACCEPT_LANGUAGE));
    headers.insert(
        "x-robots-tag",
        HeaderValue::from_static("noindex, nofollow, noarchive"),
    );
    response
}

/// Formats the time to the minute in UTC. The page has no script that could convert it to local time.
pub(crate) fn time(language: Language, at: Timestamp) -> String {
    let exact = at.to_string();
    let part = |range: Range<usize>| exact.get(range).unwrap_or_default();
    let (year, month, day, clock) = (part(0..4), part(5..7), part(8..10), part(11..16));
    let shown = match language {
        Language::English => format!("{year}-{month}-{day} {clock} UTC"),
        Language::German => format!("{day}.{month}.{year}, {clock} UTC"),
    };
    format!("<time datetime=\"{exact}\">{shown}</time>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policies_allow_this_style_alone() {
        let hash = BASE64.encode(&Sha256::digest(&*STYLE));
        let page = respond(head(Language::German, "<x>").into(), Forms::Own);
        let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains(&format!("style-src 'sha256-{hash}';")));
        assert!(policy.contains("form-action 'self'") && !policy.contains("script-src"));
        assert_eq!(page.headers()[REFERRER_POLICY], "same-origin");
        assert!(READ_ONLY.to_str().unwrap().contains("form-action 'none'"));
        let document = head(Language::German, "<x>");
        assert!(document.contains(&format!("<style>{}</style>", *STYLE)));
        assert!(document.contains("<html lang=\"de\">") && document.contains("&lt;x&gt;"));
        assert!(!document.contains("style=\"") && !document.contains("<x>"));
    }

    #[test]
    fn times_are_written_as_in_the_language() {
        let at = Timestamp::from_millis(0);
        let shown = |language| time(language, at);
        assert!(shown(Language::English).ends_with(">1970-01-01 00:00 UTC</time>"));
        assert!(shown(Language::German).ends_with(">01.01.1970, 00:00 UTC</time>"));
    }
}
