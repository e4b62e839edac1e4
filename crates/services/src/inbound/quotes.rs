//! The content that the agent gets of an earlier message that a person quotes. If the person or the agent wrote the
//! quoted text in the same session, it becomes lines of the text. Any other text becomes a file of the message,
//! which is marked as data and taints the session. Untrusted text is then not an instruction of the person who
//! quotes it.

use super::Inbound;
use super::content::Content;
use gatehouse_agents::NewAttachment;
use gatehouse_channels::{
    InboundAccount, Quote, QuotedAuthor, ReceivedQuote, quote_of, session_key,
};
use gatehouse_store::ReceivedMessageRow;
use std::time::Duration;

/// How long the vendor may take to return a quoted message.
const FETCH_TIME: Duration = Duration::from_secs(10);
/// Maximum number of files of a message.
const MAX_FILES: usize = 10;
const OWN: &str = "[Quotes an earlier message of the same person:]";
const AGENTS: &str = "[Quotes an earlier answer of yours:]";
const NOT_READ: &str = "(Not read: the quoted message)";

impl Inbound {
    /// Adds the quoted message, if there is one. If it cannot be read, adds a line about that after the text.
    pub(super) async fn add_quote(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
        content: &mut Content,
    ) {
        let quote = match quote_of(message) {
            None => return,
            Some(ReceivedQuote::Message(quote)) => Some(quote),
            Some(ReceivedQuote::Id(id)) => self.fetch_quote(account, message, &id).await,
        };
        let Some(quote) = quote else {
            content.add(NOT_READ);
            return;
        };
        let words = match quote.by {
            QuotedAuthor::Person => Some(OWN),
            QuotedAuthor::Bot if self.is_answer(message, &quote).await => Some(AGENTS),
            QuotedAuthor::Bot | QuotedAuthor::Other => None,
        };
        add(content, &quote, words);
    }

    async fn fetch_quote(
        &self,
        account: &InboundAccount,
        message: &ReceivedMessageRow,
        id: &str,
    ) -> Option<Quote> {
        let place = (&*message.chat, &*message.person);
        let fetching = self.services.channels.fetch_quote(&account.id, place, id);
        match tokio::time::timeout(FETCH_TIME, fetching).await {
            Ok(Ok(quote)) => quote,
            Ok(Err(error)) => {
                tracing::warn!(account = account.id, %error, "a quoted message was not fetched");
                None
            }
            Err(_) => {
                tracing::warn!(
                    account = account.id,
                    "a quoted message was not fetched in time"
                );
                None
            }
        }
    }

    /// Returns whether the agent wrote the quoted text in the session of the message. The account also sends texts
    /// of other authors.
    async fn is_answer(&self, message: &ReceivedMessageRow, quote: &Quote) -> bool {
        let key = session_key(message);
        let answered = self.services.agents.has_answered(&key, &quote.text);
        answered.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the answers of a session could not be read");
            false
        })
    }
}

/// Adds a quote as lines after `words`. Without `words`, adds it as a file.
fn add(content: &mut Content, quote: &Quote, words: Option<&str>) {
    match words {
        Some(words) => content.lead(&lines(words, &quote.text)),
        None if content.files.len() < MAX_FILES => content.files.push(file(quote)),
        None => content.add(NOT_READ),
    }
}

/// Returns the quoted text as lines that begin with `>`.
fn lines(words: &str, text: &str) -> String {
    let lines = text.lines().map(|line| format!("\n> {line}"));
    format!("{words}{}", lines.collect::<String>())
}

fn file(quote: &Quote) -> NewAttachment {
    let name = match (quote.by, quote.name.as_str()) {
        (QuotedAuthor::Bot, _) => "Quoted message of the bot.txt".to_owned(),
        (_, "") => "Quoted message.txt".to_owned(),
        (_, name) => format!("Quoted message of {}.txt", name.replace(['/', '\\'], "_")),
    };
    NewAttachment {
        name,
        media_type: "text/plain",
        pixels: None,
        text: Some(quote.text.clone()),
        picture: None,
        data: quote.text.clone().into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_one_of_ten_files_or_is_not_read() {
        let quote = Quote {
            by: QuotedAuthor::Other,
            name: "Eve".to_owned(),
            text: "hi".to_owned(),
        };
        let with = |files: usize| {
            let mut content = Content {
                text: "look".to_owned(),
                files: vec![file(&quote); files],
            };
            add(&mut content, &quote, None);
            (content.files.len(), content.text)
        };
        assert_eq!(with(MAX_FILES - 1), (MAX_FILES, "look".to_owned()));
        let text = format!("look\n\n{NOT_READ}");
        assert_eq!(with(MAX_FILES), (MAX_FILES, text));
    }

    #[test]
    fn every_line_of_a_quote_is_marked() {
        assert_eq!(lines(OWN, "a\n\nb"), format!("{OWN}\n> a\n> \n> b"));
    }

    #[test]
    fn the_file_of_a_quote_names_its_author() {
        let named = |by, name: &str| {
            file(&Quote {
                by,
                name: name.to_owned(),
                text: "hi".to_owned(),
            })
        };
        let other = named(QuotedAuthor::Other, "Eve /x");
        assert_eq!(other.name, "Quoted message of Eve _x.txt");
        assert_eq!(
            (other.text.as_deref(), &*other.data),
            (Some("hi"), &b"hi"[..])
        );
        assert_eq!(named(QuotedAuthor::Other, "").name, "Quoted message.txt");
        let bot = named(QuotedAuthor::Bot, "Gate");
        assert_eq!(bot.name, "Quoted message of the bot.txt");
    }
}
