//! Fills in a prompt of a server.

use super::handle::Mcp;
use super::manage::McpError;
use super::offers::McpPrompt;
use super::status::McpState;
use std::collections::BTreeMap;

/// The longest value of an argument, in characters.
const MAX_ARGUMENT: usize = 10_000;

/// The text of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPromptText {
    /// The text without invisible characters. If the server also wrote answers of the assistant, each message begins
    /// with its role.
    pub text: String,
    /// How many invisible characters were removed.
    pub hidden: usize,
}

impl Mcp {
    /// Asks a connected server for the text of one of its prompts.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<McpPromptText, McpError> {
        let status = self.find(server)?;
        if status.state != McpState::Connected {
            return Err(McpError::NotConnected);
        }
        let mut prompts = status.offers.prompts.iter();
        let prompt = prompts
            .find(|prompt| prompt.name == name)
            .ok_or(McpError::NoPrompt)?;
        check(prompt, &arguments).map_err(McpError::Argument)?;
        self.ask_for_prompt(server, name, arguments).await
    }

    #[cfg(not(feature = "mcp"))]
    #[expect(
        clippy::unused_self,
        clippy::unused_async,
        reason = "the signature is the same without the feature"
    )]
    async fn ask_for_prompt(
        &self,
        _: &str,
        _: &str,
        _: BTreeMap<String, String>,
    ) -> Result<McpPromptText, McpError> {
        Err(McpError::NotConnected)
    }

    #[cfg(feature = "mcp")]
    async fn ask_for_prompt(
        &self,
        server: &str,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<McpPromptText, McpError> {
        use rmcp::model::{GetPromptRequestParams, GetPromptResponse};

        let peer = self.dependencies.peers.find(server);
        let peer = peer.ok_or(McpError::NotConnected)?;
        let mut params = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            let values = arguments.into_iter();
            let values = values.map(|(name, value)| (name, value.into()));
            params = params.with_arguments(values.collect());
        }
        let refused = |said| McpError::Refused {
            server: server.to_owned(),
            said,
        };
        let asking = peer.get_prompt_once(params);
        let asked = super::ask::ask(server, &peer, asking, super::ask::Repeat::Safe);
        match asked.await {
            Ok(GetPromptResponse::Complete(result)) => {
                Ok(of_messages(&self.dependencies.files, name, &result.messages).await)
            }
            Ok(_) => Err(refused(format!(
                "The MCP server {server} requested further input, which is not supported."
            ))),
            Err(error) => Err(refused(error.message)),
        }
    }
}

/// Checks the arguments against the prompt's arguments.
fn check(prompt: &McpPrompt, arguments: &BTreeMap<String, String>) -> Result<(), String> {
    for (name, value) in arguments {
        if !prompt.arguments.iter().any(|known| known.name == *name) {
            return Err("names an argument that the prompt does not have".to_owned());
        }
        if value.chars().nth(MAX_ARGUMENT).is_some() {
            return Err(format!("`{name}` has more than {MAX_ARGUMENT} characters"));
        }
    }
    let is_given = |name: &String| {
        let value = arguments.get(name);
        value.is_some_and(|value| !value.trim().is_empty())
    };
    let mut required = prompt.arguments.iter().filter(|known| known.required);
    match required.find(|known| !is_given(&known.name)) {
        Some(missing) => Err(format!("`{}` is missing", missing.name)),
        None => Ok(()),
    }
}

#[cfg(feature = "mcp")]
async fn of_messages(
    reader: &crate::files::FileReader,
    prompt: &str,
    messages: &[rmcp::model::PromptMessage],
) -> McpPromptText {
    use super::content::{Content, within_limit};
    use rmcp::model::Role;

    let mut content = Content::without_files(reader, prompt);
    let is_dialog = messages.iter().any(|message| message.role != Role::User);
    let (mut parts, mut hidden) = (Vec::with_capacity(messages.len()), 0);
    for message in messages {
        let (text, removed) = visible_part(&content.block(&message.content).await);
        hidden += removed;
        parts.push(match &message.role {
            _ if !is_dialog => text,
            Role::User => format!("User: {text}"),
            Role::Assistant => format!("Assistant: {text}"),
        });
    }
    // An empty line separates two messages.
    let parts: Vec<String> = parts.into_iter().map(|part| part + "\n").collect();
    McpPromptText {
        text: within_limit(&parts),
        hidden,
    }
}

/// Returns a text without invisible characters, and the number of removed characters. Joiners and variation selectors
/// after a character outside ASCII are kept, because emoji and some scripts need them.
#[cfg(feature = "mcp")]
fn visible_part(text: &str) -> (String, usize) {
    use gatehouse_domain::visible;

    let text = text.replace("\r\n", "\n");
    let (mut before, mut hidden) = (' ', 0);
    let is_shown = |c: &char| {
        let joins = matches!(c, '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}');
        let is_shown =
            matches!(c, '\n' | '\t') || !visible::hides(*c) || joins && !before.is_ascii();
        if is_shown {
            before = *c;
        } else {
            hidden += 1;
        }
        is_shown
    };
    let shown: String = text.chars().filter(is_shown).collect();
    (shown, hidden)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::offers::McpArgument;

    fn prompt() -> McpPrompt {
        let argument = |name: &str, required| McpArgument {
            name: name.to_owned(),
            title: None,
            description: None,
            required,
        };
        McpPrompt {
            name: "review".to_owned(),
            title: None,
            description: None,
            arguments: vec![argument("code", true), argument("style", false)],
        }
    }

    #[test]
    fn arguments_at_the_limit_and_one_past_it() {
        let with = |given: &[(&str, String)]| {
            let given = given.iter();
            let given = given.map(|(name, value)| ((*name).to_owned(), value.clone()));
            check(&prompt(), &given.collect())
        };
        let code = |count: usize| ("code", "ü".repeat(count));
        assert_eq!(with(&[code(MAX_ARGUMENT)]), Ok(()));
        assert!(with(&[code(MAX_ARGUMENT + 1)]).is_err());
        assert_eq!(with(&[code(1), ("style", String::new())]), Ok(()));
        assert_eq!(with(&[]), Err("`code` is missing".to_owned()));
        assert!(with(&[("code", " ".to_owned())]).is_err());
        assert!(with(&[code(1), ("other", "x".to_owned())]).is_err());
    }

    #[cfg(feature = "mcp")]
    #[test]
    fn a_text_keeps_what_is_visible() {
        for (text, shown, hidden) in [
            ("a\tb\r\nc", "a\tb\nc", 0),
            ("a\u{200b}b\u{202e}", "ab", 2),
            ("\u{e0041}\u{200d}x", "x", 2),
            ("👩\u{200d}👧", "👩\u{200d}👧", 0),
            ("a\u{200d}b", "ab", 1),
        ] {
            let (made, removed) = visible_part(text);
            assert_eq!((made.as_str(), removed), (shown, hidden), "{text:?}");
        }
    }
}
