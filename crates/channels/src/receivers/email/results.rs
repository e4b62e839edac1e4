//! `Authentication-Results` (RFC 8601): whether the owner's mail server has authenticated the domain of a sender.

use super::header::Header;
use super::tokens::{Token, tokens};

/// One `method=result` with its properties, in lower case.
#[derive(Debug, Default)]
struct Outcome {
    method: String,
    result: String,
    properties: Vec<(String, String)>,
}

impl Outcome {
    fn property(&self, name: &str) -> Option<&str> {
        let mut values = self.properties.iter().filter(|(key, _)| key == name);
        let value = values.next().map(|(_, value)| value.as_str());
        // Two values of one property contradict each other.
        value.filter(|_| values.next().is_none())
    }

    fn has(&self, name: &str) -> bool {
        self.properties.iter().any(|(key, _)| key == name)
    }
}

/// Whether the topmost field of the server `authserv_id` says that the mail is from `domain`: DMARC passed, or DMARC gave
/// no verdict and a DKIM signature of the domain, or of one that it is below, passed. Fields further down could be the
/// sender's.
pub(super) fn is_authenticated(header: &Header, authserv_id: &str, domain: &str) -> bool {
    let mut fields = header.all("authentication-results");
    let field = fields.find_map(|value| match field_of(value, authserv_id) {
        Field::Others => None,
        field => Some(field),
    });
    let Some(Field::Own(outcomes)) = field else {
        return false;
    };
    let mut dmarc = outcomes.iter().filter(|it| it.method == "dmarc");
    match (dmarc.next(), dmarc.next()) {
        // A second verdict may have come from a value that the server has not quoted.
        (_, Some(_)) => false,
        (Some(verdict), None) if verdict.result == "pass" => {
            let of = verdict.property("header.from");
            !verdict.has("header.from") || of.is_some_and(|of| is_aligned(of, domain))
        }
        (Some(verdict), None) if verdict.result != "none" => false,
        _ => outcomes.iter().any(|it| {
            let signer = it.property("header.d");
            it.method == "dkim"
                && it.result == "pass"
                && signer.is_some_and(|signer| is_aligned(signer, domain))
        }),
    }
}

/// Whether `signer` is the domain of the address, or one that it is below. A signature of a domain below proves nothing:
/// names below a public suffix belong to anyone.
fn is_aligned(signer: &str, domain: &str) -> bool {
    let signer = signer.strip_prefix('@').unwrap_or(signer);
    let rest = domain.strip_suffix(signer);
    signer.contains('.') && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// A field `Authentication-Results`.
enum Field {
    /// Of another server.
    Others,
    /// It may be the server's, and cannot be read.
    Unreadable,
    Own(Vec<Outcome>),
}

fn field_of(value: &str, authserv_id: &str) -> Field {
    let Some(tokens) = tokens(value, &[';', '=']) else {
        return Field::Unreadable;
    };
    let mut parts = tokens.split(|token| *token == Token::Mark(';'));
    let first = parts.next().and_then(<[Token]>::split_first);
    let is_own = |id: &Token| {
        id.text()
            .is_some_and(|id| id.eq_ignore_ascii_case(authserv_id))
    };
    let Some((_, version)) = first.filter(|(id, _)| is_own(id)) else {
        return Field::Others;
    };
    if !version.is_empty() && *version != [Token::Word("1".to_owned())] {
        return Field::Unreadable;
    }
    let parts = parts.filter(|part| !part.is_empty());
    let outcomes = parts.filter(|part| !matches!(part, [Token::Word(word)] if word == "none"));
    let outcomes: Option<Vec<Outcome>> = outcomes.map(outcome).collect();
    outcomes.map_or(Field::Unreadable, Field::Own)
}

/// Reads `method[/version]=result [reason=value] [type.property=value]…`.
fn outcome(part: &[Token]) -> Option<Outcome> {
    let mut pairs = Vec::new();
    let mut rest = part;
    while !rest.is_empty() {
        let [Token::Word(key), Token::Mark('='), after @ ..] = rest else {
            return None;
        };
        // A value may have several parts, such as `"a b"@example.com`. The next key ends it.
        let is_next = |at: &usize| after.get(at.saturating_add(1)) == Some(&Token::Mark('='));
        let end = (1..after.len()).find(is_next).unwrap_or(after.len());
        let value: Option<String> = after.get(..end)?.iter().map(Token::text).collect();
        let value = value.filter(|value| !value.is_empty())?;
        pairs.push((key.to_ascii_lowercase(), value.to_ascii_lowercase()));
        rest = after.get(end..)?;
    }
    let mut pairs = pairs.into_iter();
    let (method, result) = pairs.next()?;
    let method = method.split('/').next().unwrap_or_default().to_owned();
    Some(Outcome {
        method,
        result,
        properties: pairs.collect(),
    })
}

#[cfg(test)]
mod tests;
