//! Profiles that users add. This test has its own file, because all tests of a process share the list of profiles.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use gatehouse_sources::AuthMode;
use gatehouse_sources::profile::{find, find_event_type, is_taken, set_added};
use gatehouse_sources::profile_file::{ProfileFile, parse};

fn named(id: &str) -> ProfileFile {
    let text = format!(
        "id = '{id}'\nname = 'N'\nabout = 'A'\nevents = [['{id}.made', 'D']]\n\
         verify = {{ headers = ['x-sig'], algorithm = 'hmac-sha256' }}\n"
    );
    parse("a.toml", &text, None).unwrap()
}

#[test]
fn profiles_are_replaced_and_have_new_names() {
    for (file, others) in [
        (named("zoom"), vec![]),
        (named("github"), vec![]),
        (named("slack"), vec![named("b")]),
        (named("a"), vec![named("a")]),
    ] {
        assert!(is_taken(file, &others), "{file:?}");
    }
    assert!(!is_taken(named("a"), &[named("b")]));

    set_added(&[named("a"), named("b"), named("github")]);
    assert_eq!(find("b").unwrap().id, "b");
    assert_eq!(find("github").unwrap().id, "codehost_a");
    let mode: AuthMode = "b_signature".parse().unwrap();
    assert!(!mode.is_unknown());
    assert_eq!(find_event_type("b.made"), Some("b.made"));

    set_added(&[named("a")]);
    assert!(find("b").is_none() && find("a").is_some());
    assert!("b_signature".parse::<AuthMode>().is_err());
    assert_eq!(find_event_type("b.made"), None);
}
