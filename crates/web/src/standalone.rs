//! Pages without a script: shared sessions, links to approvals and the documents. Texts on them may come from
//! strangers, so each is escaped, and the content security policy permits only the style below.

use crate::pages::escape_attribute as escape;
use axum::body::{Body, Bytes};
use axum::response::Response;
use gatehouse_domain::Timestamp;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};

const STYLE: &str = "\
:root{color-scheme:light dark;background:Canvas;color:CanvasText;font-family:system-ui,sans-serif;line-height:1.5}\
body{max-width:50rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}\
header{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.9rem;padding-block-end:.6rem;border-block-end:1px solid #8886}\
h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.25rem;margin-block-start:2rem}h3{font-size:1.1rem}\
article{margin:1.2rem 0;padding:.8rem 1rem;border:1px solid #8886;border-radius:.6rem;overflow:auto}\
article.user{background:#8881}\
article h2{font-size:.85rem;margin:0 0 .4rem;opacity:.75}\
article h2 time{font-weight:400}\
article h3,h4,h5,h6{font-size:1rem;margin:1rem 0 .4rem}\
p{margin:.6rem 0}li{margin:.2rem 0}\
div>:first-child{margin-top:0}div>:last-child{margin-bottom:0}\
.plain{white-space:pre-wrap;margin:0}\
code{font-family:ui-monospace,monospace;font-size:.9em}\
pre{overflow-x:auto;overflow-wrap:normal;padding:.6rem .8rem;border-radius:.4rem;background:#8882}\
blockquote{margin:.6rem 0;padding-inline-start:.8rem;border-inline-start:3px solid #8886}\
.wide{overflow-x:auto}\
table{overflow-wrap:normal;border-collapse:collapse}\
th,td{padding:.2rem .6rem;border:1px solid #8886;text-align:start;vertical-align:top}\
footer,.note{font-size:.85rem;opacity:.75}\
form{display:inline-block;margin:0 .6rem 0 0}\
button{font:inherit;padding:.5rem 1.4rem;border:1px solid #8888;border-radius:.4rem;cursor:pointer}\
";

/// The policies contain the hash of `STYLE`; a test compares them.
const READ_ONLY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-LJdYB0CgWiGKRDBSxSnEv5rA2/jMqX9PSvz1I3AdkL4='; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);
const WITH_FORM: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-LJdYB0CgWiGKRDBSxSnEv5rA2/jMqX9PSvz1I3AdkL4='; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'",
);

/// Whether the page may submit a form to this server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    None,
    Own,
}

/// The document up to the start of its body.
pub(crate) fn begin(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    )
}

/// The document up to its heading, which is its title.
pub(crate) fn head(title: &str) -> String {
    let heading = escape(title);
    format!("{}<main>\n<h1 dir=\"auto\">{heading}</h1>\n", begin(title))
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
        Forms::None => READ_ONLY,
        Forms::Own => WITH_FORM,
    };
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(
        "x-robots-tag",
        HeaderValue::from_static("noindex, nofollow, noarchive"),
    );
    response
}

/// Formats the time to the minute in UTC. The page has no script that could convert it to local time.
pub(crate) fn time(at: Timestamp) -> String {
    let exact = at.to_string();
    let minute = exact.get(..16).unwrap_or(&exact).replace('T', " ");
    format!("<time datetime=\"{exact}\">{minute} UTC</time>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policies_allow_this_style_alone() {
        let hash = BASE64.encode(&Sha256::digest(STYLE));
        for policy in [READ_ONLY, WITH_FORM] {
            let policy = policy.to_str().unwrap().to_owned();
            assert!(policy.contains(&format!("'sha256-{hash}'")), "{hash}");
        }
        assert!(begin("x").contains(&format!("<style>{STYLE}</style>")));
    }
}
