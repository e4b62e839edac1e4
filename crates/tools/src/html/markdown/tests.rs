//! Tests of the parent module.

use super::*;

#[test]
fn structure_becomes_markdown() {
    for (html, expected) in [
        ("<h2>A</h2><p>b<hr>c", "## A\n\nb\n\n---\n\nc"),
        (
            "<ol start=3><li>a<ul><li>b</ul><li>c</ol>",
            "3. a\n    - b\n4. c",
        ),
        ("<ul><li><img><li>a<li><ul><li></ul></ul>", "- a"),
        ("<a href=/x>a</a>, <a>b</a>", "[a](/x), b"),
        ("<dl><dt>Term<dd>Meaning</dl>", "Term\n\nMeaning"),
        ("<header>A</header><main>B</main>", "A\n\nB"),
        ("<p>see <code>a_b</code></p>", "see `a_b`"),
        ("<p>a<img alt=' Logo '>b<img alt=''>", "a(image: Logo)b"),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn code_keeps_its_lines_and_its_language() {
    for (class, language) in [
        ("<pre><code class='x language-rust'>", "rust"),
        ("<pre class='lang-sh'><code>", "sh"),
        ("<div class='highlight highlight-source-toml'><pre>", "toml"),
        (
            "<div class='highlight-python notranslate'><div class=highlight><pre>",
            "python",
        ),
        ("<pre data-lang=c><code>", "c"),
        ("<div class='highlight-default'><pre>", ""),
    ] {
        let html = format!("{class}a\n    *b*</pre>");
        let expected = format!("```{language}\na\n    *b*\n```");
        assert_eq!(markdown(&html).trim(), expected, "{class}");
    }
}

#[test]
fn tables_stay_tables() {
    let table = "<table><caption>Sizes</caption><thead><tr><th>A<th>B</thead>\
                 <tr><td>1<td>2|3<tr><td>4<tr></table>";
    assert_eq!(
        markdown(table),
        "Sizes\n\n\n| A | B |\n| - | - |\n| 1 | 2\\|3 |\n| 4 |  |"
    );
    let code = "<table><tr><td><pre>1\n2</pre></td><td><pre>a\nb</pre></table>";
    assert_eq!(markdown(code), "```\n1\n2\n```\n\n```\na\nb\n```");
    let nested = "<table><tr><td>x<td><table><tr><td>a<td>b</table></table>";
    let text = markdown(nested);
    assert!(
        text.starts_with('x') && text.contains("| a | b |"),
        "{text}"
    );
}

#[test]
fn names_with_underscores_have_no_backslashes() {
    for (escaped, plain) in [
        ("a del\\_0000 b\\_c\\_d", "a del_0000 b_c_d"),
        ("snake\\_\\_case", "snake__case"),
        ("\\_\u{200b}a", "_\u{200b}a"),
        ("`a\\_b` a\\_b", "`a\\_b` a_b"),
        ("```\na\\_b\n```\na\\_b", "```\na\\_b\n```\na_b"),
    ] {
        assert_eq!(without_needless_escapes(escaped), plain, "{escaped}");
    }
}
