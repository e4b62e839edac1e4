//! Adds the region that Google requires to languages.

use super::super::language;

/// The default region of each language. It has the most speakers among the regions in Google's list
/// (<https://cloud.google.com/speech-to-text/docs/speech-to-text-supported-languages>).
const LOCALES: &[(&str, &str)] = &[
    ("af", "af-ZA"),
    ("am", "am-ET"),
    ("ar", "ar-EG"),
    ("az", "az-AZ"),
    ("bg", "bg-BG"),
    ("bn", "bn-BD"),
    ("bs", "bs-BA"),
    ("ca", "ca-ES"),
    ("cs", "cs-CZ"),
    ("da", "da-DK"),
    ("de", "de-DE"),
    ("el", "el-GR"),
    ("en", "en-US"),
    ("es", "es-ES"),
    ("et", "et-EE"),
    ("eu", "eu-ES"),
    ("fa", "fa-IR"),
    ("fi", "fi-FI"),
    ("fr", "fr-FR"),
    ("gl", "gl-ES"),
    ("gu", "gu-IN"),
    ("he", "iw-IL"),
    ("hi", "hi-IN"),
    ("hr", "hr-HR"),
    ("hu", "hu-HU"),
    ("hy", "hy-AM"),
    ("id", "id-ID"),
    ("is", "is-IS"),
    ("it", "it-IT"),
    ("iw", "iw-IL"),
    ("ja", "ja-JP"),
    ("jv", "jv-ID"),
    ("jw", "jv-ID"),
    ("ka", "ka-GE"),
    ("kk", "kk-KZ"),
    ("km", "km-KH"),
    ("kn", "kn-IN"),
    ("ko", "ko-KR"),
    ("lo", "lo-LA"),
    ("lt", "lt-LT"),
    ("lv", "lv-LV"),
    ("mk", "mk-MK"),
    ("ml", "ml-IN"),
    ("mn", "mn-MN"),
    ("mr", "mr-IN"),
    ("ms", "ms-MY"),
    ("my", "my-MM"),
    ("nb", "no-NO"),
    ("ne", "ne-NP"),
    ("nl", "nl-NL"),
    ("no", "no-NO"),
    ("pa", "pa-Guru-IN"),
    ("pl", "pl-PL"),
    ("pt", "pt-BR"),
    ("ro", "ro-RO"),
    ("ru", "ru-RU"),
    ("si", "si-LK"),
    ("sk", "sk-SK"),
    ("sl", "sl-SI"),
    ("sq", "sq-AL"),
    ("sr", "sr-RS"),
    ("su", "su-ID"),
    ("sv", "sv-SE"),
    ("sw", "sw-KE"),
    ("ta", "ta-IN"),
    ("te", "te-IN"),
    ("th", "th-TH"),
    ("tl", "fil-PH"),
    ("tr", "tr-TR"),
    ("uk", "uk-UA"),
    ("ur", "ur-PK"),
    ("uz", "uz-UZ"),
    ("vi", "vi-VN"),
    ("yue", "yue-Hant-HK"),
    ("zh", "cmn-Hans-CN"),
    ("zu", "zu-ZA"),
];

/// Returns the locale of a language. Values with a region get the usual case. Languages missing from the table are
/// passed through.
pub(super) fn locale(said: &str) -> String {
    if said.contains('-') {
        return language::tag(said);
    }
    let code = language::wanted(Some(said)).unwrap_or_default();
    let found = LOCALES.iter().find(|(language, _)| *language == code);
    found.map_or(code.clone(), |(_, locale)| (*locale).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_get_a_region() {
        for (said, expected) in [
            ("de", "de-DE"),
            ("EN", "en-US"),
            ("english", "en-US"),
            ("de-CH", "de-CH"),
            ("EN-us", "en-US"),
            ("zh", "cmn-Hans-CN"),
            ("yue", "yue-Hant-HK"),
            ("eo", "eo"),
        ] {
            assert_eq!(locale(said), expected, "{said}");
        }
        assert!(LOCALES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
