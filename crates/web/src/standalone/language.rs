//! The language of the pages without a script, selected by the browser's `Accept-Language` (RFC 9110, 12.5.4).

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::header::ACCEPT_LANGUAGE;
use http::request::Parts;
use std::convert::Infallible;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
}

impl<S: Sync> FromRequestParts<S> for Language {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

impl Language {
    /// Returns the supported language that the caller prefers. English if there is none.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get(ACCEPT_LANGUAGE);
        let accepted = accepted.and_then(|value| value.to_str().ok());
        preferred(accepted.unwrap_or_default())
    }

    /// Returns the value of the attribute `lang`.
    pub(crate) const fn tag(self) -> &'static str {
        self.say("en", "de")
    }

    /// Returns the text in this language.
    pub(crate) const fn say<'a>(self, english: &'a str, german: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::German => german,
        }
    }
}

/// If several languages have the same weight, the first wins.
fn preferred(accepted: &str) -> Language {
    let mut best = (0.0, Language::English);
    for range in accepted.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let tag = parts.next().unwrap_or_default();
        let language = match tag.split('-').next().unwrap_or_default() {
            primary if primary.eq_ignore_ascii_case("de") => Language::German,
            primary if primary.eq_ignore_ascii_case("en") => Language::English,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        let weight: f32 = weight.map_or(Ok(1.0), str::parse).unwrap_or(0.0);
        if weight > best.0 {
            best = (weight, language);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_decides_and_then_the_order() {
        for german in [
            "de",
            "de-AT",
            "DE",
            "de, en",
            "en;q=0.8, de-DE;q=0.9",
            "fr, de;q=0.1",
        ] {
            assert_eq!(preferred(german), Language::German, "{german}");
        }
        for english in [
            "",
            "*",
            "fr",
            "en, de",
            "de;q=0",
            "de;q=0.5, en-GB;q=0.6",
            "de;q=x",
            "den",
        ] {
            assert_eq!(preferred(english), Language::English, "{english}");
        }
    }
}
