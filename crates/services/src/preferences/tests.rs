//! Tests of the parent module.

use super::*;

fn refused_field(name: &str, value: &str) -> Option<&'static str> {
    let new = NewPreference {
        kind: PreferenceKind::Prompts,
        name: name.to_owned(),
        value: value.to_owned(),
    };
    match checked(new) {
        Ok(_) => None,
        Err(PreferencesError::Invalid { field, .. }) => Some(field),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_name_is_one_line_of_at_most_60_characters() {
    for (name, refused) in [
        ("ü".repeat(60), None),
        ("ü".repeat(61), Some("name")),
        (String::new(), Some("name")),
        (" ".to_owned(), Some("name")),
        ("a\nb".to_owned(), Some("name")),
    ] {
        assert_eq!(refused_field(&name, "text"), refused, "{name}");
    }
}

#[test]
fn a_value_has_at_most_10000_characters() {
    for (value, refused) in [
        ("ü".repeat(10_000), None),
        ("ü".repeat(10_001), Some("value")),
        ("a\nb".to_owned(), None),
        (" \n".to_owned(), Some("value")),
        ("a\0b".to_owned(), Some("value")),
    ] {
        assert_eq!(refused_field("name", &value), refused);
    }
}

#[test]
fn entries_of_an_unknown_kind_are_left_out() {
    let row = |kind: &str| PreferenceRow {
        kind: kind.to_owned(),
        name: kind.to_owned(),
        value: "v".to_owned(),
    };
    let all = Preferences::of(vec![row("future"), row("prompts"), row("saved_filters")]);
    assert_eq!(all.prompts[0].name, "prompts");
    assert_eq!(all.saved_filters[0].name, "saved_filters");
    assert_eq!((all.prompts.len(), all.saved_filters.len()), (1, 1));
}
