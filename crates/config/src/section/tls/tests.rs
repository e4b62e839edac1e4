//! Tests of the parent module.

use super::*;

#[test]
fn domains_are_names_that_an_authority_can_reach() {
    let label = "x".repeat(63);
    for (text, read) in [
        ("Gate.Example.com", "gate.example.com"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        (
            &format!("{label}.example"),
            format!("{label}.example").as_str(),
        ),
    ] {
        assert_eq!(check_domain(text).unwrap(), read);
    }
    let long = format!("{}example", "x.".repeat(124));
    for text in [
        "",
        "localhost",
        "*.example.com",
        "a..example",
        ".example.com",
        "a.example.",
        "10.0.0.1",
        "[::1]",
        "a_b.example",
        "-a.example",
        "a-.example",
        "bücher.example",
        "a.example:443",
        "https://a.example",
        &format!("x{label}.example"),
        &long,
    ] {
        assert!(check_domain(text).is_err(), "{text}");
    }
}

#[test]
fn an_address_must_fit_a_mailto_url() {
    assert!(check_email("admin+tls@example.com").is_ok());
    for text in [
        "",
        "admin",
        "@example.com",
        "a@localhost",
        "a b@example.com",
        "a?cc=b@example.com",
        "a,b@example.com",
    ] {
        assert!(check_email(text).is_err(), "{text}");
    }
}
