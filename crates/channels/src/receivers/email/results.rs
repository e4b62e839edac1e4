//! `Authentication-Results` (RFC 8601): whether the owner's mail server has authenticated the domain of a sender.

use super::header::Header;
use super::tokens::{TOUCHING, Token, tokens};

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
        // Two values of one property are a contradiction.
        value.filter(|_| values.next().is_none())
    }

    /// Returns whether the result repeats a value from the SMTP envelope. If the owner's server does not quote such a
    /// value, a sender can inject results.
    fn is_of_envelope(&self) -> bool {
        let is_smtp = |(key, _): &(String, String)| key.starts_with("smtp.");
        matches!(self.method.as_str(), "spf" | "auth" | "iprev" | "sender-id")
            || self.properties.iter().any(is_smtp)
    }

    /// Returns whether a DKIM signature of a domain passed.
    fn is_signature_of(&self, domain: &str) -> bool {
        let Some(signer) = self.property("header.d") else {
            return false;
        };
        // The identity belongs to the signer's domain or a subdomain (RFC 6376, section 3.5).
        let mut identities = self.properties.iter().filter(|(key, _)| key == "header.i");
        let is_signers = identities.all(|(_, identity)| {
            let of = identity.rsplit_once('@').map_or("", |(_, of)| of);
            is_aligned(signer, of)
        });
        let is_pass = self.method == "dkim" && self.result == "pass";
        is_pass && is_signers && is_aligned(signer, domain)
    }
}

/// Returns whether the topmost field of the server `authserv_id` confirms that the email is from `domain`. Either DMARC
/// passed for it, or DMARC gave no verdict and a DKIM signature of the domain or of a parent domain passed. The sender
/// could have forged fields further down, and signatures that are listed after results about the envelope.
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
        // A second verdict may come from a value that the server did not quote.
        (_, Some(_)) => false,
        (Some(verdict), None) if verdict.result == "pass" => {
            !verdict.is_of_envelope() && verdict.property("header.from") == Some(domain)
        }
        (Some(verdict), None) if verdict.result != "none" => false,
        _ => outcomes
            .iter()
            .take_while(|it| !it.is_of_envelope())
            .any(|it| it.is_signature_of(domain)),
    }
}

/// Returns whether `signer` is the domain of the address or a parent of it. A signature of a subdomain proves nothing,
/// because names below a public suffix belong to different people.
fn is_aligned(signer: &str, domain: &str) -> bool {
    let rest = domain.strip_suffix(signer);
    signer.contains('.') && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// A field `Authentication-Results`.
enum Field {
    /// A field of another server.
    Others,
    /// A field that may be the server's own, but cannot be parsed.
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
    let (method, result, mut rest) = pair(part)?;
    if let [TOUCHING, after @ ..] = rest {
        // Some servers write `pass(p=REJECT)`.
        rest = after;
    }
    let mut properties = Vec::new();
    while !rest.is_empty() {
        let (key, value, after) = pair(rest)?;
        // A result belongs after a semicolon. In another place, it is part of a value that was not
        // quoted.
        if matches!(method_of(&key), "dkim" | "dmarc") {
            return None;
        }
        properties.push((key, value));
        rest = after;
    }
    Some(Outcome {
        method: method_of(&method).to_owned(),
        result,
        properties,
    })
}

fn method_of(key: &str) -> &str {
    key.split('/').next().unwrap_or_default()
}

/// Reads `key=value` in lower case. A value is a word, a quoted string, or a quoted string with a domain
/// (RFC 8601, section 2.2).
fn pair(tokens: &[Token]) -> Option<(String, String, &[Token])> {
    let [Token::Word(key), Token::Mark('='), after @ ..] = tokens else {
        return None;
    };
    let (value, rest) = match after {
        [Token::Quoted(local), Token::Word(domain), rest @ ..] if domain.starts_with('@') => {
            (format!("{local}{domain}"), rest)
        }
        [Token::Word(value) | Token::Quoted(value), rest @ ..] => (value.clone(), rest),
        _ => return None,
    };
    Some((key.to_ascii_lowercase(), value.to_ascii_lowercase(), rest))
}

#[cfg(test)]
mod tests;
