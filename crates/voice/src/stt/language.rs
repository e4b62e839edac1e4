//! Maps vendors' language names to ISO 639-1.

/// Whisper's languages, by lowercase English name as in `verbose_json`. Source: the model's public list of
/// languages (<https://github.com/openai/whisper>, "Available models and languages"). Whisper's own codes
/// differ from ISO 639-1 only for Javanese.
const NAMES: &[(&str, &str)] = &[
    ("afrikaans", "af"),
    ("albanian", "sq"),
    ("amharic", "am"),
    ("arabic", "ar"),
    ("armenian", "hy"),
    ("assamese", "as"),
    ("azerbaijani", "az"),
    ("bashkir", "ba"),
    ("basque", "eu"),
    ("belarusian", "be"),
    ("bengali", "bn"),
    ("bosnian", "bs"),
    ("breton", "br"),
    ("bulgarian", "bg"),
    ("burmese", "my"),
    ("cantonese", "zh"),
    ("castilian", "es"),
    ("catalan", "ca"),
    ("chinese", "zh"),
    ("croatian", "hr"),
    ("czech", "cs"),
    ("danish", "da"),
    ("dutch", "nl"),
    ("english", "en"),
    ("estonian", "et"),
    ("faroese", "fo"),
    ("finnish", "fi"),
    ("flemish", "nl"),
    ("french", "fr"),
    ("galician", "gl"),
    ("georgian", "ka"),
    ("german", "de"),
    ("greek", "el"),
    ("gujarati", "gu"),
    ("haitian", "ht"),
    ("haitian creole", "ht"),
    ("hausa", "ha"),
    ("hebrew", "he"),
    ("hindi", "hi"),
    ("hungarian", "hu"),
    ("icelandic", "is"),
    ("indonesian", "id"),
    ("italian", "it"),
    ("japanese", "ja"),
    ("javanese", "jv"),
    ("kannada", "kn"),
    ("kazakh", "kk"),
    ("khmer", "km"),
    ("korean", "ko"),
    ("lao", "lo"),
    ("latin", "la"),
    ("latvian", "lv"),
    ("letzeburgesch", "lb"),
    ("lingala", "ln"),
    ("lithuanian", "lt"),
    ("luxembourgish", "lb"),
    ("macedonian", "mk"),
    ("malagasy", "mg"),
    ("malay", "ms"),
    ("malayalam", "ml"),
    ("maltese", "mt"),
    ("mandarin", "zh"),
    ("maori", "mi"),
    ("marathi", "mr"),
    ("moldavian", "ro"),
    ("moldovan", "ro"),
    ("mongolian", "mn"),
    ("myanmar", "my"),
    ("nepali", "ne"),
    ("norwegian", "no"),
    ("nynorsk", "nn"),
    ("occitan", "oc"),
    ("panjabi", "pa"),
    ("pashto", "ps"),
    ("persian", "fa"),
    ("polish", "pl"),
    ("portuguese", "pt"),
    ("punjabi", "pa"),
    ("pushto", "ps"),
    ("romanian", "ro"),
    ("russian", "ru"),
    ("sanskrit", "sa"),
    ("serbian", "sr"),
    ("shona", "sn"),
    ("sindhi", "sd"),
    ("sinhala", "si"),
    ("sinhalese", "si"),
    ("slovak", "sk"),
    ("slovenian", "sl"),
    ("somali", "so"),
    ("spanish", "es"),
    ("sundanese", "su"),
    ("swahili", "sw"),
    ("swedish", "sv"),
    ("tagalog", "tl"),
    ("tajik", "tg"),
    ("tamil", "ta"),
    ("tatar", "tt"),
    ("telugu", "te"),
    ("thai", "th"),
    ("tibetan", "bo"),
    ("turkish", "tr"),
    ("turkmen", "tk"),
    ("ukrainian", "uk"),
    ("urdu", "ur"),
    ("uzbek", "uz"),
    ("valencian", "ca"),
    ("vietnamese", "vi"),
    ("welsh", "cy"),
    ("yiddish", "yi"),
    ("yoruba", "yo"),
];

/// Names in [`NAMES`] that Whisper accepts but does not return.
const ALIASES: &[&str] = &[
    "burmese",
    "cantonese",
    "castilian",
    "flemish",
    "haitian",
    "letzeburgesch",
    "mandarin",
    "moldavian",
    "moldovan",
    "panjabi",
    "pushto",
    "sinhalese",
    "valencian",
];

/// Longer codes with a shorter equivalent, and withdrawn codes (ISO 639; IANA language subtag registry).
const CODES: &[(&str, &str)] = &[
    ("cmn", "zh"),
    ("fil", "tl"),
    ("in", "id"),
    ("iw", "he"),
    ("ji", "yi"),
    ("jw", "jv"),
    ("yue", "zh"),
];

/// Returns the ISO 639-1 code of an English language name, a code or a BCP 47 tag. Returns `None` if the input does not
/// name a single language ("multi") or has no such code.
pub(super) fn code(said: &str) -> Option<String> {
    let said = said.trim().to_ascii_lowercase();
    if let Some(code) = named(NAMES, &said) {
        return Some(code);
    }
    let first = first_subtag(&said);
    named(CODES, first)
        .or_else(|| (first.len() == 2 && is_letters(first)).then(|| first.to_owned()))
}

/// Whisper's name of the language with this ISO 639-1 code.
pub(super) fn name(code: &str) -> Option<&'static str> {
    let mut names = NAMES.iter().filter(|(name, _)| !ALIASES.contains(name));
    names.find(|(_, it)| *it == code).map(|(name, _)| *name)
}

/// Returns the language to request from a vendor that accepts ISO 639-1. Drops the region of a tag. Passes anything
/// else through, including codes such as `yue`. The vendor checks it.
pub(super) fn wanted(language: Option<&str>) -> Option<String> {
    let language = language.map(str::trim).filter(|text| !text.is_empty())?;
    let lower = language.to_ascii_lowercase();
    let code = named(NAMES, &lower).or_else(|| primary(&lower));
    Some(code.unwrap_or_else(|| language.to_owned()))
}

/// Returns the language to request from a vendor that accepts BCP 47, in the case of RFC 5646, section 2.1.1: `en-US` of
/// `EN-us`. A name becomes its code. Anything else is passed through for the vendor to judge.
pub(super) fn tag(said: &str) -> String {
    let lower = said.trim().to_ascii_lowercase();
    if let Some(code) = named(NAMES, &lower) {
        return code;
    }
    let mut subtags = lower.split(['-', '_']);
    let mut tag = subtags.next().unwrap_or_default().to_owned();
    for subtag in subtags {
        tag.push('-');
        match subtag.len() {
            2 => tag.push_str(&subtag.to_ascii_uppercase()),
            4 => tag.push_str(&titled(subtag)),
            _ => tag.push_str(subtag),
        }
    }
    tag
}

/// Returns the subtag with an uppercase first letter: `Hant`.
fn titled(subtag: &str) -> String {
    let mut letters = subtag.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns the language of a locale in the form that local recognizers expect: `en` of `en-US`. Returns `None` if the
/// language is not a code of two or three letters, such as `auto`.
pub(super) fn primary(locale: &str) -> Option<String> {
    let lower = locale.to_ascii_lowercase();
    let first = first_subtag(&lower);
    (matches!(first.len(), 2 | 3) && is_letters(first)).then(|| first.to_owned())
}

fn named(table: &[(&str, &str)], text: &str) -> Option<String> {
    let found = table.iter().find(|(name, _)| *name == text);
    found.map(|(_, code)| (*code).to_owned())
}

fn first_subtag(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or_default()
}

fn is_letters(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests;
