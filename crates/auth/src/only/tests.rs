//! Tests of the parent module.

use super::*;
use proptest::prelude::*;

fn only(texts: &[&str]) -> Only {
    Only::parse(
        &texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>(),
    )
    .unwrap()
}

#[test]
fn a_name_is_itself_and_a_star_is_what_is_below() {
    let methods = only(&["tts.*", "webhooks.deliveries", "webhooks.delivery.*"]);
    for (name, allowed) in [
        ("tts.convert", true),
        ("tts", false),
        ("ttsx.convert", false),
        ("webhooks.deliveries", true),
        ("webhooks.deliveriesx", false),
        ("webhooks.delivery", false),
        ("webhooks.delivery.get", true),
        ("webhooks.list", false),
        ("/tts.*", false),
    ] {
        assert_eq!(methods.allows(name), allowed, "{name}");
    }
    let paths = only(&["/v1/audio/*", "/metrics"]);
    for (path, allowed) in [
        ("/v1/audio/speech", true),
        ("/v1/audio", false),
        ("/v1/audiobooks", false),
        ("/metrics", true),
        ("/metrics/x", false),
        ("/", false),
    ] {
        assert_eq!(paths.allows(path), allowed, "{path}");
    }
    assert!(only(&["/*"]).allows("/") && !only(&["/*"]).allows("tts.status"));
}

#[test]
fn what_is_no_pattern_is_refused() {
    for text in [
        "", "*", "a*", "/a*", "a.*.b", "*.a", "a b", "a\n", "a.**", "/**",
    ] {
        assert!(Only::parse(&[text.to_owned()]).is_err(), "{text:?}");
    }
    assert!(Only::parse(&[]).is_err());
    assert!(Only::parse(&vec!["a".to_owned(); MAX_PATTERNS]).is_ok());
    assert!(Only::parse(&vec!["a".to_owned(); MAX_PATTERNS + 1]).is_err());
}

fn pattern() -> impl Strategy<Value = String> {
    "(a|b)(\\.(a|b)){0,2}(\\.\\*)?"
}

proptest! {
    #[test]
    fn what_covers_allows_all_that_the_other_does(
        wide in proptest::collection::vec(pattern(), 1..4),
        narrow in proptest::collection::vec(pattern(), 1..4),
        name in "(a|b)(\\.(a|b)){0,3}",
    ) {
        let (wide, narrow) = (Only::parse(&wide).unwrap(), Only::parse(&narrow).unwrap());
        if wide.covers(&narrow) && narrow.allows(&name) {
            prop_assert!(wide.allows(&name));
        }
        prop_assert!(narrow.covers(&narrow));
        prop_assert_eq!(Only::parse(&narrow.to_texts()).unwrap(), narrow);
    }
}
