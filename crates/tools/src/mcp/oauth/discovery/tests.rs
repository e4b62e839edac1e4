//! Tests of the parent module.

use super::*;

#[test]
fn the_canonical_uri_has_no_fragment_and_no_bare_slash() {
    for (url, uri) in [
        ("https://MCP.example.com/", "https://mcp.example.com"),
        (
            "https://mcp.example.com:443/mcp",
            "https://mcp.example.com/mcp",
        ),
        ("https://mcp.example.com/a/#x", "https://mcp.example.com/a/"),
        (
            "https://mcp.example.com/?a=1",
            "https://mcp.example.com/?a=1",
        ),
    ] {
        assert_eq!(canonical(&Url::parse(url).unwrap()), uri);
    }
}

#[test]
fn well_known_documents_have_the_path_inserted_first() {
    let all = |url| -> Vec<String> {
        let url = Url::parse(url).unwrap();
        well_known(&url, "x").map(String::from).collect()
    };
    assert_eq!(
        all("https://h/a/b?q=1"),
        ["https://h/.well-known/x/a/b", "https://h/.well-known/x"]
    );
    assert_eq!(all("https://h/"), ["https://h/.well-known/x"]);
}
