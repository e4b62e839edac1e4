//! Tests of the parent module.

use super::*;

#[test]
fn names_codes_and_tags_become_codes() {
    for (said, expected) in [
        ("english", "en"),
        ("English", "en"),
        ("haitian creole", "ht"),
        ("en", "en"),
        ("EN", "en"),
        ("en-US", "en"),
        ("pt_BR", "pt"),
        ("cmn-Hans-CN", "zh"),
        ("yue", "zh"),
        ("fil-PH", "tl"),
        ("jw", "jv"),
    ] {
        assert_eq!(code(said).as_deref(), Some(expected), "{said}");
    }
    for said in ["", "multi", "und", "klingon", "x", "haw", "1a"] {
        assert_eq!(code(said), None, "{said}");
    }
}

#[test]
fn each_code_has_the_name_that_whisper_returns() {
    for (_, expected) in NAMES {
        let of_code = |(name, code): &&(&str, &str)| code == expected && !ALIASES.contains(name);
        assert_eq!(NAMES.iter().filter(of_code).count(), 1, "{expected}");
        assert_eq!(code(name(expected).unwrap()).as_deref(), Some(*expected));
    }
    for (code, expected) in [
        ("en", "english"),
        ("zh", "chinese"),
        ("ht", "haitian creole"),
    ] {
        assert_eq!(name(code), Some(expected), "{code}");
    }
    for none in ["und", "", "yue", "english"] {
        assert_eq!(name(none), None, "{none}");
    }
    assert!(ALIASES.iter().all(|alias| named(NAMES, alias).is_some()));
}

#[test]
fn only_the_language_of_a_locale_is_left() {
    assert_eq!(primary("en-US").as_deref(), Some("en"));
    assert_eq!(primary("YUE").as_deref(), Some("yue"));
    assert_eq!(primary("pt_BR").as_deref(), Some("pt"));
    for none in ["", "auto", "e", "--", "e1", "english", "é"] {
        assert_eq!(primary(none), None, "{none}");
    }
}

#[test]
fn a_tag_has_the_usual_case() {
    for (said, expected) in [
        ("en", "en"),
        ("EN", "en"),
        ("EN-us", "en-US"),
        ("pt_br", "pt-BR"),
        ("ZH-HANT-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("de-1996", "de-1996"),
        ("German", "de"),
        ("multi", "multi"),
        ("", ""),
    ] {
        assert_eq!(tag(said), expected, "{said}");
    }
}

#[test]
fn the_tables_are_in_order_and_name_each_once() {
    for table in [NAMES, CODES] {
        assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(table.iter().all(|(_, code)| code.len() == 2));
    }
}

#[test]
fn what_is_wanted_is_passed_on_when_it_is_not_known() {
    assert_eq!(wanted(Some("de-CH")).as_deref(), Some("de"));
    assert_eq!(wanted(Some("German")).as_deref(), Some("de"));
    assert_eq!(wanted(Some("yue")).as_deref(), Some("yue"));
    assert_eq!(wanted(Some("klingon")).as_deref(), Some("klingon"));
    assert_eq!(wanted(Some("haw")).as_deref(), Some("haw"));
    assert_eq!(wanted(Some(" ")), None);
    assert_eq!(wanted(None), None);
}
