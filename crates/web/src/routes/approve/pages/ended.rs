//! Pages for calls that no longer wait.

use crate::standalone::{END, Forms, Language, head, respond, time};
use axum::response::Response;
use gatehouse_services::{AnsweredThrough, Decision, LinkEnd};
use http::StatusCode;

/// Returns the page for a link that is unknown or whose call no longer waits.
pub(in super::super) fn gone(language: Language, end: Option<LinkEnd>) -> Response {
    let (title, text) = match end {
        Some(LinkEnd::Answered(decision)) => (
            language.say("Already answered", "Bereits beantwortet"),
            decided(language, decision),
        ),
        Some(LinkEnd::Expired(at)) => {
            let at = time(language, at);
            let text = match language {
                Language::English => {
                    format!("Nobody answered this call by {at}, so it did not run.")
                }
                Language::German => {
                    format!(
                        "Bis {at} hat niemand geantwortet, daher wurde der Aufruf nicht ausgeführt."
                    )
                }
            };
            (language.say("Expired", "Abgelaufen"), text)
        }
        Some(LinkEnd::Stopped) => {
            let text = language.say(
                "This call no longer waits for approval: it was answered, or it was stopped.",
                "Dieser Aufruf wartet nicht mehr auf eine Freigabe: Er wurde beantwortet oder abgebrochen.",
            );
            (
                language.say("No longer waiting", "Wartet nicht mehr"),
                text.to_owned(),
            )
        }
        None => {
            let text = language.say(
                "This call no longer waits for approval: it was answered, or it expired and did not run.",
                "Dieser Aufruf wartet nicht mehr auf eine Freigabe: Er wurde beantwortet, oder er ist abgelaufen und \
                 wurde nicht ausgeführt.",
            );
            (
                language.say("Nothing to approve", "Nichts freizugeben"),
                text.to_owned(),
            )
        }
    };
    let unchanged = language.say("Nothing was changed.", "Es wurde nichts geändert.");
    let page = format!("{}<p>{text} {unchanged}</p>\n{END}", head(language, title));
    let mut response = respond(page.into(), Forms::None);
    *response.status_mut() = if end.is_some() {
        StatusCode::GONE
    } else {
        StatusCode::NOT_FOUND
    };
    response
}

/// Returns when and how a call was answered, in HTML. The person is not named, because the link is not a login.
pub(super) fn decided(language: Language, decision: Decision) -> String {
    let at = time(language, decision.at);
    let through = match decision.through {
        None => "",
        Some(AnsweredThrough::Link) => language.say(" through a link", " über einen Link"),
        Some(AnsweredThrough::Chat) => language.say(
            " with a button in a chat",
            " über eine Schaltfläche in einem Chat",
        ),
        Some(AnsweredThrough::Api) => language.say(
            " in the web UI or through the API",
            " in der Weboberfläche oder über die API",
        ),
    };
    match language {
        Language::English => {
            let answer = if decision.allowed {
                "allowed"
            } else {
                "denied"
            };
            format!("This call was {answer}{through} at {at}.")
        }
        Language::German => {
            let answer = if decision.allowed {
                "erlaubt"
            } else {
                "abgelehnt"
            };
            format!("Dieser Aufruf wurde{through} {answer}: {at}.")
        }
    }
}
