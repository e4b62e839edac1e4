//! The arguments of commands (RFC 3501, section 9).

/// Returns the quoted strings and atoms of a line, or `None` if the line contains anything else.
pub(super) fn strings(text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut value = String::new();
            let mut characters = quoted.char_indices();
            let end = loop {
                match characters.next()? {
                    (at, '"') => break at + 1,
                    (_, '\\') => match characters.next()?.1 {
                        escaped @ ('"' | '\\') => value.push(escaped),
                        _ => return None,
                    },
                    (_, c) if c.is_ascii() && !c.is_ascii_control() => value.push(c),
                    _ => return None,
                }
            };
            all.push(value);
            rest = &quoted[end..];
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            let (atom, after) = rest.split_at(end);
            let is_atom = |c: u8| c.is_ascii_graphic() && !b"(){%*\"\\]".contains(&c);
            if atom.is_empty() || !atom.bytes().all(is_atom) {
                return None;
            }
            all.push(atom.to_owned());
            rest = after;
        }
        if rest.is_empty() {
            return Some(all);
        }
        rest = rest.strip_prefix(' ')?;
    }
}

pub(super) fn login(text: &str) -> Option<(String, String)> {
    match strings(text)?.as_slice() {
        [user, password] => Some((user.clone(), password.clone())),
        _ => None,
    }
}

/// Returns the emails of a sequence set, with their numbers. `5:*` contains the last email even if its UID is smaller.
pub(super) fn chosen(set: &str, mails: &[(u32, String)]) -> Option<Vec<(usize, u32, String)>> {
    let last = mails.last().map_or(0, |(uid, _)| *uid);
    let one = |text: &str| match text {
        "*" => Some(last),
        _ if text.starts_with('0') || !text.bytes().all(|c| c.is_ascii_digit()) => None,
        _ => text.parse::<u32>().ok(),
    };
    let mut wanted = Vec::new();
    for range in set.split(',') {
        let (from, to) = range.split_once(':').unwrap_or((range, range));
        let (from, to) = (one(from)?, one(to)?);
        wanted.push(from.min(to)..=from.max(to));
    }
    let numbered = (1..).zip(mails);
    let chosen = numbered.filter(|(_, (uid, _))| wanted.iter().any(|range| range.contains(uid)));
    Some(
        chosen
            .map(|(number, (uid, mail))| (number, *uid, mail.clone()))
            .collect(),
    )
}

/// Reads `(UID RFC822.SIZE BODY.PEEK[section]<0.count>)`.
pub(super) fn items_of(items: &str) -> Option<(String, usize)> {
    let inner = items.strip_prefix('(')?.strip_suffix(')')?;
    let body = inner.strip_prefix("UID RFC822.SIZE BODY.PEEK[")?;
    let (section, partial) = body.split_once("]<0.")?;
    let count: usize = partial.strip_suffix('>')?.parse().ok()?;
    (matches!(section, "" | "HEADER") && count > 0).then(|| (section.to_owned(), count))
}
