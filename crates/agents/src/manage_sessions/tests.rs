//! Tests of the parent module.

use super::list::excerpt;

#[test]
fn an_excerpt_is_one_line_around_the_match() {
    assert_eq!(excerpt("We need\n  Cheese.", "cheese"), "We need Cheese.");
    let long = format!("{} cheese {}", "ä".repeat(100), "ö".repeat(100));
    let found = excerpt(&long, "cheese");
    assert!(found.starts_with("…ä") && found.ends_with("ö…"), "{found}");
    assert!(found.contains(" cheese "));
}

#[test]
fn an_excerpt_survives_letters_whose_lower_case_is_longer() {
    let found = excerpt(&"İ".repeat(100), &"İ".to_lowercase());
    assert!(!found.is_empty());
    excerpt("", "x");
}
