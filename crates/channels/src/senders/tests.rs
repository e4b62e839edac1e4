//! Tests of the parent module.

use super::*;

#[test]
fn every_type_is_found_once_and_names_no_field_twice() {
    for sender in ALL {
        let about = sender.about();
        assert_eq!(find(about.kind).unwrap().about().kind, about.kind);
        let same = ALL.iter().filter(|other| other.about().kind == about.kind);
        assert_eq!(same.count(), 1);
        let mut names: Vec<_> = about.fields.iter().map(|field| field.name).collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before, "{}", about.kind);
        for field in about.fields {
            assert!(!field.name.contains(':') && !field.label.is_empty() && !field.help.is_empty());
        }
    }
    assert!(find("teletype").is_none());
}
