//! Parses `WWW-Authenticate` (RFC 9110, section 11.6.1). One header may contain several challenges.

/// The content of a challenge of the scheme `Bearer`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// The URL of the protected resource's metadata (RFC 9728, section 5.1).
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
}

/// Returns the first `Bearer` challenge of a header.
pub(super) fn bearer(header: &str) -> Option<Challenge> {
    let mut text = Text(header);
    let mut found: Option<Challenge> = None;
    let mut is_bearer = false;
    loop {
        text.skip(|c| c.is_ascii_whitespace() || c == ',');
        let name = text.take(is_token);
        if name.is_empty() {
            // The text ends here, or is not a challenge.
            return found;
        }
        let before = text;
        text.skip(|c| c == ' ' || c == '\t');
        if text.0.starts_with('=') {
            let value = text.value();
            if let (true, Some(challenge), Some(value)) = (is_bearer, &mut found, value) {
                challenge.set(name, value);
            }
            continue;
        }
        if is_bearer {
            return found;
        }
        text = before;
        is_bearer = name.eq_ignore_ascii_case("bearer");
        if is_bearer {
            found = Some(Challenge::default());
        }
        text.skip_token68();
    }
}

impl Challenge {
    /// Sets a parameter. If a parameter occurs twice, the first value counts.
    fn set(&mut self, name: &str, value: String) {
        let place = match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => &mut self.resource_metadata,
            "scope" => &mut self.scope,
            _ => return,
        };
        place.get_or_insert(value);
    }
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// The unread rest of a header.
#[derive(Clone, Copy)]
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|c| !fits(c)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn skip(&mut self, fits: impl Fn(char) -> bool) {
        self.take(fits);
    }

    /// Skips credentials in the form `token68`. They follow a scheme and end with the challenge.
    fn skip_token68(&mut self) {
        let mut ahead = *self;
        ahead.skip(|c| c == ' ');
        let text = ahead.take(|c| c.is_ascii_alphanumeric() || "-._~+/".contains(c));
        ahead.skip(|c| c == '=');
        ahead.skip(|c| c == ' ' || c == '\t');
        if !text.is_empty() && (ahead.0.is_empty() || ahead.0.starts_with(',')) {
            *self = ahead;
        }
    }

    /// Returns the value after `=`: a token or a quoted string.
    fn value(&mut self) -> Option<String> {
        let rest = self.0.strip_prefix('=')?;
        self.0 = rest.trim_start_matches([' ', '\t']);
        let Some(quoted) = self.0.strip_prefix('"') else {
            // Some servers do not quote URLs.
            let value = self.take(|c| !c.is_ascii_whitespace() && c != ',');
            return Some(value.to_owned());
        };
        let mut value = String::new();
        let mut characters = quoted.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.0 = quoted.get(at + 1..).unwrap_or_default();
                    return Some(value);
                }
                '\\' => value.extend(characters.next().map(|(_, c)| c)),
                c => value.push(c),
            }
        }
        self.0 = "";
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bearer_challenge_is_found_among_others() {
        let found = |header| bearer(header).map(|it| (it.resource_metadata, it.scope));
        let url = || Some("https://h/m".to_owned());
        for header in [
            r#"Bearer resource_metadata="https://h/m""#,
            r#"bearer  error="invalid_token", Resource_Metadata = "https://h/m""#,
            r#"Basic realm="a, Bearer x=\"y\"", BEARER resource_metadata="https://h/m""#,
            r#"Negotiate YWJj==, Bearer resource_metadata="https://h/m", Basic realm=x"#,
            r#"Negotiate, Bearer resource_metadata="https://h/m", Digest scope="other""#,
            ", ,Bearer realm=a,resource_metadata=https://h/m",
        ] {
            assert_eq!(found(header), Some((url(), None)), "{header}");
        }
        let both = r#"Bearer scope="a b", resource_metadata="https:\/\/h/m""#;
        assert_eq!(found(both), Some((url(), Some("a b".to_owned()))));
        assert_eq!(found("Bearer"), Some((None, None)));
        assert_eq!(
            found(r#"Bearer resource_metadata="https://h"#),
            Some((None, None))
        );
        for header in [
            "",
            "Basic realm=x",
            "\u{e9}",
            "=",
            r#"Basic realm="Bearer""#,
        ] {
            assert_eq!(found(header), None, "{header}");
        }
    }
}
