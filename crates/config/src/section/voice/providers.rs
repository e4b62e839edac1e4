//! The voice providers as named in settings: by ID or by the vendor's name. A test of the crate `voice` compares
//! the names with its own.

use super::{stt, tts};
use crate::invalid_value::InvalidValue;
use crate::key::Named;
use crate::nearest::nearest;

/// The sections with a table for each provider.
pub(crate) const SECTIONS: [(&str, &[Named]); 2] =
    [("voice.tts", tts::PROVIDERS), ("voice.stt", stt::PROVIDERS)];

/// Resolves an ID or a vendor's name to the ID.
pub(crate) fn id_of(providers: &[Named], name: &str) -> Result<&'static str, InvalidValue> {
    let found = providers
        .iter()
        .find(|(id, alias)| [*id, *alias].contains(&name));
    found.map(|(id, _)| *id).ok_or_else(|| {
        let names = providers.iter().flat_map(|(id, alias)| [*id, *alias]);
        let near = nearest(name, names).unwrap_or_default();
        let all: Vec<String> = providers
            .iter()
            .map(|(id, alias)| format!("{id} ({alias})"))
            .collect();
        InvalidValue::new(format!(
            "unknown provider; did you mean `{near}`? Expected one of {}",
            all.join(", ")
        ))
    })
}
