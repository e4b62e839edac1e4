//! Converts a prompt for vendors that accept terms instead of a text.

/// The maximum number of terms. Deepgram and Mistral accept 100 each.
pub(super) const MAX_TERMS: usize = 100;
/// The longest term, which is Google's limit for a phrase.
const MAX_TERM_CHARACTERS: usize = 100;
/// The maximum total length in characters. Deepgram accepts 500 tokens of key terms, and a token has about three
/// characters.
const MAX_CHARACTERS: usize = 1500;

/// Returns the terms of a prompt. Commas, semicolons, line breaks and full stops at the end of a sentence separate
/// them. A phrase that is too long for any vendor is split into words. Terms beyond the limits are omitted.
pub(super) fn terms(prompt: Option<&str>) -> Vec<String> {
    let prompt = prompt.unwrap_or_default().replace(". ", "\n");
    let phrases = prompt.split([',', ';', '\n', '\r', '、', '，', '；', '。']);
    let phrases = phrases.map(|phrase| phrase.trim().trim_end_matches('.').trim_end());
    let pieces = phrases.flat_map(|phrase| {
        let fits = phrase.chars().nth(MAX_TERM_CHARACTERS).is_none();
        let whole = fits.then_some(phrase);
        let words = (!fits).then(|| phrase.split_whitespace());
        whole.into_iter().chain(words.into_iter().flatten())
    });
    let mut terms: Vec<String> = Vec::new();
    let mut characters = 0;
    for piece in pieces {
        let length = piece.chars().count();
        let is_new = !terms.iter().any(|term| term == piece);
        if length == 0 || length > MAX_TERM_CHARACTERS || !is_new {
            continue;
        }
        characters += length;
        if terms.len() == MAX_TERMS || characters > MAX_CHARACTERS {
            break;
        }
        terms.push(piece.to_owned());
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_stand_between_marks() {
        assert_eq!(
            terms(Some("Gatehouse, Anna Müller;\nK8s. Helm.")),
            ["Gatehouse", "Anna Müller", "K8s", "Helm"]
        );
        assert_eq!(terms(Some("node.js, node.js, ,")), ["node.js"]);
        assert!(terms(None).is_empty());
        assert!(terms(Some(" .,; ")).is_empty());
    }

    #[test]
    fn limits_hold() {
        let long = format!("{} two", "x".repeat(96));
        assert_eq!(terms(Some(&long)).len(), 1, "100 characters are a phrase");
        let longer = format!("{} two", "x".repeat(97));
        assert_eq!(terms(Some(&longer)), ["x".repeat(97), "two".to_owned()]);
        assert!(terms(Some(&"x".repeat(101))).is_empty());
        let many: Vec<String> = (0..150).map(|n| format!("t{n}")).collect();
        assert_eq!(terms(Some(&many.join(","))).len(), 100);
        let wide: Vec<String> = (0..20).map(|n| format!("{n:0>100}")).collect();
        assert_eq!(terms(Some(&wide.join(","))).len(), 15);
    }
}
