//! Chooses the family of a provider.

use crate::ProviderKind;
use crate::anthropic::Anthropic;
use crate::family::Family;
use crate::openai::Openai;

pub(crate) fn family(kind: ProviderKind) -> &'static dyn Family {
    match kind {
        ProviderKind::Openai => &Openai,
        ProviderKind::Anthropic => &Anthropic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_printed() {
        for kind in [ProviderKind::Openai, ProviderKind::Anthropic] {
            let headers = family(kind).headers(Some("sk-secret")).unwrap();
            assert!(!format!("{headers:?}").contains("sk-secret"));
            assert!(family(kind).headers(Some("a\nb")).is_none());
        }
    }
}
