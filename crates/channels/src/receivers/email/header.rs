//! The header section of a mail (RFC 5322). A mail whose fields could be read in two ways is not read at all: the
//! server that authenticates a sender must see the same sender.

use super::tokens::{Token, tokens};

/// Characters with a meaning in lists of addresses.
const MARKS: [char; 9] = ['<', '>', '@', ',', ';', ':', '[', ']', '\\'];

/// The fields in order, with names in lower case and unfolded values.
#[derive(Debug)]
pub(super) struct Header(Vec<(String, String)>);

impl Header {
    /// Reads the fields up to an empty line. `None` if a line is not a field or does not end with CR LF.
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
                // Some programs take a blank line for the end of the header.
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

    /// Returns the value of a field that exists once.
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        let mut all = self.all(name);
        all.next().filter(|_| all.next().is_none())
    }

    /// The first word of a field's topmost value, in lower case.
    fn first_word(&self, name: &str) -> Option<String> {
        let value = self.all(name).next()?;
        let words = tokens(value, &[';', ',']).unwrap_or_default();
        let first = words.first().and_then(Token::text).unwrap_or(value);
        Some(first.to_ascii_lowercase())
    }

    /// Whether the mail was written by a program or sent to a list. Such a mail is not answered (RFC 3834,
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

    /// The sender's address in lower case: exactly one field `From` with one plain address.
    pub(super) fn sender(&self) -> Option<String> {
        address(self.one("from")?)
    }

    /// The addresses in `To` and `Cc`, in lower case. None if one of these fields exists twice: a signature may cover
    /// only one of them.
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

    /// The IDs in a field, in order.
    pub(super) fn ids(&self, name: &str) -> Vec<String> {
        let words = self.one(name).unwrap_or_default().split_ascii_whitespace();
        words
            .filter(|id| is_message_id(id))
            .map(str::to_owned)
            .collect()
    }
}

/// Reads `local@domain` or `name <local@domain>`. Forms that programs read differently are refused, such as groups,
/// routes, quoted local parts and several addresses.
pub(super) fn address(value: &str) -> Option<String> {
    one_address(&tokens(value, &MARKS)?, value)
}

/// Reads the addresses of a list. Forms that [`address`] refuses are left out.
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

/// Whether an address is one of these, or one of these with a tag: `name+tag@example.com`. All are in lower case.
pub(super) fn is_one_of(address: &str, own: &[String]) -> bool {
    let is_same = |own: &String| {
        let (name, host) = own.rsplit_once('@')?;
        let (local, domain) = address.rsplit_once('@')?;
        let tag = local.strip_prefix(name)?;
        Some(domain == host && (tag.is_empty() || tag.starts_with('+')))
    };
    own.iter().any(|own| is_same(own) == Some(true))
}

/// Whether a local part is a dot-atom (RFC 5322, section 3.2.3).
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

/// Whether a text is the ID of a mail, and short enough to be kept.
pub(super) fn is_message_id(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    let is_plain = |c: u8| c.is_ascii_graphic() && !b"<>\"\\,;".contains(&c);
    (5..=250).contains(&text.len())
        && inner.is_some_and(|it| it.contains('@') && it.bytes().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Option<Header> {
        Header::read(format!("{text}\r\n\r\n").as_bytes())
    }

    #[test]
    fn a_mail_has_one_sender_with_one_plain_address() {
        for (value, expected) in [
            ("a@example.com", "a@example.com"),
            ("A.B+c@Example.COM", "a.b+c@example.com"),
            ("Ann <a@example.com>", "a@example.com"),
            ("\"b@evil.example\" <a@example.com>", "a@example.com"),
            (
                "\"Ann, (B) <x@y.z>\" J. <a@example.com> (work)",
                "a@example.com",
            ),
            ("=?utf-8?q?=C3=84nn?= <a@example.com>", "a@example.com"),
            ("<a@example.com>", "a@example.com"),
        ] {
            assert_eq!(address(value).as_deref(), Some(expected), "{value}");
        }
        for value in [
            "",
            "a",
            "a@example.com, b@example.com",
            "Ann <a@example.com>, b@example.com",
            "Ann <a@example.com> <b@example.com>",
            "b@evil.example <a@example.com>",
            "Ann <a@example.com> b@evil.example",
            "people: a@example.com;",
            "<@evil.example:a@example.com>",
            "\"a\"@example.com",
            "a@[192.0.2.1]",
            "a @ example.com",
            "a(x)@example.com",
            "a..b@example.com",
            "a@example",
            "a@-x.com",
            "ä@example.com",
            "a@exämple.com",
            "a@example.com\\",
            "Ann (<a@example.com>",
            "a@example.com(.evil.example)",
            "<a@example.com>(.evil.example)",
            "a@b@example.com",
        ] {
            assert_eq!(address(value), None, "{value}");
        }
        let longest = format!("{}@{}.com", "x".repeat(64), "a.".repeat(92) + "b");
        assert!(address(&longest).is_some(), "{}", longest.len());
        assert!(address(&format!("{}@a.com", "x".repeat(65))).is_none());
        assert!(address(&format!("a@{}bb.com", "a.".repeat(93))).is_none());
        let two = "From: a@example.com\r\nfrom : b@example.com";
        assert_eq!(header(two).unwrap().sender(), None);
        let folded = "Subject: x\r\nFrom: Ann\r\n <a@example.com>";
        assert_eq!(
            header(folded).unwrap().sender().as_deref(),
            Some("a@example.com")
        );
    }

    #[test]
    fn a_mail_is_to_the_addresses_of_one_to_and_one_cc() {
        let of = |text: &str| header(text).unwrap().recipients().join(" ");
        for (text, expected) in [
            ("To: a@x.com", "a@x.com"),
            (
                "To: Ann <A@x.com>, \"B, C\" <b@x.com>\r\nCC: c@x.com",
                "a@x.com b@x.com c@x.com",
            ),
            (
                "Cc: =?utf-8?q?=C3=84nn?= <a@x.com>,\r\n b@x.com",
                "a@x.com b@x.com",
            ),
            ("Bcc: a@x.com", ""),
            ("To: a@x.com\r\nTo: b@x.com", ""),
            ("To: a@x.com\r\nCc: b@x.com\r\nCc: c@x.com", ""),
            ("To: \"a@x.com\" <b@y.com>", "b@y.com"),
            ("To: a@x.com <b@y.com>, c@y.com", "c@y.com"),
            (
                "To: b@y.com (a@x.com) , (a@x.com) c@y.com",
                "b@y.com c@y.com",
            ),
            ("To: b@y.com (a@x.com), (a@x.com)", ""),
            ("To: undisclosed-recipients:;", ""),
            ("To: \"a@x.com", ""),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn an_own_address_may_have_a_tag() {
        let own = ["gate@x.com".to_owned(), "me+gate@y.com".to_owned()];
        for good in [
            "gate@x.com",
            "gate+a@x.com",
            "gate+a+b@x.com",
            "me+gate@y.com",
        ] {
            assert!(is_one_of(good, &own), "{good}");
        }
        for bad in [
            "gateway@x.com",
            "gate@y.com",
            "me@y.com",
            "me+a@y.com",
            "+gate@x.com",
            "",
        ] {
            assert!(!is_one_of(bad, &own), "{bad}");
        }
        assert!(!is_one_of("a@x.com", &[String::new()]));
    }

    #[test]
    fn lines_that_programs_read_differently_are_refused() {
        assert!(header("A: b").is_some() && header("").is_some());
        for odd in [
            "A: b\nFrom: x@y.z",
            "A: b\rFrom: x@y.z",
            "A: b\0",
            " A: b",
            "A: b\r\n \r\n c",
            "A b",
            ": b",
            "A b: c",
            "ä: b",
        ] {
            assert!(header(odd).is_none(), "{odd:?}");
        }
        assert!(Header::read(b"A: b\r\n").is_none(), "it does not end");
    }

    #[test]
    fn automatic_mail_is_recognized() {
        for field in [
            "Auto-Submitted: auto-replied",
            "Auto-Submitted: auto-generated; owner-email=\"x\"",
            "Auto-Submitted: (odd) Auto-Notified",
            "Precedence: Bulk",
            "precedence : list",
            "Precedence: junk",
            "List-Id: <x.example.com>",
            "List-Unsubscribe: <mailto:x@y.z>",
            "Return-Path: <>",
            "Return-Path: < >",
            "Content-Type: multipart/report; report-type=delivery-status",
            "Content-Type: Multipart/Report;\r\n boundary=x",
            "X-Auto-Response-Suppress: All",
            "X-Autoreply: yes",
        ] {
            assert!(header(field).unwrap().is_automatic(), "{field}");
        }
        for field in [
            "Auto-Submitted: no",
            "Auto-Submitted: No (a person)",
            "Precedence: normal",
            "Return-Path: <a@example.com>",
            "Content-Type: multipart/mixed; boundary=x",
        ] {
            assert!(!header(field).unwrap().is_automatic(), "{field}");
        }
    }

    #[test]
    fn ids_are_plain() {
        let header = header("References: <a@b> x <c@d>\r\n <e f@g>").unwrap();
        assert_eq!(header.ids("references"), ["<a@b>", "<c@d>"]);
        assert!(is_message_id(&format!("<{}@b>", "x".repeat(246))));
        assert!(!is_message_id(&format!("<{}@b>", "x".repeat(247))));
        for odd in ["a@b", "<a>", "<a@b", "<a@\u{e4}>", "<a@b>\r\nBcc: x"] {
            assert!(!is_message_id(odd), "{odd}");
        }
    }
}
