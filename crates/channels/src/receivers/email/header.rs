//! The header section of an email (RFC 5322). An email whose fields could be interpreted in two ways is not read.
//! Otherwise, the sender that is read here could differ from the one that the server authenticated.

use super::tokens::{Token, tokens};

/// Characters with a meaning in lists of addresses.
const MARKS: [char; 9] = ['<', '>', '@', ',', ';', ':', '[', ']', '\\'];

/// The fields in order, with names in lower case and unfolded values.
#[derive(Debug)]
pub(super) struct Header(Vec<(String, String)>);

impl Header {
    /// Reads the fields up to an empty line. Returns `None` if a line is not a field or does not end with CR LF.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut rest = bytes;
        loop {
            let end = rest
                .iter()
                .position(|byte| matches!(byte, b'\r' | b'\n' | 0))?;
            let (line, after) = (rest.get(..end)?, rest.get(end..)?);
            rest = after.strip_prefix(b"\r\n")?;
            if line.is_empty() {
                return Some(Self(fields));
            }
            let line = String::from_utf8_lossy(line);
            if line.starts_with([' ', '\t']) {
                let (_, value) = fields.last_mut()?;
                // Some programs interpret a blank line as the end of the header.
                if line.trim().is_empty() {
                    return None;
                }
                value.push_str(&line);
                continue;
            }
            let (name, value) = line.split_once(':')?;
            let name = name.trim_end_matches([' ', '\t']);
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
                return None;
            }
            fields.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }

    /// Returns the values of a field, topmost first.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let fields = self.0.iter().filter(move |(field, _)| field == name);
        fields.map(|(_, value)| value.trim())
    }

    /// Returns the value of a field that exists exactly once.
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        let mut all = self.all(name);
        all.next().filter(|_| all.next().is_none())
    }

    /// Returns the first word of a field's topmost value, in lower case.
    fn first_word(&self, name: &str) -> Option<String> {
        let value = self.all(name).next()?;
        let words = tokens(value, &[';', ',']).unwrap_or_default();
        let first = words.first().and_then(Token::text).unwrap_or(value);
        Some(first.to_ascii_lowercase())
    }

    /// Returns whether the email was written by a program or sent to a list. Such an email is not answered (RFC 3834,
    /// section 2).
    pub(super) fn is_automatic(&self) -> bool {
        let is_of_list = self.0.iter().any(|(name, _)| name.starts_with("list-"));
        let submitted = self.first_word("auto-submitted");
        let precedence = self.first_word("precedence");
        let precedence = precedence.as_deref().unwrap_or_default();
        let is_bounce = self
            .all("return-path")
            .any(|path| path.replace(' ', "") == "<>");
        let marks = [
            "x-autoreply",
            "x-autorespond",
            "x-autoresponder",
            "x-auto-response-suppress",
        ];
        is_of_list
            || is_bounce
            || submitted.is_some_and(|submitted| submitted != "no")
            || matches!(precedence, "bulk" | "list" | "junk" | "auto_reply")
            || self
                .first_word("content-type")
                .is_some_and(|kind| kind == "multipart/report")
            || marks.iter().any(|mark| self.all(mark).next().is_some())
    }

    /// Returns the sender's address in lower case. There must be exactly one field `From` with one
    /// plain address.
    pub(super) fn sender(&self) -> Option<String> {
        address(self.one("from")?)
    }

    /// Returns the addresses in `To` and `Cc`, in lower case. Returns none if one of these fields exists twice, because
    /// a signature may cover only one of the two.
    pub(super) fn recipients(&self) -> Vec<String> {
        let mut found = Vec::new();
        for name in ["to", "cc"] {
            let mut values = self.all(name);
            found.extend(values.next().map(addresses).unwrap_or_default());
            if values.next().is_some() {
                return Vec::new();
            }
        }
        found
    }

    /// Returns the IDs in a field, in order.
    pub(super) fn ids(&self, name: &str) -> Vec<String> {
        let words = self.one(name).unwrap_or_default().split_ascii_whitespace();
        words
            .filter(|id| is_message_id(id))
            .map(str::to_owned)
            .collect()
    }
}

/// Reads `local@domain` or `name <local@domain>`. Refuses forms that programs interpret differently, such as groups,
/// routes, quoted local parts and several addresses.
pub(super) fn address(value: &str) -> Option<String> {
    one_address(&tokens(value, &MARKS)?, value)
}

/// Reads the addresses of a list. Omits forms that [`address`] refuses.
fn addresses(value: &str) -> Vec<String> {
    let tokens = tokens(value, &MARKS).unwrap_or_default();
    let all = tokens.split(|token| *token == Token::Mark(','));
    all.filter_map(|one| one_address(one, value)).collect()
}

fn one_address(tokens: &[Token], value: &str) -> Option<String> {
    let marked = tokens
        .iter()
        .position(|token| matches!(token, Token::Mark(_)))?;
    let address = match tokens.get(marked..)? {
        [Token::Mark('<'), address @ .., Token::Mark('>')] => address,
        _ if marked == 1 => tokens,
        _ => return None,
    };
    let [Token::Word(local), Token::Mark('@'), Token::Word(domain)] = address else {
        return None;
    };
    // No comment or white space may separate the tokens of an address.
    let whole = format!("{local}@{domain}");
    (is_local(local) && is_domain(domain) && value.contains(&whole))
        .then(|| whole.to_ascii_lowercase())
}

/// Returns whether an address is one of these addresses, optionally with a tag: `name+tag@example.com`. All must be in
/// lower case.
pub(super) fn is_one_of(address: &str, own: &[String]) -> bool {
    let is_same = |own: &String| {
        let (name, host) = own.rsplit_once('@')?;
        let (local, domain) = address.rsplit_once('@')?;
        let tag = local.strip_prefix(name)?;
        Some(domain == host && (tag.is_empty() || tag.starts_with('+')))
    };
    own.iter().any(|own| is_same(own) == Some(true))
}

/// Returns whether a local part is a dot-atom (RFC 5322, section 3.2.3).
fn is_local(local: &str) -> bool {
    let is_atom = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&c);
    local.len() <= 64
        && local
            .split('.')
            .all(|atom| !atom.is_empty() && atom.bytes().all(is_atom))
}

fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        let plain = label
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || c == b'-');
        (1..=63).contains(&label.len()) && plain && !label.starts_with('-') && !label.ends_with('-')
    };
    domain.len() <= 190 && domain.contains('.') && domain.split('.').all(is_label)
}

/// Returns whether a text is the ID of an email, and short enough to be stored.
pub(super) fn is_message_id(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    let is_plain = |c: u8| c.is_ascii_graphic() && !b"<>\"\\,;".contains(&c);
    (5..=250).contains(&text.len())
        && inner.is_some_and(|it| it.contains('@') && it.bytes().all(is_plain))
}

#[cfg(test)]
mod tests;
