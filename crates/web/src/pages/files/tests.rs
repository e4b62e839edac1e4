//! Tests of the parent module.

use super::*;

#[test]
fn names_with_a_hash() {
    for path in [
        "assets/index-DiwrgTda.js",
        "assets/index-a_-B0x9z.css",
        "assets/two-words-0123abcD.woff2",
    ] {
        assert!(is_hashed(path), "{path}");
    }
    for path in [
        "assets/offline.html",
        "assets/unbuilt.css",
        "assets/-DiwrgTda.js",
        "assets/DiwrgTda.js",
        "assets/indexDiwrgTda.js",
        "assets/index-DiwrgTd.js",
        "assets/index-Diwrg.da.js",
        "assets/index-Diwrg\u{e9}a.js",
        "icons/icon-DiwrgTda.svg",
        "index-DiwrgTda.js",
        "assets/",
        "assets/é.js",
    ] {
        assert!(!is_hashed(path), "{path}");
    }
}

#[test]
fn links_stand_by_the_first_part_of_the_path() {
    let links =
        br#"{"":"</a.js>; rel=modulepreload","chat":"</c.js>; rel=modulepreload","none":""}"#;
    let link = |path| link_for(links, path);
    assert_eq!(link("/").unwrap(), "</a.js>; rel=modulepreload");
    assert_eq!(link("/chat").unwrap(), "</c.js>; rel=modulepreload");
    assert_eq!(link("/chat/ses_1"), link("/chat"));
    for path in ["/chats", "/none", "/none/a"] {
        assert_eq!(link(path), None, "{path}");
    }
    assert_eq!(link_for(b"nonsense", "/"), None);
}

#[test]
fn types() {
    for (path, kind) in [
        ("manifest.json", "application/manifest+json"),
        ("assets/some.json", "application/json"),
        ("icons/icon-192.png", "image/png"),
        ("assets/a-DiwrgTda.wasm", "application/wasm"),
        ("assets/none", "application/octet-stream"),
    ] {
        assert_eq!(content_type(path), kind, "{path}");
    }
}
