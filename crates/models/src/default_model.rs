//! The model to use when none is specified.

use crate::candidates::Endpoint;
use crate::family::family;
use crate::handle::Inner;
use crate::listing::Listed;
use crate::{ModelError, ProviderKind};

impl Inner {
    /// The provider's model to use when none is specified.
    pub(crate) async fn default_model(
        &self,
        endpoint: &Endpoint<'_>,
    ) -> Result<String, ModelError> {
        if let Some(first) = endpoint.models.first() {
            return Ok(first.clone());
        }
        let vendors = endpoint
            .is_vendor()
            .then(|| family(endpoint.kind).default_model().to_owned());
        let none = || {
            let id = &endpoint.id;
            ModelError::not_configured(
                "models.default",
                format!(
                    "The model provider {id} has no default model. Set models.default to \
                     {id}/<model>."
                ),
            )
        };
        match self.models_of(endpoint).await {
            Ok(listed) => preferred(endpoint.kind, &listed)
                .or(vendors)
                .ok_or_else(none),
            // The chat request will report the problem.
            Err(error) => match (vendors, error) {
                (Some(model), _) => Ok(model),
                (
                    None,
                    ModelError::Failed {
                        status: Some(404 | 405 | 501),
                        ..
                    },
                ) => Err(none()),
                (None, error) => Err(error),
            },
        }
    }
}

/// Substrings of the names of models that do not chat.
const OTHER_TRADES: &[&str] = &[
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "rerank",
    "transcribe",
    "realtime",
    "image",
    "audio",
    "sora",
    "davinci",
    "babbage",
    "instruct-0914",
];

/// The family's default model if the provider offers it, otherwise the first that appears to be a chat model.
pub(crate) fn preferred(kind: ProviderKind, listed: &[Listed]) -> Option<String> {
    let usual = family(kind).default_model();
    if listed.iter().any(|listed| listed.name == usual) {
        return Some(usual.to_owned());
    }
    let chats = |name: &str| {
        let name = name.to_ascii_lowercase();
        !OTHER_TRADES.iter().any(|trade| name.contains(trade))
    };
    let mut names = listed.iter().map(|listed| &listed.name);
    names.find(|name| chats(name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_model_or_the_first_that_chats() {
        let list = |names: &[&str]| {
            let listed = |name: &&str| Listed {
                name: (*name).to_owned(),
                facts: gatehouse_domain::ModelFacts::default(),
            };
            names.iter().map(listed).collect::<Vec<_>>()
        };
        let pick = |names: &[&str]| preferred(ProviderKind::Openai, &list(names));
        assert_eq!(
            pick(&["whisper-1", "gpt-4.1-mini"]).unwrap(),
            "gpt-4.1-mini"
        );
        assert_eq!(pick(&["nomic-Embed-text", "llama3.2"]).unwrap(), "llama3.2");
        assert_eq!(pick(&["text-embedding-3"]), None);
        assert_eq!(pick(&[]), None);
    }
}
