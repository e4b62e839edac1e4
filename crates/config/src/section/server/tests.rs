//! Tests of the parent module.

use super::*;

#[test]
fn origins_are_compared_by_host_and_port() {
    for (text, host, port, shown) in [
        (
            "https://Chat.Example.com",
            "chat.example.com",
            443,
            "https://chat.example.com",
        ),
        (
            "http://a.example:8080/",
            "a.example",
            8080,
            "http://a.example:8080",
        ),
        ("a.example:80", "a.example", 80, "a.example:80"),
        ("[::1]:3000", "[::1]", 3000, "[::1]:3000"),
    ] {
        let origin: AllowedOrigin = text.parse().unwrap();
        assert!(origin.matches(host, port), "{origin:?}");
        assert!(!origin.matches(host, port + 1));
        assert_eq!(origin.to_string(), shown);
    }
    for text in [
        "",
        "a.example",
        "[::1]",
        "*",
        "https://*.example.com",
        "https://a.example/path",
        "https://u:p@a.example",
        "ftp://a.example",
        "a.example:",
        "a.example:99999",
        "null",
    ] {
        assert!(text.parse::<AllowedOrigin>().is_err(), "{text}");
    }
}
