//! `/docs`: the documents in `docs/`, embedded and rendered as pages without script. They describe the running
//! version and need no network.

mod chapters;
mod markdown;

use crate::pages::escape_attribute as escape;
use crate::respond::Refusal;
use axum::body::Body;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use gatehouse_domain::Problem;
use http::HeaderValue;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

const STYLE: &str = "\
:root{color-scheme:light dark;background:Canvas;color:CanvasText;font-family:system-ui,sans-serif;line-height:1.55}\
body{max-width:54rem;margin:1.5rem auto 4rem;padding:0 1rem}\
header{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;font-size:.9rem;padding-block-end:.6rem;border-block-end:1px solid #8886}\
h1{font-size:1.7rem;line-height:1.25}h2{font-size:1.3rem;margin-block-start:2.2rem}h3{font-size:1.08rem;margin-block-start:1.6rem}\
h1,h2,h3,p,li{overflow-wrap:anywhere}\
li{margin:.2rem 0}\
pre{overflow-x:auto;padding:.7rem .9rem;border-radius:.4rem;background:#8882}\
code{font-family:ui-monospace,monospace;font-size:.9em}\
div.wide{overflow-x:auto}\
table{border-collapse:collapse}\
th,td{padding:.25rem .6rem;border:1px solid #8886;text-align:start;vertical-align:top}\
";

/// The hash of `STYLE`; a test compares them.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-VF0/gLA1if4O8xOkTsdngekky2ex5j5VmIeWri+lkx4='; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// The table of contents.
pub(crate) async fn contents() -> Result<Response, Refusal> {
    page(chapters::CONTENTS)
}

/// One document.
pub(crate) async fn chapter(
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    page(&name)
}

fn page(name: &str) -> Result<Response, Refusal> {
    let chapter = chapters::find(name).ok_or_else(|| Problem::not_found("document"))?;
    let mut response = Response::new(Body::from(document(chapter)));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    Ok(response)
}

fn document(chapter: &chapters::Chapter) -> String {
    let rendered = markdown::render(chapter);
    let title = escape(&rendered.title);
    let body = rendered.html;
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} – Gatehouse {version}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><nav aria-label=\"Documentation\"><a href=\"/docs\">Documentation</a></nav>\
         <span>Gatehouse {version}</span><a href=\"/\">Back to the gateway</a></header>\n\
         <main>\n{body}</main>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_allows_this_style_alone() {
        let hash = BASE64.encode(&Sha256::digest(STYLE));
        let policy = POLICY.to_str().unwrap().to_owned();
        assert!(policy.contains(&format!("'sha256-{hash}'")), "{hash}");
        let contents = document(chapters::find(chapters::CONTENTS).unwrap());
        assert!(contents.contains(&format!("<style>{STYLE}</style>")));
    }
}
