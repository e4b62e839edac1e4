//! `web_fetch` against various servers.

use crate::harness::{Harness, serve};
use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::{Html, Redirect};
use axum::routing::get;
use gatehouse_agents::MAX_OUTPUT_BYTES;
use gatehouse_tools::ToolsSettings;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use url::Url;

async fn open() -> Harness {
    Harness::open(true, ToolsSettings::default()).await
}

/// Serves the same answer to every request.
async fn always(content_type: &'static str, body: impl Into<Vec<u8>>) -> Url {
    let body: Vec<u8> = body.into();
    let answer = async move || {
        let mut response = Response::new(Body::from(body));
        if !content_type.is_empty() {
            let value = content_type.parse().unwrap();
            response.headers_mut().insert(header::CONTENT_TYPE, value);
        }
        response
    };
    serve(Router::new().route("/", get(answer))).await
}

async fn fetch(harness: &Harness, url: &Url, max_chars: Option<usize>) -> String {
    let mut input = json!({"url": url.as_str()});
    if let Some(max) = max_chars {
        input["max_chars"] = Value::from(max);
    }
    harness.call("web_fetch", input).await.unwrap()
}

#[tokio::test]
async fn an_article_is_separated_from_the_page_around_it() {
    let sentence =
        "Gatehouses were built to be seen from afar and to be passed by few, and so they were. ";
    let page = format!(
        "<!doctype html><html><head><title>On gatehouses</title><script>evil()</script></head><body>\
         <nav><ul><li><a href=/1>Home</a><li><a href=/2>Shop</a></ul></nav>\
         <article><h1>On gatehouses</h1><p>{0}</p><p>{0}</p><p>A&nbsp;last word &amp; <b>bold</b>.</p></article>\
         <footer>Cookies, imprint</footer></body></html>",
        sentence.repeat(4)
    );
    let url = always("text/html; charset=utf-8", page).await;
    let text = fetch(&open().await, &url, None).await;
    assert!(
        text.starts_with(&format!("URL: {url}\nTitle: On gatehouses\ntotal_chars: ")),
        "{text}"
    );
    assert!(
        text.contains("seen from afar") && text.contains("word & bold."),
        "{text}"
    );
    assert!(!text.contains("Shop") && !text.contains("evil"), "{text}");
}

#[tokio::test]
async fn a_page_without_an_article_comes_whole() {
    let page = "<title>List</title><ul><li>one<li>two</ul><table><tr><td>a<td>b</table>";
    let text = fetch(&open().await, &always("text/html", page).await, None).await;
    for word in ["Title: List", "one", "two", "a", "b"] {
        assert!(text.contains(word), "{text}");
    }
    let empty = fetch(&open().await, &always("text/html", "").await, None).await;
    assert!(empty.ends_with("(The page contains no text.)"), "{empty}");
}

#[tokio::test]
async fn links_keep_their_targets() {
    let harness = open().await;
    let sentence = "Gatehouses were built to be seen from afar and to be passed by few. ";
    let article = format!(
        "<title>T</title><nav><a href=/shop>Shop</a> <a href=/home>Home</a></nav><article>\
         <p>{0} Read <a href='more?x=1&amp;y=2'>the <b>rest</b></a>, or <a href=#top>this</a>.</p>\
         <p>{0}</p></article>",
        sentence.repeat(8)
    );
    // Too short for an article, so the whole page is returned.
    let list = "<ul><li><a href=//b.example/one>One</a><li><a href=javascript:x()>Two</a></ul>";
    let based = "<base href=https://c.example/d/><p><a href=e>E</a> &#xf0000;F";
    let pages = [
        ("/a/article", article.as_str()),
        ("/list", list),
        ("/based", based),
    ];
    let mut router = Router::new().route("/moved", get(async || Redirect::to("/a/article")));
    for (path, page) in pages {
        let page = page.to_owned();
        router = router.route(path, get(async move || Html(page)));
    }
    let url = serve(router).await;
    let text = fetch(&harness, &url.join("/moved").unwrap(), None).await;
    let more = url.join("/a/more?x=1&y=2").unwrap();
    assert!(
        text.contains(&format!("Read [the rest]({more}), or this.")),
        "{text}"
    );
    assert!(!text.contains("shop"), "{text}");
    let text = fetch(&harness, &url.join("/list").unwrap(), None).await;
    assert!(
        text.contains("- [One](http://b.example/one)\n- Two") && !text.contains("javascript"),
        "{text}"
    );
    let text = fetch(&harness, &url.join("/based").unwrap(), None).await;
    assert!(text.ends_with("[E](https://c.example/d/e) F"), "{text}");
}

#[tokio::test]
async fn structure_is_kept_as_markdown() {
    let sentence = "Gatehouses were built to be seen from afar and to be passed by few. ";
    let body = "<h2>Use</h2><ol><li>Install it</li><li>Run it:\
                <pre><code class=language-sh>cargo run\n  --release</code></pre></li></ol>\
                <table><tr><th>Key</th><th>Meaning</th></tr><tr><td><code>max_chars</code></td>\
                <td>the length</td></tr></table>";
    let article = format!(
        "<title>T</title><nav><a href=/x>X</a></nav><article><p>{0}</p>{body}<p>{0}</p></article>",
        sentence.repeat(8)
    );
    let harness = open().await;
    // The main text of an article, and a page without one.
    for page in [article, format!("<title>T</title>{body}")] {
        let text = fetch(&harness, &always("text/html", page).await, None).await;
        for expected in [
            "## Use\n",
            "\n1. Install it\n2. Run it:\n",
            "```sh\n",
            "cargo run\n",
            "  --release\n",
            "\n| Key | Meaning |\n| --- | ------- |\n| `max_chars` | the length |",
        ] {
            assert!(text.contains(expected), "{expected:?}: {text}");
        }
    }
}

#[tokio::test]
async fn content_types_and_character_sets() {
    let harness = open().await;
    for (kind, body, expected) in [
        (
            "text/plain",
            b"plain <b>text</b>".as_slice(),
            "plain <b>text</b>",
        ),
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("application/json", b"{\"a\": 1}", "{\"a\": 1}"),
        ("application/problem+json", b"[]", "[]"),
        ("text/xml", b"<a>x</a>", "<a>x</a>"),
        ("", b"no type", "no type"),
        (
            "text/html",
            b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2",
            "Привет",
        ),
        ("text/html; charset=shift_jis", b"<p>\x8f\xac", "小"),
        ("text/plain", b"a\x00b\x1b[31mc\xe2\x80\xaed", "ab[31mcd"),
    ] {
        let text = fetch(&harness, &always(kind, body).await, None).await;
        let (_, content) = text.split_once("\n\n").unwrap();
        assert_eq!(content, expected, "{kind}");
    }
    for (kind, body) in [
        ("image/png", b"x".as_slice()),
        ("application/octet-stream", b"text"),
        ("", b"\0\x01"),
    ] {
        let url = always(kind, body).await;
        let refusal = harness
            .refusal("web_fetch", json!({"url": url.as_str()}))
            .await;
        assert!(refusal.contains("not text"), "{kind}: {refusal}");
    }
}

#[tokio::test]
async fn it_sends_a_fixed_agent_and_no_credentials() {
    let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let log = Arc::clone(&seen);
    let answer = async move |headers: HeaderMap| {
        log.lock().unwrap().push(headers);
        (
            [
                (header::SET_COOKIE, "a=b"),
                (header::CONTENT_TYPE, "text/plain"),
            ],
            "ok",
        )
    };
    let url = serve(Router::new().route("/", get(answer))).await;
    let harness = open().await;
    fetch(&harness, &url, None).await;
    fetch(&harness, &url, None).await;
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    for headers in seen.iter() {
        let agent = headers[header::USER_AGENT].to_str().unwrap();
        assert!(
            agent.starts_with("Gatehouse/") && agent.ends_with("(web_fetch)"),
            "{agent}"
        );
        for name in [header::COOKIE, header::AUTHORIZATION, header::REFERER] {
            assert!(!headers.contains_key(&name), "{name}");
        }
    }
}

/// `/n` redirects to `/n-1`, `/0` is the page, and `/to?url` redirects to the URL.
async fn redirects() -> Url {
    let step = async |Path(left): Path<usize>| {
        if left == 0 {
            return Response::new(Body::from("arrived"));
        }
        let status = [301, 302, 303, 307, 308][left % 5];
        Response::builder()
            .status(status)
            .header(header::LOCATION, format!("./{}#part", left - 1))
            .body(Body::empty())
            .unwrap()
    };
    let to = async |uri: axum::http::Uri| {
        Response::builder()
            .status(StatusCode::FOUND)
            .header(header::LOCATION, uri.query().unwrap())
            .body(Body::empty())
            .unwrap()
    };
    let nowhere = async || Response::builder().status(302).body(Body::empty()).unwrap();
    let router = Router::new()
        .route("/{left}", get(step))
        .route("/to", get(to))
        .route("/nowhere", get(nowhere));
    serve(router).await
}

#[tokio::test]
async fn redirects_are_followed_up_to_a_limit_and_checked_each_time() {
    let (harness, base) = (open().await, redirects().await);
    let text = fetch(&harness, &base.join("/5").unwrap(), None).await;
    assert!(
        text.starts_with(&format!("URL: {}\n", base.join("/0").unwrap())),
        "{text}"
    );
    assert!(text.ends_with("arrived"));
    for (path, said) in [
        ("/6", "more than 5 times"),
        ("/nowhere", "cannot be followed"),
        (
            "/to?http://169.254.169.254/latest/meta-data/",
            "must not be called",
        ),
        ("/to?//metadata.google.internal/", "must not be called"),
        ("/to?http://[::ffff:a9fe:a9fe]/", "must not be called"),
        ("/to?http://u:p@127.0.0.1/", "user name"),
        ("/to?file:///etc/passwd", "http"),
        ("/to?gopher://127.0.0.1/", "http"),
    ] {
        let url = base.join(path).unwrap();
        let refusal = harness
            .refusal("web_fetch", json!({"url": url.as_str()}))
            .await;
        assert!(refusal.contains(said), "{path}: {refusal}");
    }
}

#[tokio::test]
async fn answers_that_are_no_page() {
    let harness = open().await;
    let gone = async || StatusCode::GONE;
    let url = serve(Router::new().route("/", get(gone))).await;
    let refusal = harness
        .refusal("web_fetch", json!({"url": url.as_str()}))
        .await;
    assert!(refusal.contains("status 410"), "{refusal}");
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let refusal = harness.refusal("web_fetch", json!({ "url": closed })).await;
    assert!(refusal.contains("could not be established"), "{refusal}");
    for url in [
        "",
        "   ",
        "example.org",
        "not a url",
        &format!("http://h/{}", "x".repeat(4000)),
    ] {
        assert!(
            harness
                .call("web_fetch", json!({ "url": url }))
                .await
                .is_err(),
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_long_text_comes_in_parts() {
    let harness = open().await;
    let mut whole = String::new();
    for number in 0..9000 {
        let _ = writeln!(whole, "line {number} ä€👩");
    }
    let url = always("text/plain; charset=utf-8", whole.clone()).await;
    let total = whole.trim_end().chars().count();
    let (mut seen, mut offset, mut answers) = (String::new(), 0, 0);
    loop {
        let input = json!({"url": url.as_str(), "max_chars": 60_000, "offset": offset});
        let text = harness.call("web_fetch", input).await.unwrap();
        // Nothing is left for the agent to cut.
        assert!(text.len() <= MAX_OUTPUT_BYTES, "{}", text.len());
        let (head, content) = text.split_once("\n\n").unwrap();
        assert!(head.contains(&format!("\ntotal_chars: {total}")), "{head}");
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        answers += 1;
        let Some(next) = field("next_offset: ") else {
            seen.push_str(content);
            break;
        };
        let mark = format!("\n[cut; it continues at offset {next}]");
        seen.push_str(content.strip_suffix(&mark).unwrap());
        seen.push('\n');
        offset = next.parse().unwrap();
        assert_eq!(seen.chars().count(), offset);
    }
    assert_eq!(seen, whole.trim_end());
    assert!(answers > 2);
    for (offset, said) in [(total, "past the end"), (usize::MAX, "past the end")] {
        let input = json!({"url": url.as_str(), "offset": offset});
        let refusal = harness.refusal("web_fetch", input).await;
        assert!(refusal.contains(said), "{refusal}");
        assert!(refusal.contains(&total.to_string()), "{refusal}");
    }
}

#[tokio::test]
async fn the_length_of_an_answer_is_what_was_asked_for() {
    let harness = open().await;
    let tool = harness.agents.tools().find("web_fetch").unwrap();
    let limits = &tool.parameters()["properties"]["max_chars"];
    assert_eq!(limits["maximum"], 60_000);
    assert_eq!(limits["default"], 20_000);
    let url = always("text/plain", "x".repeat(200_000)).await;
    for (asked, expected) in [(None, 20_000), (Some(100), 100), (Some(60_000), 60_000)] {
        let text = fetch(&harness, &url, asked).await;
        let (_, content) = text.split_once("\n\n").unwrap();
        assert_eq!(content.matches('x').count(), expected);
        let next = format!("next_offset: {expected}\n");
        assert!(text.contains(&next), "{}", &text[..100]);
        assert!(text.len() <= MAX_OUTPUT_BYTES);
    }
    for wrong in [99, 60_001] {
        let input = json!({"url": url.as_str(), "max_chars": wrong});
        let refusal = harness.refusal("web_fetch", input).await;
        assert!(refusal.contains("from 100 to 60000"), "{refusal}");
    }
    let fits = always("text/plain", "y".repeat(200)).await;
    let text = fetch(&harness, &fits, Some(200)).await;
    assert!(
        text.ends_with(&format!("\ntotal_chars: 200\n\n{}", "y".repeat(200))),
        "{text}"
    );
}

#[tokio::test]
async fn bodies_are_read_up_to_the_limit() {
    let harness = open().await;
    for (bytes, truncated) in [(2 << 20, false), ((2 << 20) + 1, true)] {
        let url = always("text/plain", "x".repeat(bytes)).await;
        let text = fetch(&harness, &url, Some(1000)).await;
        assert_eq!(text.contains("larger than 2 MiB"), truncated, "{bytes}");
    }
}

#[tokio::test]
async fn hostile_html_neither_overflows_nor_hangs() {
    let harness = open().await;
    let mut formatting = String::new();
    for number in 0..20_000 {
        let _ = write!(formatting, "<b id={number}>");
    }
    let mut attributes = "<p ".to_owned();
    for number in 0..60_000 {
        let _ = write!(attributes, "a{number}=1 ");
    }
    let nested = |open: &str, close: &str, count: usize| {
        format!(
            "{}<p>the text</p>{}",
            open.repeat(count),
            close.repeat(count)
        )
    };
    for page in [
        nested("<div>", "</div>", 100_000),
        nested("<div>", "", 100_000),
        nested("<a href=x><table><tr><td>", "", 40_000),
        nested("<ul><li>", "</li></ul>", 60_000),
        nested("<span><font><b><i>", "", 40_000),
        nested("<svg><g><foreignObject>", "", 30_000),
        nested("<template><math><mtext>", "", 30_000),
        nested("<select><option>", "", 30_000),
        nested("<frameset><frame>", "", 1000),
        nested("</div></p></table>", "", 60_000),
        nested("<blockquote><dl><dt>", "", 50_000),
        format!("{formatting}{}", "<p>the text".repeat(20_000)),
        format!("<p>the text{}", "<!--".repeat(100_000)),
        format!("<p>the text{}", "&".repeat(500_000)),
        format!("<p>the text{}", "&notin".repeat(100_000)),
        format!("<p>the text{}", "<".repeat(500_000)),
        format!("<p>the text<p class=\"{}", "x".repeat(1 << 20)),
        format!("<p>the text<title>{}", "x".repeat(1 << 20)),
        format!("<p>the text<textarea>{}", "</textare".repeat(100_000)),
        format!("<table>{}", "<tr><td>the text".repeat(60_000)),
        format!("<p>the text</p>{}", "<p>x</p>".repeat(200_000)),
        format!("<p>the text</p>{}", "<img src=x alt=y>".repeat(100_000)),
    ] {
        let url = always("text/html", page.clone()).await;
        let text = fetch(&harness, &url, Some(50_000)).await;
        // A long word may move the text to another line.
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains("the text"), "{}… gave {text}", &page[..40]);
    }
    // Reading stops at its time limit, so later text may be missing.
    let url = always("text/html", format!("{attributes}>the text</p>")).await;
    fetch(&harness, &url, None).await;
}
