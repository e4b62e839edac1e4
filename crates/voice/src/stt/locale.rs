//! Languages as local recognisers name them: the language alone, in small letters.

/// The language of a locale: `en` of `en-US`; nothing when it is no code of two or three letters.
pub(super) fn primary(locale: &str) -> Option<String> {
    let language = locale.split(['-', '_']).next()?.to_ascii_lowercase();
    let is_code =
        matches!(language.len(), 2..=3) && language.bytes().all(|byte| byte.is_ascii_lowercase());
    is_code.then_some(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_language_is_left() {
        assert_eq!(primary("en-US").as_deref(), Some("en"));
        assert_eq!(primary("YUE").as_deref(), Some("yue"));
        assert_eq!(primary("pt_BR").as_deref(), Some("pt"));
        for none in ["", "auto", "e", "--", "e1", "english", "é"] {
            assert_eq!(primary(none), None, "{none}");
        }
    }
}
