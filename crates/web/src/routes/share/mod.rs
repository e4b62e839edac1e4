//! `/share/{id}`: a shared session as a standalone page for anyone who has the link. Agents' Markdown cannot
//! contain HTML.

mod markdown;

use crate::app::App;
use crate::body::{self, Charged, Requester};
use crate::pages::escape_attribute as escape;
use crate::respond::Refusal;
use crate::standalone::{Forms, Language, accepts_html, head, notice, respond, time};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use gatehouse_agents::{Role, SharedMessage, SharedSession};
use gatehouse_domain::Problem;
use gatehouse_services::to_problem;
use http::{HeaderMap, StatusCode};
use std::fmt::Write as _;
use tokio::sync::Semaphore;

/// The number of pages rendered concurrently. Each takes a few megabytes.
static PAGES: Semaphore = Semaphore::const_new(4);

/// Returns the page. Every ID causes one lookup. Unknown and revoked IDs get the same response.
pub(super) async fn get(
    State(app): State<App>,
    requester: Requester,
    headers: HeaderMap,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let id = id.map(|Path(id)| id).unwrap_or_default();
    // The concurrency is limited, because rendering a page may take much memory.
    let _turn = PAGES.acquire().await.map_err(|_| Problem::internal())?;
    let shared = app.services().agents.shared_session(&id).await;
    let shared = shared.map_err(to_problem)?;
    let Some(shared) = shared else {
        if accepts_html(&headers) {
            return Ok(no_share(Language::of(&headers)));
        }
        return Err(Problem::not_found("share").into());
    };
    let page = page(Language::of(&headers), &shared);
    drop(shared);
    let mut share = app.share(&requester.context);
    if !share.grow(page.capacity()) {
        return Err(body::no_room().into());
    }
    Ok(respond(Charged::bytes(page, share), Forms::None))
}

/// Returns the page for an unknown or revoked ID.
fn no_share(language: Language) -> Response {
    let title = language.say("Link not found", "Link nicht gefunden");
    let text = language.say(
        "This conversation is no longer shared, or the link is wrong. Ask the person who sent you the link for a \
         new one.",
        "Diese Unterhaltung wird nicht mehr geteilt, oder der Link ist falsch. Bitten Sie die Person, von der Sie \
         den Link haben, um einen neuen.",
    );
    let mut response = respond(notice(language, title, text), Forms::None);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn page(language: Language, shared: &SharedSession) -> String {
    let mut page = head(language, &shared.title);
    let at = time(language, shared.shared_at);
    let what = language.say(
        "A conversation with an agent, as it was at",
        "Eine Unterhaltung mit einem Agenten, Stand",
    );
    let _ = writeln!(page, "<p class=\"note\">{what} {at}.</p>");
    if shared.is_cut {
        let cut = language.say(
            "Earlier messages are not shown.",
            "Frühere Nachrichten werden nicht angezeigt.",
        );
        let _ = writeln!(page, "<p class=\"note\">{cut}</p>");
    }
    for message in &shared.messages {
        write_message(language, &mut page, message);
    }
    let how = language.say(
        "Shared read-only with Gatehouse. Anyone with the link can read it.",
        "Mit Gatehouse nur zum Lesen geteilt. Jede Person mit dem Link kann die Unterhaltung lesen.",
    );
    let _ = write!(page, "</main>\n<footer>{how}</footer>\n</body>\n</html>\n");
    page
}

fn write_message(language: Language, page: &mut String, message: &SharedMessage) {
    let (class, who) = match message.role {
        Role::User => ("user", language.say("User", "Person")),
        _ => ("assistant", language.say("Assistant", "Agent")),
    };
    let at = time(language, message.at);
    let _ = writeln!(page, "<article class=\"{class}\">\n<h2>{who} {at}</h2>");
    let _ = match (&message.text, message.role) {
        (Some(text), Role::Assistant) => {
            let markup = markdown::html(text);
            writeln!(page, "<div dir=\"auto\">\n{markup}</div>")
        }
        (Some(text), _) => writeln!(page, "<p class=\"plain\" dir=\"auto\">{}</p>", escape(text)),
        (None, _) => {
            let hidden = language.say(
                "A webhook delivery, which is not shown.",
                "Eine Webhook-Zustellung, die nicht angezeigt wird.",
            );
            writeln!(page, "<p class=\"note\">{hidden}</p>")
        }
    };
    page.push_str("</article>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;

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
    fn no_text_becomes_markup() {
        let page = page(
            Language::English,
            &shared(Some("</p><script>alert('x')</script>&amp;")),
        );
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
        assert!(
            page.contains("&lt;script&gt;alert('x')&lt;/script&gt;"),
            "{page}"
        );
        assert!(page.contains("&lt;b&gt;&quot;title&quot;&lt;/b&gt;"));
    }

    #[test]
    fn what_is_left_out_is_said() {
        let german = page(Language::German, &shared(None));
        assert!(german.contains("Eine Webhook-Zustellung") && german.contains("Frühere"));
        let page = page(Language::English, &shared(None));
        assert!(page.contains("A webhook delivery") && page.contains("Earlier messages"));
        assert!(
            page.contains(
                "<time datetime=\"1970-01-01T00:00:00.000Z\">1970-01-01 00:00 UTC</time>"
            )
        );
    }
}
