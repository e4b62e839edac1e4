//! Tests of the parent module.

use super::*;

fn html(text: &str) -> String {
    bound(text, None, Duration::from_mins(1)).html
}

#[test]
fn what_is_not_for_reading_goes() {
    let page = "<!doctype html><title>A &amp; B</title><style>p{}</style>\
                <p onclick=x class='c \"d'>one <b>two</b><script>if (a<b) '</p>'</script>\
                <svg><path/></svg><!-- no --><textarea><p></textarea><br><img src=x alt=y>";
    let bounded = bound(page, None, Duration::from_mins(1));
    assert_eq!(
        bounded.html,
        "<title>A &amp; B</title><p class=\"c &quot;d\">one two<br><img alt=\"y\"></p>"
    );
    assert_eq!(bounded.title, "A & B");
    assert_eq!(bounded.text.trim(), "one two");
}

#[test]
fn end_tags_that_authors_leave_out_are_put_in() {
    assert_eq!(html("<p>a<p>b<div>c"), "<p>a</p><p>b</p><div>c</div>");
    assert_eq!(
        html("<ul><li>a<ul><li>b</ul><li>c</ul>"),
        "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"
    );
    assert_eq!(
        html("<table><tr><td>a<td>b<tr><td><p>c</table>d"),
        "<table><tr><td>a</td> <td>b</td> </tr><tr><td><p>c</p></td> </tr></table>d"
    );
    assert_eq!(
        html("<a id=x>1<a id=y>2<code>3<code>4"),
        "<a id=\"x\">1</a><a id=\"y\">2<code>3</code><code>4</code></a>"
    );
    assert_eq!(html("</p></div>x</html>"), "x");
}

#[test]
fn text_stays_apart_without_its_tags() {
    assert_eq!(
        html("<pre><div>a</div><div>b</div>c<br>d</pre>"),
        "<pre><div>a</div>\n<div>b</div>\nc\nd</pre>"
    );
    assert_eq!(
        html("<a><h3>a</h3><p>b</p></a>"),
        "<a><h3>a</h3> <p>b</p> </a>"
    );
}

#[test]
fn depth_and_number_of_tags_are_bounded() {
    let nested = |count: usize| {
        html(&format!(
            "{}x{}",
            "<div>".repeat(count),
            "</div>".repeat(count)
        ))
    };
    let tags = |text: &str| text.matches("<div>").count();
    assert_eq!(tags(&nested(MAX_DEPTH)), MAX_DEPTH);
    assert_eq!(tags(&nested(MAX_DEPTH + 1)), MAX_DEPTH);
    assert!(nested(MAX_DEPTH + 1).ends_with("</div>") && nested(5000).contains('x'));
    let many = html(&"<hr>".repeat(MAX_TAGS + 1));
    assert_eq!(many.matches("<hr>").count(), MAX_TAGS);
    let after = html(&format!("{}<p>still text</p>", "<hr>".repeat(MAX_TAGS)));
    assert!(after.ends_with("still text"));
}

#[test]
fn values_are_bounded_and_time_is() {
    let value = |count: usize| html(&format!("<a id={}>", "x".repeat(count))).len();
    assert_eq!(value(MAX_VALUE + 1), value(MAX_VALUE));
    assert_eq!(value(MAX_VALUE) - value(MAX_VALUE - 1), 1);
    assert_eq!(bound("<p>x", None, Duration::ZERO).html, "");
}
