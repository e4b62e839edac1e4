//! Parses range requests (RFC 9110, section 14). Pure.

use http::HeaderMap;
use http::header::{IF_RANGE, RANGE};

/// The part of the content to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// The first and the last byte, both inclusive.
    Some(usize, usize),
    /// The requested range is outside the content.
    Nothing,
}

/// Parses `Range` and `If-Range`. Ignores invalid values and multiple ranges, which a server need not
/// support.
pub(super) fn part(headers: &HeaderMap, length: usize, etag: &str) -> Part {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(range) = text(RANGE).and_then(|range| range.trim().strip_prefix("bytes=")) else {
        return Part::Whole;
    };
    if headers.contains_key(IF_RANGE) && text(IF_RANGE).map(str::trim) != Some(etag) {
        return Part::Whole;
    }
    let Some((from, to)) = range.trim().split_once('-') else {
        return Part::Whole;
    };
    let number = |text: &str| -> Option<usize> {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        // A number that overflows is larger than any content.
        is_number.then(|| text.parse().unwrap_or(usize::MAX))
    };
    let last = length.checked_sub(1);
    match (from.is_empty(), number(from), to.is_empty(), number(to)) {
        // A suffix range: the last `count` bytes.
        (true, _, _, Some(count)) => match last {
            Some(last) if count > 0 => Part::Some(length.saturating_sub(count), last),
            _ => Part::Nothing,
        },
        (_, Some(from), true, _) => match last {
            Some(last) if from <= last => Part::Some(from, last),
            _ => Part::Nothing,
        },
        (_, Some(from), _, Some(to)) if from <= to => match last {
            Some(last) if from <= last => Part::Some(from, to.min(last)),
            _ => Part::Nothing,
        },
        _ => Part::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn asked(range: &str, length: usize) -> Part {
        let mut headers = HeaderMap::new();
        headers.insert(RANGE, HeaderValue::from_str(range).unwrap());
        part(&headers, length, "\"a\"")
    }

    #[test]
    fn one_range_is_given() {
        assert_eq!(part(&HeaderMap::new(), 10, ""), Part::Whole);
        for (range, expected) in [
            ("bytes=0-", Part::Some(0, 9)),
            ("bytes=0-0", Part::Some(0, 0)),
            ("bytes=3-5", Part::Some(3, 5)),
            ("bytes=3-99", Part::Some(3, 9)),
            ("bytes=9-", Part::Some(9, 9)),
            ("bytes=-1", Part::Some(9, 9)),
            ("bytes=-10", Part::Some(0, 9)),
            ("bytes=-99999999999999999999999", Part::Some(0, 9)),
            ("bytes=10-", Part::Nothing),
            ("bytes=10-11", Part::Nothing),
            ("bytes=99999999999999999999999-", Part::Nothing),
            ("bytes=-0", Part::Nothing),
            // The range is invalid, or there are several ranges.
            ("bytes=5-3", Part::Whole),
            ("bytes=-", Part::Whole),
            ("bytes=a-b", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("bytes=0-1,3-4", Part::Whole),
            ("items=0-1", Part::Whole),
            ("bytes", Part::Whole),
        ] {
            assert_eq!(asked(range, 10), expected, "{range}");
        }
        assert_eq!(asked("bytes=0-", 0), Part::Nothing);
        assert_eq!(asked("bytes=-5", 0), Part::Nothing);
    }

    #[test]
    fn a_range_of_something_else_is_not_given() {
        let mut headers = HeaderMap::new();
        headers.insert(RANGE, HeaderValue::from_static("bytes=0-1"));
        for (if_range, expected) in [("\"a\"", Part::Some(0, 1)), ("\"b\"", Part::Whole)] {
            headers.insert(IF_RANGE, HeaderValue::from_static(if_range));
            assert_eq!(part(&headers, 10, "\"a\""), expected);
        }
    }
}
