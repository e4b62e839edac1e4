//! `/docs`: the embedded documents.

use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options};
use std::collections::{BTreeMap, BTreeSet};

fn values<'a>(page: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {attribute}=\"");
    let parts: Vec<&str> = page.split(start.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|part| part.split('"').next())
}

/// Returns all pages that links lead to from the contents, by path.
async fn crawl(owner: &Actor) -> BTreeMap<String, String> {
    let (mut pages, mut waiting) = (BTreeMap::new(), vec!["/docs".to_owned()]);
    while let Some(path) = waiting.pop() {
        let reply = owner.get(&path).await;
        reply.expect(200);
        let links = values(&reply.text, "href").filter(|link| link.starts_with("/docs"));
        waiting.extend(links.map(|link| link.split('#').next().unwrap().to_owned()));
        pages.insert(path, reply.text);
        waiting.retain(|path| !pages.contains_key(path));
    }
    pages
}

#[tokio::test]
async fn every_document_is_served_and_every_link_between_them_has_a_target() {
    let (_server, owner) = light_owner(Options::default()).await;
    let pages = crawl(&owner).await;
    for name in [
        "OPERATIONS",
        "SECURITY",
        "API",
        "CHANGELOG",
        "generated/error-codes",
    ] {
        assert!(pages.contains_key(&format!("/docs/{name}")), "{name}");
    }
    let ids = |page: &str| {
        values(page, "id")
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    let mut fragments = 0;
    for (path, page) in &pages {
        assert!(
            page.contains("<h1") && page.contains(env!("CARGO_PKG_VERSION")),
            "{path}"
        );
        for link in values(page, "href") {
            let (target, fragment) = link.split_once('#').unwrap_or((link, ""));
            if fragment.is_empty() || target.starts_with("http") {
                continue;
            }
            let target = if target.is_empty() {
                path.as_str()
            } else {
                target
            };
            assert!(ids(&pages[target]).contains(fragment), "{path}: {link}");
            fragments += 1;
        }
    }
    assert!(fragments > 10, "{fragments}");
}

#[tokio::test]
async fn the_documents_are_behind_the_gate_and_load_nothing() {
    let (server, owner) = light_owner(Options::default()).await;
    let page = owner.get("/docs/OPERATIONS").await;
    page.expect(200);
    assert!(page.text.contains("SERVICE_BEHIND_PROXY"));
    let policy = page.header("content-security-policy").unwrap().to_owned();
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("script-src"),
        "{policy}"
    );
    assert!(!page.text.contains("<script") && !page.text.contains("<img"));

    let login = server.remote().get("/docs/OPERATIONS").await;
    login.expect(200);
    assert!(!login.text.contains("SERVICE_BEHIND_PROXY"));
    owner.get("/docs/nothing").await.refused(404, "NOT_FOUND");
    let request = owner
        .request("GET", "/docs/nothing")
        .header("accept", "text/html");
    let page = request.send().await.unwrap();
    assert_eq!(page.status(), 404);
    assert!(page.text().await.unwrap().contains("<h1"));
    owner.get("/docs/API.md").await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn a_search_lists_sections_that_exist_and_shows_the_query_as_text() {
    let (server, owner) = light_owner(Options::default()).await;
    let found = owner.get("/docs?q=Scheduled+BACKUPS").await;
    found.expect(200);
    let policy = found.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self'") && !policy.contains("script-src"));
    let mut links = values(&found.text, "href").filter(|link| link.contains('#'));
    let (target, id) = links.next().unwrap().split_once('#').unwrap();
    assert_eq!((target, id), ("/docs/OPERATIONS", "scheduled-backups"));
    for link in links.take(5) {
        let (target, id) = link.split_once('#').unwrap();
        let page = owner.get(target).await;
        assert!(values(&page.text, "id").any(|found| found == id), "{link}");
    }

    let page = owner.get("/docs?q=%3Cscript%3E%22nothing").await;
    page.expect(200);
    assert!(page.text.contains("No section contains"), "{}", page.text);
    assert!(page.text.contains("value=\"&lt;script&gt;&quot;nothing\""));
    assert!(!page.text.contains("<script"));
    let contents = owner.get("/docs").await.text;
    for empty in ["/docs?q=", "/docs?q=+", "/docs?other=1"] {
        assert_eq!(owner.get(empty).await.text, contents, "{empty}");
    }
    let twice = owner.get("/docs?q=a&q=b").await;
    twice.refused(400, "INVALID_REQUEST");
    let login = server.remote().get("/docs?q=backups").await;
    login.expect(200);
    assert!(!login.text.contains("scheduled-backups"));
}
