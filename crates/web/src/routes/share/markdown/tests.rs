//! Tests of the parent module.

use super::html;

#[test]
fn what_agents_write() {
    assert_eq!(
        html("# A\n\n*b* **c** ~~d~~ `e`\nf\n\n- [x] g\n- [ ] h"),
        "<h3>A</h3>\n<p><em>b</em> <strong>c</strong> <del>d</del> <code>e</code><br />\nf</p>\n\
         <ul>\n<li>☑ g</li>\n<li>☐ h</li>\n</ul>\n"
    );
    assert_eq!(
        html("|a|b|\n|-|:-:|\n|1|2|"),
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n<tr><td>1</td><td>2</td></tr>\n\
         </tbody></table>\n</div>\n"
    );
    assert_eq!(
        html("```rust\na < b\n```"),
        "<pre tabindex=\"0\" role=\"group\" aria-label=\"Code\"><code>a &lt; b\n</code></pre>\n"
    );
}

#[test]
fn a_line_break_is_one() {
    for tag in ["<br>", "<br/>", "<BR />"] {
        assert_eq!(html(&format!("a{tag}b")), "<p>a<br />\nb</p>\n", "{tag}");
    }
}

#[test]
fn no_level_of_headings_is_skipped() {
    assert_eq!(
        html("#### A\n# B\n### C\n###### D"),
        "<h3>A</h3>\n<h3>B</h3>\n<h4>C</h4>\n<h5>D</h5>\n"
    );
}

#[test]
fn a_link_without_a_text_is_called_by_where_it_leads() {
    for text in [
        "[](https://a.example)",
        "![](https://a.example)",
        "[![](/b)](https://a.example)",
    ] {
        assert_eq!(
            html(text),
            "<p><a href=\"https://a.example\">https://a.example</a></p>\n",
            "{text}"
        );
    }
}

#[test]
fn markup_is_shown_as_text() {
    for text in [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<div>\n<style>*{}</style>\n</div>",
        "<!-- a -->",
        "# <b>x</b>",
        "`<b>`",
        "<svg/onload=alert(1)>",
    ] {
        let markup = html(text);
        for tag in ["script", "img", "div", "style", "!--", "b>", "svg"] {
            assert!(!markup.contains(&format!("<{tag}")), "{markup}");
        }
    }
}

#[test]
fn links_lead_to_the_web_or_to_mail() {
    assert_eq!(
        html("[a](https://a.example \"t\") <mailto:b@c.example>"),
        "<p><a href=\"https://a.example\">a</a> <a href=\"mailto:b@c.example\">mailto:b@c.example</a></p>\n"
    );
    for address in [
        "javascript:alert(1)",
        "data:text/html,x",
        "//a.example",
        "/api",
        "JaVaScRiPt:1",
    ] {
        assert_eq!(html(&format!("[a]({address})")), "<p>a</p>\n", "{address}");
    }
    assert_eq!(
        html("[a](https://a.example/\"><b>)"),
        "<p><a href=\"https://a.example/%22%3E%3Cb%3E\">a</a></p>\n"
    );
}

#[test]
fn pictures_are_links_and_nothing_is_loaded() {
    assert_eq!(
        html("![a](https://a.example/b.png)"),
        "<p><a href=\"https://a.example/b.png\">a</a></p>\n"
    );
    assert_eq!(html("![a](data:image/png;base64,AA)"), "<p>a</p>\n");
    assert_eq!(
        html("[![a](https://a.example/b.png) c](https://d.example)"),
        "<p><a href=\"https://d.example\">a c</a></p>\n"
    );
    assert_eq!(
        html("[![a](https://a.example/b.png) c](/d)"),
        "<p><a href=\"https://a.example/b.png\">a</a> c</p>\n"
    );
}
