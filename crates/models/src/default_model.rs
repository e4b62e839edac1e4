//! The default model of a provider. If there are several candidates, a person must choose: the result is an error that
//! names the setting.

use crate::ModelError;
use crate::candidates::Endpoint;
use crate::family_of_kind::family;
use crate::handle::Inner;
use crate::listed::Listed;

impl Inner {
    /// Returns the provider's model to use if none is specified.
    pub(crate) async fn default_model(
        &self,
        endpoint: &Endpoint<'_>,
    ) -> Result<String, ModelError> {
        let several = || {
            let id = &endpoint.id;
            ModelError::not_configured(
                "models.default",
                format!(
                    "The model provider {id} offers several models. Choose one: set \
                     models.default to {id}/<model>."
                ),
            )
        };
        match endpoint.models {
            [] => {}
            [only] => return Ok(only.clone()),
            _ => return Err(several()),
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
            Ok(listed) => match (vendors, only_chat_model(&listed)) {
                (Some(usual), _) if listed.iter().any(|listed| listed.name == usual) => Ok(usual),
                (_, Some(only)) => Ok(only),
                (Some(usual), None) if listed.is_empty() => Ok(usual),
                (_, None) if listed.is_empty() => Err(none()),
                (_, None) => Err(several()),
            },
            // The chat request will report the same problem.
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

/// Substrings in the names of models that are not chat models.
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

/// Returns the model that appears to be the only chat model.
pub(crate) fn only_chat_model(listed: &[Listed]) -> Option<String> {
    let chats = |name: &str| {
        let name = name.to_ascii_lowercase();
        !OTHER_TRADES.iter().any(|trade| name.contains(trade))
    };
    let mut names = listed.iter().map(|listed| &listed.name);
    let only = names.find(|name| chats(name))?;
    (!names.any(|name| chats(name))).then(|| only.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_model_that_chats_is_a_choice() {
        let pick = |names: &[&str]| {
            let listed = |name: &&str| Listed {
                name: (*name).to_owned(),
                facts: gatehouse_domain::ModelFacts::default(),
            };
            only_chat_model(&names.iter().map(listed).collect::<Vec<_>>())
        };
        assert_eq!(pick(&["nomic-embed-text", "llama3.2"]).unwrap(), "llama3.2");
        assert_eq!(pick(&["llama3.2", "qwen3"]), None);
        assert_eq!(pick(&["Whisper-1", "omni-moderation"]), None);
        assert_eq!(pick(&[]), None);
    }
}
