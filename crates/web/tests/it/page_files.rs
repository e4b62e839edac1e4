//! Tests the lookup, caching and compression of the page's files, with and without a built page. They use the files
//! that the shell names. A build without the page has a separate style sheet.

use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options, TestServer};

/// Returns the distinct files below `/assets/` that the shell names.
async fn assets(actor: &Actor) -> Vec<String> {
    let shell = actor.get("/onboarding").await;
    shell.expect(200);
    let mut found: Vec<String> = shell
        .text
        .split(['"', '\''])
        .filter(|part| part.starts_with("/assets/"))
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    assert!(!found.is_empty(), "{}", shell.text);
    found
}

/// A build without the page has exactly one file, with a distinctive name.
fn is_built(assets: &[String]) -> bool {
    assets != ["/assets/unbuilt.css"]
}

/// Fetches a file with this `Accept-Encoding`, without decoding the body.
async fn fetch(server: &TestServer, path: &str, encodings: &str) -> (reqwest::Response, String) {
    let client = reqwest::Client::builder()
        .no_proxy()
        .no_gzip()
        .no_brotli()
        .build()
        .unwrap();
    let reply = client
        .get(format!("http://{}{path}", server.address()))
        .header("accept-encoding", encodings)
        .send()
        .await
        .unwrap();
    let encoding = reply.headers().get("content-encoding");
    let encoding = encoding.map_or("", |value| value.to_str().unwrap());
    let encoding = encoding.to_owned();
    (reply, encoding)
}

/// Fetches the bytes with a client that decodes brotli or gzip automatically.
async fn decoded(server: &TestServer, path: &str, encoding: &str) -> Vec<u8> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .brotli(encoding == "br")
        .gzip(encoding == "gzip")
        .build()
        .unwrap();
    let address = server.address();
    let reply = client.get(format!("http://{address}{path}")).send().await;
    reply.unwrap().bytes().await.unwrap().to_vec()
}

#[tokio::test]
async fn files_are_there_and_known_again() {
    let (server, _owner) = light_owner(Options::default()).await;
    for (path, kind) in [
        ("/icons/icon.svg", "image/svg+xml"),
        ("/favicon.ico", "image/svg+xml"),
        ("/sw.js", "text/javascript; charset=utf-8"),
        ("/manifest.json", "application/manifest+json"),
    ] {
        let reply = server.remote().get(path).await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.header("content-type"), Some(kind), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-cache"), "{path}");
        assert_eq!(reply.header("vary"), Some("accept-encoding"), "{path}");
        let tag = reply.header("etag").unwrap();
        for known in [tag.to_owned(), format!("W/{tag}"), format!("\"x\", {tag}")] {
            let again = server
                .remote()
                .with("if-none-match", &known)
                .get(path)
                .await;
            assert_eq!(
                (again.status.as_u16(), again.text.as_str()),
                (304, ""),
                "{path}"
            );
            assert_eq!(again.header("etag"), Some(tag), "{path}");
            assert_eq!(again.header("vary"), Some("accept-encoding"), "{path}");
        }
        let other = server.remote().with("if-none-match", "\"x\"");
        assert_eq!(other.get(path).await.status, 200, "{path}");
    }
    let manifest = server.remote().get("/manifest.json").await.json();
    assert!(manifest["name"].is_string(), "{manifest}");
    let icons = manifest["icons"].as_array().unwrap();
    assert!(!icons.is_empty());
    for icon in icons {
        let path = icon["src"].as_str().unwrap();
        let reply = server.remote().get(path).await;
        reply.expect(200);
        assert_eq!(reply.header("content-type"), icon["type"].as_str());
    }
}

#[tokio::test]
async fn what_the_shell_names_is_there() {
    let (server, _owner) = light_owner(Options::default()).await;
    let names = assets(&server.remote()).await;
    for path in &names {
        let reply = server.remote().get(path).await;
        reply.expect(200);
        let kind = reply.header("content-type").unwrap();
        let expected = match path.rsplit_once('.').unwrap().1 {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => kind,
        };
        assert_eq!(kind, expected, "{path}");
        // The name of a built file changes with its content. The file of a build without a page keeps its
        // name.
        let keep = if is_built(&names) {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        assert_eq!(reply.header("cache-control"), Some(keep), "{path}");
    }
}

#[tokio::test]
async fn a_build_without_the_page_says_so() {
    let (server, _owner) = light_owner(Options::default()).await;
    let names = assets(&server.remote()).await;
    let shell = server.remote().get("/").await;
    assert_eq!(
        !is_built(&names),
        shell.text.contains("built without the web UI"),
        "{}",
        shell.text
    );
    assert_eq!(
        is_built(&names),
        shell.text.contains("<script type=\"module\""),
        "{}",
        shell.text
    );
    // The raw document in the folder is not served as a file.
    for path in ["/index.html", "/unbuilt.html"] {
        assert_eq!(server.remote().get(path).await.text, shell.text);
    }
}

#[tokio::test]
async fn compressed_and_plain_are_the_same_bytes() {
    let (server, _owner) = light_owner(Options::default()).await;
    let names = assets(&server.remote()).await;
    let mut seen = Vec::new();
    for path in names
        .iter()
        .map(String::as_str)
        .chain(["/sw.js", "/manifest.json"])
    {
        let (reply, encoding) = fetch(&server, path, "identity").await;
        assert_eq!(encoding, "", "{path}");
        let plain_tag = reply.headers()["etag"].clone();
        let plain = reply.bytes().await.unwrap();
        for (accepted, wanted) in [("gzip", "gzip"), ("gzip, deflate, br", "br")] {
            let (reply, encoding) = fetch(&server, path, accepted).await;
            assert_eq!(reply.headers()["vary"], "accept-encoding", "{path}");
            if encoding.is_empty() {
                // Compression does not make the file smaller, or the page is not built.
                assert_eq!(reply.headers()["etag"], plain_tag, "{path}");
                continue;
            }
            assert_eq!(encoding, wanted, "{path}");
            let tag = reply.headers()["etag"].to_str().unwrap().to_owned();
            assert_ne!(plain_tag, tag, "{path}");
            assert!(reply.bytes().await.unwrap().len() < plain.len(), "{path}");
            assert_eq!(decoded(&server, path, wanted).await, plain, "{path}");
            // The tag of one encoding does not match another encoding.
            let again = server.remote().with("if-none-match", &tag);
            let known = again
                .clone()
                .with("accept-encoding", accepted)
                .get(path)
                .await;
            assert_eq!(known.status, 304, "{path}");
            let plain_again = again.with("accept-encoding", "identity").get(path).await;
            assert_eq!(plain_again.status, 200, "{path}");
            seen.push(wanted);
        }
    }
    assert_eq!(
        is_built(&names),
        seen.contains(&"br") && seen.contains(&"gzip"),
        "{seen:?}"
    );
}

#[tokio::test]
async fn unknown_files_are_404_and_never_the_shell() {
    let (server, _owner) = light_owner(Options::default()).await;
    let mut paths = vec![
        "/assets/nothing.js".to_owned(),
        "/assets/".to_owned(),
        "/assets/index.html".to_owned(),
        "/assets/unbuilt.html".to_owned(),
        "/icons/nothing.png".to_owned(),
        "/icons/icon.svg/x".to_owned(),
        "/icons/icon.svg.br".to_owned(),
        "/icons/icon.svg.gz".to_owned(),
        "/assets/%00".to_owned(),
        "/icons/icon.svg%00".to_owned(),
    ];
    // Precompressed files are served only through the original file's path.
    for path in assets(&server.remote()).await {
        paths.extend([
            format!("{path}.br"),
            format!("{path}.gz"),
            format!("{path}/x"),
        ]);
    }
    for path in paths {
        let reply = server.remote().get(&path).await;
        assert!(
            matches!(reply.status.as_u16(), 400 | 404),
            "{path}: {}",
            reply.text
        );
        assert!(!reply.text.contains("<html"), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
    }
}
