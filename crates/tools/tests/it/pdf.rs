//! `web_fetch` of PDF documents.

use crate::harness::{Harness, serve};
use axum::Router;
use axum::http::header;
use axum::routing::get;
use gatehouse_tools::ToolsSettings;
use serde_json::json;
use std::fmt::Write as _;

/// Two pages that a browser printed: compressed streams, embedded fonts with mappings to Unicode, a table and a list.
const PRINTED: &[u8] = include_bytes!("../fixtures/opening-hours.pdf");

/// Returns an uncompressed document with these objects; the first one is the catalog.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let start = file.len();
    let count = objects.len() + 1;
    let _ = write!(file, "xref\n0 {count}\n0000000000 65535 f \n");
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ = write!(
        file,
        "trailer\n<</Size {count}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF"
    );
    file.into_bytes()
}

fn stream(entries: &str, content: &str) -> String {
    let length = content.len();
    format!("<</Length {length}{entries}>>\nstream\n{content}\nendstream")
}

/// Returns a document of one page with this content and these further objects, from number 5.
fn page(resources: &str, content: &str, more: Vec<String>) -> Vec<u8> {
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Count 1/Kids[3 0 R]>>".to_owned(),
        format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<<{resources}>>>>"),
        stream("", content),
    ];
    objects.extend(more);
    pdf(&objects)
}

const HELVETICA: &str =
    "/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>";

async fn call(kind: &'static str, body: Vec<u8>) -> Result<String, String> {
    let answer = async move || ([(header::CONTENT_TYPE, kind)], body);
    let url = serve(Router::new().route("/", get(answer))).await;
    let harness = Harness::open(true, ToolsSettings::default()).await;
    let called = harness
        .call("web_fetch", json!({"url": url.as_str()}))
        .await;
    called.map_err(|error| error.message)
}

/// Returns the text after the lines about the document.
async fn text(body: Vec<u8>) -> String {
    let answer = call("application/pdf", body).await.unwrap();
    let (_, text) = answer.split_once("\n\n").unwrap();
    text.to_owned()
}

#[tokio::test]
async fn a_printed_page_is_read() {
    for kind in [
        "application/pdf",
        "application/octet-stream",
        "Application/PDF; a=b",
    ] {
        let answer = call(kind, PRINTED.to_vec()).await.unwrap();
        for expected in [
            "\nTitle: Opening hours — Öffnungszeiten\n",
            "\n[page 1 of 2]\nOpening hours\n",
            "The gate opens at eight in the morning. It closes when the last visitor has left,",
            "\nVisitor Fee\nAdult 4 €\nChild 2 €\n",
            "Dogs are welcome.",
            "\n[page 2 of 2]\nAuf der zweiten Seite: „Grüße“ — efficient final office.",
        ] {
            assert!(answer.contains(expected), "{expected:?}: {answer}");
        }
    }
}

#[tokio::test]
async fn positions_separate_words_lines_and_paragraphs() {
    for (content, expected) in [
        ("BT /F1 10 Tf (one) Tj 0 -12 Td (two) Tj ET", "one\ntwo"),
        (
            "BT /F1 10 Tf 12 TL (one) Tj T* (two) Tj (three) ' ET",
            "one\ntwo\nthree",
        ),
        ("BT /F1 10 Tf (one) Tj 0 -30 Td (two) Tj ET", "one\n\ntwo"),
        ("BT /F1 10 Tf [(o) 20 (ne) -300 (two)] TJ ET", "one two"),
        (
            "BT /F1 10 Tf 1 0 0 1 50 700 Tm (left) Tj ET BT /F1 10 Tf 1 0 0 1 200 700 Tm (right) Tj ET",
            "left right",
        ),
        (
            "q 2 0 0 -2 0 800 cm BT /F1 10 Tf 1 0 0 -1 0 10 Tm (a) Tj 1 0 0 -1 0 22 Tm (b) Tj ET Q",
            "a\nb",
        ),
        ("BT /F1 10 Tf (x) Tj 3 Ts 5 0 Td (2) Tj ET", "x2"),
        ("BT /F1 10 Tf (caf\\351) Tj ET", "café"),
    ] {
        let text = text(page(HELVETICA, content, Vec::new())).await;
        assert_eq!(text, format!("[page 1 of 1]\n{expected}"), "{content}");
    }
}

#[tokio::test]
async fn forms_and_composite_fonts_are_read() {
    let resources = "/Font<</F2 5 0 R>>/XObject<</X 8 0 R>>";
    let map = "begincodespacerange <0000> <FFFF> endcodespacerange \
               beginbfrange <0001> <FFFF> <0041> endbfrange";
    let more =
        vec![
        "<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>"
            .to_owned(),
        "<</Type/Font/Subtype/CIDFontType2/DW 500/W[1[600 600] 3 9 700]>>".to_owned(),
        stream("", map),
        stream("/Type/XObject/Subtype/Form", "BT /F2 10 Tf <00010002> Tj ET /X Do"),
    ];
    let text = text(page(resources, "/X Do", more)).await;
    assert!(text.starts_with("[page 1 of 1]\nAB"), "{text}");
}

#[tokio::test]
async fn what_cannot_be_read_is_said() {
    let scanned = text(page("", "q 1 0 0 1 0 0 cm Q", Vec::new())).await;
    assert_eq!(
        scanned,
        "(The PDF contains no text. Its pages may be images.)"
    );
    let encrypted = String::from_utf8(page("", "", Vec::new())).unwrap();
    let encrypted = encrypted.replace("/Root 1 0 R", "/Root 1 0 R/Encrypt 9 0 R");
    let large = [PRINTED, &vec![b' '; 10 << 20]].concat();
    for (body, said) in [
        (encrypted.into_bytes(), "encrypted"),
        (b"%PDF-1.7\nno objects".to_vec(), "damaged"),
        (b"x".to_vec(), "damaged"),
        (Vec::new(), "damaged"),
        (large, "larger than 10 MiB"),
    ] {
        let refusal = call("application/pdf", body).await.unwrap_err();
        assert!(refusal.contains(said), "{refusal}");
    }
}

/// Reading any of these documents literally would need unlimited memory or time.
#[tokio::test]
async fn hostile_documents_do_no_harm() {
    let map = "begincodespacerange <00000000> <FFFFFFFF> endcodespacerange \
               beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange";
    let font = "<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R>>".to_owned();
    let all_codes = page(
        "/Font<</F2 5 0 R>>",
        "BT /F2 10 Tf <00000001> Tj ET",
        vec![font, stream("", map)],
    );
    let forms: Vec<String> = (5..15)
        .map(|number| {
            let resources = format!("/Resources<</XObject<</X {} 0 R>>>>", number + 1);
            stream(&format!("/Subtype/Form{resources}"), &"/X Do ".repeat(1000))
        })
        .collect();
    let forms = page("/XObject<</X 5 0 R>>", &"/X Do ".repeat(1000), forms);
    let nested = page("", &"[".repeat(500_000), vec!["[".repeat(500_000)]);
    let operands = page(
        HELVETICA,
        &"0 ".repeat(1 << 20),
        vec![format!("[{}]", "0 ".repeat(2 << 20))],
    );
    let saved = page("", &"q ".repeat(500_000), Vec::new());
    let own_parent =
        b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 1 0 R/Parent 1 0 R/Kids[1 0 R]>>endobj\n\
                       trailer<</Root 1 0 R/Size 2>>"
            .to_vec();
    // One object that the table lists many times.
    let heavy = format!("1 0 obj\n({})\nendobj\n", "x".repeat(1 << 20));
    let start = heavy.len() + 9;
    let entries = "0000000009 00000 n \n".repeat(100_000);
    let repeated = format!(
        "%PDF-1.7\n{heavy}xref\n0 100000\n{entries}trailer\n<</Size 100000/Root 1 0 R>>\n\
         startxref\n{start}\n%%EOF"
    );
    for (name, body) in [
        ("codes", all_codes),
        ("forms", forms),
        ("nested", nested),
        ("operands", operands),
        ("saved", saved),
        ("parent", own_parent),
        ("repeated", repeated.into_bytes()),
    ] {
        let answer = call("application/pdf", body).await;
        if let Err(refusal) = answer {
            assert!(refusal.starts_with("The PDF"), "{name}: {refusal}");
        }
    }
}

#[tokio::test]
async fn no_damage_brings_the_server_down() {
    let harness = Harness::open(true, ToolsSettings::default()).await;
    let damaged = async |axum::extract::Path(number): axum::extract::Path<usize>| {
        let mut body = PRINTED.to_vec();
        let at = number * 397 % body.len();
        if number % 2 == 0 {
            body.truncate(at);
        } else {
            body[at..].iter_mut().take(40).for_each(|byte| *byte = b'9');
        }
        ([(header::CONTENT_TYPE, "application/pdf")], body)
    };
    let base = serve(Router::new().route("/{number}", get(damaged))).await;
    for number in 0..60 {
        let url = base.join(&number.to_string()).unwrap();
        // Either is fine.
        drop(
            harness
                .call("web_fetch", json!({"url": url.as_str()}))
                .await,
        );
    }
    let whole = call("application/pdf", PRINTED.to_vec()).await.unwrap();
    assert!(whole.contains("Opening hours"));
}
