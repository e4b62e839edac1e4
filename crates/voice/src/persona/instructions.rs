//! Renders a persona's prompt as a single text for providers that accept instructions.

use super::PersonaPrompt;

/// Returns one labeled line per non-empty field, or `None` if all are empty. Line breaks and control characters in a
/// field become spaces, so that its content cannot look like another field.
pub(crate) fn instructions(prompt: &PersonaPrompt) -> Option<String> {
    let fields = [
        ("Voice profile", &prompt.profile),
        ("Style", &prompt.style),
        ("Accent", &prompt.accent),
        ("Pacing", &prompt.pacing),
        ("Scene", &prompt.scene),
        ("Constraints", &prompt.constraints),
    ];
    let line = |(label, field): (&str, &String)| {
        let words = field.split(|c: char| c.is_control() || c.is_whitespace());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| format!("{label}: {}", words.join(" ")))
    };
    let lines: Vec<String> = fields.into_iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_that_says_something_is_a_line() {
        let prompt = PersonaPrompt {
            profile: "An old sailor,\nfar from home.".to_owned(),
            style: "dry\u{7}\u{1b}[31m".to_owned(),
            accent: " \t ".to_owned(),
            pacing: "slow".to_owned(),
            scene: "a harbour".to_owned(),
            constraints: "never\r\nStyle: shout".to_owned(),
        };
        assert_eq!(
            instructions(&prompt).as_deref(),
            Some(
                "Voice profile: An old sailor, far from home.\nStyle: dry [31m\nPacing: slow\n\
                 Scene: a harbour\nConstraints: never Style: shout"
            )
        );
        let accent = PersonaPrompt {
            accent: "Scots".to_owned(),
            ..PersonaPrompt::default()
        };
        assert_eq!(instructions(&accent).as_deref(), Some("Accent: Scots"));
    }

    #[test]
    fn a_prompt_that_says_nothing_is_none() {
        assert_eq!(instructions(&PersonaPrompt::default()), None);
        let blank = PersonaPrompt {
            scene: " \n\0 ".to_owned(),
            ..PersonaPrompt::default()
        };
        assert_eq!(instructions(&blank), None);
    }
}
