//! Tests of the parent module.

use super::*;

fn html(file: &'static str, text: &'static str) -> String {
    render(&Chapter { file, text }).html
}

#[test]
fn links_lead_to_pages_or_become_text() {
    for (file, link, expected) in [
        ("API.md", "OPERATIONS.md", Some("/docs/OPERATIONS")),
        ("API.md", "OPERATIONS.md#tls", Some("/docs/OPERATIONS#tls")),
        ("API.md", "#limits", Some("#limits")),
        (
            "decisions/0001-one-write-transaction.md",
            "../API.md",
            Some("/docs/API"),
        ),
        ("../CHANGELOG.md", "docs/API.md", Some("/docs/API")),
        ("SECURITY.md", "../CHANGELOG.md", Some("/docs/CHANGELOG")),
        ("API.md", "https://a.example/b", Some("https://a.example/b")),
        ("API.md", "../deploy/gatehouse.service", None),
        ("API.md", "generated/openapi.json", None),
        ("API.md", "../../../etc/passwd", None),
        ("API.md", "javascript:alert(1)", None),
        ("API.md", "", None),
    ] {
        assert_eq!(target(file, link).as_deref(), expected, "{file} {link}");
    }
    assert_eq!(html("API.md", "[a](../ui/x) b"), "<p>a b</p>\n");
}

#[test]
fn headings_have_the_ids_that_links_name() {
    assert_eq!(
        html("API.md", "# A `b`, c & d_e\n\n## A\n\n## A\n"),
        "<h1 id=\"a-b-c--d_e\">A <code>b</code>, c &amp; d_e</h1>\n<h2 id=\"a\">A</h2>\n<h2 id=\"a-1\">A</h2>\n"
    );
}

#[test]
fn sections_have_the_ids_of_their_headings_and_text_without_markup() {
    let text = "none\n\n# A `b`\n\nc **d**\n`e`s\n\n- f\n- g<br>h\n\n## A `b`\n\n|i|\n|-|\n|j|\n\n    k < l\n";
    let file = "API.md";
    let found: Vec<_> = sections(&Chapter { file, text })
        .into_iter()
        .map(|one| {
            let words: Vec<_> = one.text.split_whitespace().collect();
            [one.heading, one.id, words.join(" ")]
        })
        .collect();
    assert_eq!(
        found,
        [
            ["A b", "a-b", "c d es f g h"],
            ["A b", "a-b-1", "i j k < l"]
        ]
    );
}

#[test]
fn markup_is_text_except_for_line_breaks() {
    let page = html(
        "API.md",
        "a<br>b <script>c</script> ![d](e.png)\n\n<div>\nf\n</div>\n",
    );
    assert!(page.starts_with("<p>a<br />\nb &lt;script&gt;c"), "{page}");
    assert!(
        page.contains("<em>d</em>") && !page.contains("<div>") && !page.contains("<img"),
        "{page}"
    );
    let page = html("API.md", "|a|\n|:-:|\n|b|\n\n    c < d\n");
    assert!(
        !page.contains("style=") && page.contains("<code>c &lt; d\n</code>"),
        "{page}"
    );
}
