//! `/share/{id}`: a shared session as a standalone page for anyone who has the link. The page has no
//! script, and shared content cannot become one: every text is escaped, agents' Markdown cannot contain
//! HTML, and the content security policy permits only the style below.

mod markdown;

use crate::app::App;
use crate::body::{self, Charged, Requester};
use crate::pages::escape_attribute as escape;
use crate::respond::Refusal;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use gatehouse_agents::{Role, SharedMessage, SharedSession};
use gatehouse_domain::{Problem, Timestamp};
use gatehouse_services::to_problem;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use std::fmt::Write as _;
use tokio::sync::Semaphore;

/// The number of pages rendered concurrently. Each takes a few megabytes.
static PAGES: Semaphore = Semaphore::const_new(4);

const STYLE: &str = "\
:root{color-scheme:light dark;background:Canvas;color:CanvasText;font-family:system-ui,sans-serif;line-height:1.5}\
body{max-width:46rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem;overflow-wrap:anywhere}\
article{margin:1.2rem 0;padding:.8rem 1rem;border:1px solid #8886;border-radius:.6rem;overflow:auto;overflow-wrap:anywhere}\
article.user{background:#8881}\
h2{font-size:.85rem;margin:0 0 .4rem;opacity:.75}\
p{margin:.6rem 0}\
div>:first-child{margin-top:0}div>:last-child{margin-bottom:0}\
.plain{white-space:pre-wrap;margin:0}\
h3,h4,h5,h6{font-size:1rem;margin:1rem 0 .4rem}\
pre{overflow-x:auto}\
code{font-family:ui-monospace,monospace;font-size:.9em}\
pre{padding:.6rem .8rem;border-radius:.4rem;background:#8882}\
blockquote{margin:.6rem 0;padding-inline-start:.8rem;border-inline-start:3px solid #8886}\
.wide{overflow-x:auto}\
table{overflow-wrap:normal;border-collapse:collapse}\
th,td{padding:.2rem .6rem;border:1px solid #8886;text-align:start}\
h2 time{font-weight:400}\
footer,.note{font-size:.85rem;opacity:.75}\
";

/// The hash of `STYLE`; a test compares them.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-r5Ui/976t1UdG/DP+MXnkx3+l0Qt3vQcZLdaOmiUDsE='; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);

/// Every id costs one lookup. Unknown and revoked ids get the same response.
pub(super) async fn get(
    State(app): State<App>,
    requester: Requester,
    headers: HeaderMap,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let id = id.map(|Path(id)| id).unwrap_or_default();
    // Rendering a page may take much memory, so limit the concurrency.
    let _turn = PAGES.acquire().await.map_err(|_| Problem::internal())?;
    let shared = app.services().agents.shared_session(&id).await;
    let shared = shared.map_err(to_problem)?;
    let Some(shared) = shared else {
        if accepts_html(&headers) {
            return Ok(no_share());
        }
        return Err(Problem::not_found("share").into());
    };
    let page = page(&shared);
    drop(shared);
    let mut share = app.share(&requester.context);
    if !share.grow(page.capacity()) {
        return Err(body::no_room().into());
    }
    Ok(respond(Charged::bytes(page, share)))
}

fn accepts_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// The page for an unknown or revoked id.
fn no_share() -> Response {
    let mut page = head("Link not found");
    page.push_str(
        "<p>This conversation is no longer shared, or the link is wrong. Ask the person who sent you the \
         link for a new one.</p>\n</main>\n</body>\n</html>\n",
    );
    let mut response = respond(page.into());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn respond(page: Bytes) -> Response {
    let mut response = Response::new(Body::from(page));
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    // A cached copy would outlive a revoked share.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(
        "x-robots-tag",
        HeaderValue::from_static("noindex, nofollow, noarchive"),
    );
    response
}

/// The document up to its heading.
fn head(title: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex, nofollow, noarchive\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1 dir=\"auto\">{title}</h1>\n"
    )
}

fn page(shared: &SharedSession) -> String {
    let mut page = head(&shared.title);
    if shared.is_cut {
        page.push_str("<p class=\"note\">Earlier messages are not shown.</p>\n");
    }
    for message in &shared.messages {
        write_message(&mut page, message);
    }
    let at = time(shared.shared_at);
    let _ = write!(
        page,
        "</main>\n<footer>A conversation as it was at {at}, shared read-only with Gatehouse.</footer>\n\
         </body>\n</html>\n"
    );
    page
}

fn write_message(page: &mut String, message: &SharedMessage) {
    let (class, who) = match message.role {
        Role::User => ("user", "User"),
        _ => ("assistant", "Assistant"),
    };
    let at = time(message.at);
    let _ = writeln!(page, "<article class=\"{class}\">\n<h2>{who} {at}</h2>");
    let _ = match (&message.text, message.role) {
        (Some(text), Role::Assistant) => {
            let markup = markdown::html(text);
            writeln!(page, "<div dir=\"auto\">\n{markup}</div>")
        }
        (Some(text), _) => writeln!(page, "<p class=\"plain\" dir=\"auto\">{}</p>", escape(text)),
        (None, _) => writeln!(
            page,
            "<p class=\"note\">A webhook delivery, which is not shown.</p>"
        ),
    };
    page.push_str("</article>\n");
}

/// Formats the time to the minute in UTC. The page has no script that could convert it to local time.
fn time(at: Timestamp) -> String {
    let exact = at.to_string();
    let minute = exact.get(..16).unwrap_or(&exact).replace('T', " ");
    format!("<time datetime=\"{exact}\">{minute} UTC</time>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64;
    use sha2::{Digest, Sha256};

    fn shared(text: Option<&str>) -> SharedSession {
        let at = Timestamp::from_millis(0);
        SharedSession {
            title: "<b>\"title\"</b>".to_owned(),
            shared_at: at,
            messages: vec![SharedMessage {
                role: Role::Assistant,
                text: text.map(str::to_owned),
                at,
            }],
            is_cut: true,
        }
    }

    #[test]
    fn the_policy_allows_this_style_alone() {
        let hash = BASE64.encode(&Sha256::digest(STYLE));
        let policy = POLICY.to_str().unwrap().to_owned();
        assert!(policy.contains(&format!("'sha256-{hash}'")), "{hash}");
        assert!(page(&shared(None)).contains(&format!("<style>{STYLE}</style>")));
    }

    #[test]
    fn no_text_becomes_markup() {
        let page = page(&shared(Some("</p><script>alert('x')</script>&amp;")));
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
        assert!(
            page.contains("&lt;script&gt;alert('x')&lt;/script&gt;"),
            "{page}"
        );
        assert!(page.contains("&lt;b&gt;&quot;title&quot;&lt;/b&gt;"));
        assert!(page.contains("name=\"robots\" content=\"noindex"));
    }

    #[test]
    fn what_is_left_out_is_said() {
        let page = page(&shared(None));
        assert!(page.contains("A webhook delivery") && page.contains("Earlier messages"));
        assert!(
            page.contains(
                "<time datetime=\"1970-01-01T00:00:00.000Z\">1970-01-01 00:00 UTC</time>"
            )
        );
    }
}
