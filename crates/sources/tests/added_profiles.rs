//! Profiles that users add. In a file of its own, because a process can add profiles only once, before it uses one.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use gatehouse_sources::AuthMode;
use gatehouse_sources::profile::{AddError, add, find};
use gatehouse_sources::profile_file::{ProfileFile, parse};

fn named(id: &str) -> ProfileFile {
    let text = format!(
        "id = '{id}'\nname = 'N'\nabout = 'A'\n\
         verify = {{ headers = ['x-sig'], algorithm = 'hmac-sha256' }}\n"
    );
    parse("a.toml", &text, None).unwrap()
}

#[test]
fn profiles_are_added_once_and_under_new_names() {
    for (files, taken) in [
        (vec![named("zoom")], "zoom"),
        (vec![named("github")], "github"),
        (vec![named("slack"), named("b")], "slack"),
        (vec![named("a"), named("a")], "a"),
    ] {
        assert_eq!(add(files), Err(AddError::Exists(taken)));
    }
    assert_eq!(add(vec![named("a"), named("b")]), Ok(()));
    assert_eq!(add(vec![named("c")]), Err(AddError::TooLate));
    assert_eq!(find("b").unwrap().id, "b");
    assert!(find("c").is_none());
    assert!("b_signature".parse::<AuthMode>().is_ok());
}
