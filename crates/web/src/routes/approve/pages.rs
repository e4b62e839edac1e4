//! The pages of `/approve/{token}` for people who have only the link.

mod ended;

use crate::pages::escape_attribute as escape;
use crate::standalone::{END, Forms, Language, head, notice, respond, time};
use axum::body::Bytes;
use axum::response::Response;
pub(super) use ended::gone;
use gatehouse_agents::{Approval, AskReason, AskingConversation, Source};
use http::StatusCode;
use std::fmt::Write as _;

/// Returns the call and its buttons. With `denies`, the button that denies the call comes first.
pub(super) fn question(language: Language, asked: &Approval, denies: bool) -> String {
    let title = language.say("Allow this call?", "Diesen Aufruf erlauben?");
    let mut page = head(language, title);
    let agent = escape(&asked.agent);
    let tool = format!("<code>{}</code>", escape(&asked.shown.tool));
    let asks = match language {
        Language::English => {
            format!("The agent {agent} asks to call the tool {tool} with these arguments:")
        }
        Language::German => {
            format!("Der Agent {agent} möchte das Tool {tool} mit diesen Argumenten aufrufen:")
        }
    };
    let arguments = escape(&asked.shown.arguments);
    let _ = writeln!(page, "<p>{asks}</p>\n<pre><code>{arguments}</code></pre>");
    if asked.shown.hidden > 0 {
        let what = language.say(
            "characters that hide or reorder text are shown as escapes.",
            "Zeichen, die Text verbergen oder umordnen, werden als Escapes angezeigt.",
        );
        let _ = writeln!(page, "<p class=\"note\">{} {what}</p>", asked.shown.hidden);
    }
    if asked.reason == AskReason::Tainted {
        let why = language.say(
            "The agent has read text that anyone could have written. It may have caused this call.",
            "Der Agent hat Text gelesen, den jeder geschrieben haben kann. Er kann diesen Aufruf verursacht haben.",
        );
        let _ = writeln!(page, "<p class=\"note\">{why}</p>");
    }
    if let Some(conversation) = &asked.conversation {
        let start = started(language, conversation);
        let (label, id) = (escape(&conversation.label), escape(asked.short_session()));
        let _ = writeln!(
            page,
            "<p class=\"note\">{start} <bdi>{label}</bdi> (ID …{id})</p>"
        );
    }
    page.push_str(&buttons(language, denies));
    let until = time(language, asked.expires_at);
    let (before, after) = match language {
        Language::English => ("Without an answer by", "the call does not run."),
        Language::German => ("Ohne Antwort bis", "wird der Aufruf nicht ausgeführt."),
    };
    let always = language.say(
        "This link answers only this call. To allow more calls with one answer, log in to the \
         <a href=\"/\">web UI</a>.",
        "Dieser Link beantwortet nur diesen Aufruf. Um mit einer Antwort weitere Aufrufe zu erlauben, melden Sie sich \
         in der <a href=\"/\">Weboberfläche</a> an.",
    );
    let _ = write!(
        page,
        "<p class=\"note\">{before} {until} {after} {always}</p>\n{END}"
    );
    page
}

/// Returns the text before the label of a call's conversation, as HTML.
fn started(language: Language, conversation: &AskingConversation) -> String {
    let from = conversation.from.as_deref().map(escape);
    let named = |english: &str, german: &str, from: String| {
        let start = language.say(english, german);
        format!("{start} <bdi>{from}</bdi>:")
    };
    let words = match (conversation.source, from) {
        (Source::User, _) => language.say(
            "The conversation, started in the web UI or through the API:",
            "Die Unterhaltung, begonnen in der Weboberfläche oder über die API:",
        ),
        (Source::Webhook, Some(name)) => {
            let english = "The conversation, started by the webhook";
            return named(english, "Die Unterhaltung, begonnen vom Webhook", name);
        }
        (Source::Webhook, None) => language.say(
            "The conversation, started by a webhook:",
            "Die Unterhaltung, begonnen von einem Webhook:",
        ),
        (Source::Channel, Some(person)) => {
            let english = "The conversation, started by a message from";
            let german = "Die Unterhaltung, begonnen von einer Nachricht von";
            return named(english, german, person);
        }
        (Source::Channel, None) => language.say(
            "The conversation, started by a message to a channel:",
            "Die Unterhaltung, begonnen von einer Nachricht an einen Kanal:",
        ),
        (Source::Api, _) => language.say(
            "The conversation, a request to the OpenAI-compatible API:",
            "Die Unterhaltung, eine Anfrage an die OpenAI-kompatible API:",
        ),
    };
    words.to_owned()
}

fn buttons(language: Language, denies: bool) -> String {
    let mut answers = [
        ("allow", language.say("Allow", "Erlauben")),
        ("deny", language.say("Deny", "Ablehnen")),
    ];
    if denies {
        answers.reverse();
    }
    let form = |(answer, label): (&str, &str)| {
        format!(
            "<form method=\"post\" action=\"?answer={answer}\"><button>{label}</button></form>\n"
        )
    };
    answers.into_iter().map(form).collect()
}

/// Returns the page after an answer.
pub(super) fn answered(language: Language, asked: &Approval, allow: bool) -> Bytes {
    let tool = &asked.shown.tool;
    let (title, text) = match (language, allow) {
        (Language::English, true) => (
            "Allowed",
            format!("The call of {tool} runs now. You can close this page."),
        ),
        (Language::English, false) => (
            "Denied",
            format!("The call of {tool} does not run. You can close this page."),
        ),
        (Language::German, true) => (
            "Erlaubt",
            format!("Der Aufruf von {tool} läuft jetzt. Sie können diese Seite schließen."),
        ),
        (Language::German, false) => (
            "Abgelehnt",
            format!(
                "Der Aufruf von {tool} wird nicht ausgeführt. Sie können diese Seite schließen."
            ),
        ),
    };
    notice(language, title, &text)
}

/// Returns the page after an answer through a link that needs a login. A link needs one if `approvals.links` was
/// changed, for example.
pub(super) fn needs_login(language: Language) -> Response {
    let title = language.say("Log in to answer", "Zum Antworten anmelden");
    let text = language.say(
        "This link answers a call only after a login. Nothing was changed. Open the link again to log in.",
        "Dieser Link beantwortet einen Aufruf nur nach einer Anmeldung. Es wurde nichts geändert. Öffnen Sie den Link \
         erneut, um sich anzumelden.",
    );
    let mut response = respond(notice(language, title, text), Forms::None);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

#[cfg(test)]
mod tests;
