//! Text within a line: replaces web addresses with their hosts, and adds stops.

use url::Url;

/// Returns the host of a web address, without a leading `www.`.
pub(super) fn host(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let host = url.host_str()?;
    Some(host.strip_prefix("www.").unwrap_or(host).to_owned())
}

/// Appends a text and replaces each web address by its host.
pub(super) fn push_with_hosts(said: &mut String, text: &str) {
    let mut rest = text;
    while let Some(start) = next_address(rest) {
        let (before, found) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let is_end = |c: char| c.is_whitespace() || "<>\"`|\\^{}".contains(c);
        let length = found.find(is_end).unwrap_or(found.len());
        let whole = found.get(..length).unwrap_or(found);
        let address = whole.trim_end_matches(is_mark_behind);
        said.push_str(before);
        match host(address) {
            Some(host) => said.push_str(&host),
            None => said.push_str(address),
        }
        rest = found.get(address.len()..).unwrap_or_default();
        if address.is_empty() {
            break;
        }
    }
    said.push_str(rest);
}

/// Returns whether the character is punctuation that can follow an address without belonging to it.
const fn is_mark_behind(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '\'' | '*' | '_' | '”' | '’' | '»'
    )
}

fn next_address(text: &str) -> Option<usize> {
    text.match_indices("://").find_map(|(at, _)| {
        let before = text.get(..at)?;
        let mut schemes = ["https", "http"].into_iter();
        let scheme = schemes.find(|scheme| before.ends_with(scheme))?;
        Some(at - scheme.len())
    })
}

/// Appends a stop, unless the text ends in punctuation that makes a voice pause.
pub(super) fn push_stop(said: &mut String) {
    let is_closing = |c: char| "\"')]}”’»)」』".contains(c);
    let last = said.trim_end_matches(is_closing).chars().next_back();
    let Some(last) = last else { return };
    let is_mark = ".!?…:;,。！？：；，、؟۔।".contains(last);
    if is_mark {
        return;
    }
    let is_wide = matches!(last, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
    said.push(if is_wide { '。' } else { '.' });
}
