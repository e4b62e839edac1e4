//! The text of a message about a tool call that waits for approval.

use crate::chat_approvals::{UNANSWERED, asked_in, notes, second};
use gatehouse_agents::Approval;
use gatehouse_channels::Markup;
use gatehouse_domain::Timestamp;
use std::time::Duration;

/// Longer arguments are truncated in a message. The page of the link shows all of them.
const MAX_ARGUMENT_CHARS: usize = 1_500;

/// Returns the message about a call at a given time, with the link to its page at the end.
pub(crate) fn message_text(
    asked: &Approval,
    markup: Markup,
    (at, link): (Timestamp, Option<&str>),
) -> String {
    let shown = &asked.shown;
    let mut characters = shown.arguments.char_indices();
    let end = characters.nth(MAX_ARGUMENT_CHARS).map(|(at, _)| at);
    let (kept, cut) = match end.and_then(|end| shown.arguments.get(..end)) {
        Some(kept) => {
            let whole = if link.is_some() { "link" } else { "web UI" };
            let note = format!(
                "…\n\nThe arguments are too long for this message. The {whole} shows all of them."
            );
            (kept, note)
        }
        None => (shown.arguments.as_str(), String::new()),
    };
    let answer = match link {
        Some(link) => format!("Read and answer it: {link}"),
        None => "Read and answer it in the web UI.".to_owned(),
    };
    let (tool, arguments) = (markup.exact(&shown.tool), markup.exact(kept));
    let hidden = shown.hidden + tool.hidden + arguments.hidden;
    let conversation = asked_in(asked, |text| {
        let exact = markup.exact(text);
        markup.escape(&exact.text).into_owned()
    });
    format!(
        "The agent {} asks for approval of the tool {}:\n\n{}{cut}{}{}\n\nAnswer until {}, {} after the call. \
         {UNANSWERED}\n{answer}",
        markup.escape(&asked.agent),
        markup.escape(&tool.text),
        markup.escape(&arguments.text),
        notes(hidden, asked.reason),
        conversation,
        second(asked.expires_at),
        in_words(at.until(asked.expires_at)),
    )
}

/// Returns a duration in words, such as `5 minutes`. It is rounded, because the message is written a moment after
/// the call: to ten seconds from 50 seconds on, otherwise to one second.
pub(super) fn in_words(duration: Duration) -> String {
    let step = if duration < Duration::from_secs(50) {
        1
    } else {
        10
    };
    let half = Duration::from_millis(step * 500);
    let seconds = duration.saturating_add(half).as_secs() / step * step;
    let units = [
        (seconds / 3_600, "hour"),
        (seconds / 60 % 60, "minute"),
        (seconds % 60, "second"),
    ];
    let mut words = Vec::new();
    for (count, unit) in units {
        match count {
            0 => {}
            1 => words.push(format!("1 {unit}")),
            count => words.push(format!("{count} {unit}s")),
        }
    }
    if words.is_empty() {
        return "0 seconds".to_owned();
    }
    words.join(" ")
}
