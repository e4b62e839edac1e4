use super::*;
use std::io::Write as _;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns the part that names the main part.
fn root(main: &str) -> String {
    format!(
        "<Relationships><Relationship Id='rId1' Type='{RELATIONS}/officeDocument' Target='{main}'/></Relationships>"
    )
}

fn word(body: &str) -> Vec<u8> {
    let document = format!("<?xml version='1.0'?><w:document xmlns:w='w'>{body}</w:document>");
    let root = root("word/document.xml");
    archive(&[("_rels/.rels", &root), ("word/document.xml", &document)])
}

fn text_of(data: &[u8]) -> Result<String, OfficeError> {
    read(data).unwrap().text
}

#[test]
fn a_word_document() {
    let document = word(
        "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>Fish &amp; ch</w:t></w:r><w:r><w:t>ips</w:t>\
         <w:tab/><w:t>a&#228;</w:t><w:br/><w:t>next</w:t></w:r></w:p>\
         <w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>\
         <w:tbl><w:tr><w:tc><w:p><w:t>A1</w:t></w:p></w:tc><w:tc><w:p><w:t>B1</w:t></w:p></w:tc></w:tr></w:tbl>",
    );
    let office = read(&document).unwrap();
    assert_eq!(office.media_type, Format::Word.media_type());
    assert_eq!(office.text.unwrap(), "Fish & chips\taä\nnext\n\nA1\tB1\n");
}

#[test]
fn a_workbook() {
    let relations = format!(
        "<Relationships><Relationship Id='r1' Type='{RELATIONS}/worksheet' Target='worksheets/sheet7.xml'/>\
         <Relationship Id='r2' Type='{RELATIONS}/sharedStrings' Target='/xl/sharedStrings.xml'/></Relationships>"
    );
    let workbook = archive(&[
        ("_rels/.rels", &root("/xl/workbook.xml")),
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='Q&amp;A' r:id='r1'/><sheet name='Empty' r:id='r9'/></sheets></workbook>",
        ),
        ("xl/_rels/workbook.xml.rels", &relations),
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>Item</t></si><si><r><t>Pri</t></r><r><t>ce</t></r><rPh><t>x</t></rPh></si></sst>",
        ),
        (
            "xl/worksheets/sheet7.xml",
            "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>1</v></c></row>\
             <row r='2'><c r='B2'><f>1+1</f><v>2</v></c><c r='D2' t='inlineStr'><is><t>in\nline</t></is></c></row>\
             <row r='3'><c t='s'><v>99</v></c></row></sheetData></worksheet>",
        ),
    ]);
    let office = read(&workbook).unwrap();
    assert_eq!(office.media_type, Format::Excel.media_type());
    let text = "\n[sheet Q&A]\nItem\tPrice\n\t2\t\tin line\n\n\n[sheet Empty]\n";
    assert_eq!(office.text.unwrap(), text);
}

#[test]
fn slides_in_the_order_of_their_numbers() {
    let slide = |text: &str| format!("<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>");
    let slides = archive(&[
        ("_rels/.rels", &root("ppt/presentation.xml")),
        ("ppt/slides/slide10.xml", &slide("last")),
        ("ppt/slides/slide2.xml", &slide("first")),
        ("ppt/slides/_rels/slide2.xml.rels", "<Relationships/>"),
    ]);
    let office = read(&slides).unwrap();
    assert_eq!(office.media_type, Format::PowerPoint.media_type());
    let text = office.text.unwrap();
    assert_eq!(text, "\n[slide 2]\nfirst\n\n[slide 10]\nlast\n");
}

#[test]
fn open_documents() {
    let document = |kind: &str, body: &str| {
        let content = format!("<office:document-content>{body}</office:document-content>");
        let kind = format!("application/vnd.oasis.opendocument.{kind}");
        let document = archive(&[("mimetype", &kind), ("content.xml", &content)]);
        let office = read(&document).unwrap();
        assert_eq!(office.media_type, kind);
        office.text.unwrap()
    };
    let text = document(
        "text",
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
         <text:h>Title</text:h>\n<text:p>a<text:s text:c='3'/><text:span>b</text:span><text:tab/>c<text:line-break/>d</text:p>",
    );
    assert_eq!(text, "Title\na   b\tc\nd\n");
    let row = "<table:table-row><table:table-cell><text:p>1</text:p></table:table-cell>\
               <table:table-cell><text:p>2</text:p></table:table-cell>\
               <table:table-cell table:number-columns-repeated='1000'/></table:table-row>";
    let sheet = format!("<table:table table:name='S'>{row}{row}</table:table>");
    assert_eq!(document("spreadsheet", &sheet), "\n[sheet S]\n1\t2\n1\t2\n");
    let slides = "<draw:page draw:name='p1'><text:p>Hello</text:p></draw:page>";
    assert_eq!(document("presentation", slides), "\n[slide p1]\nHello\n");
}

#[test]
fn other_archives_are_not_documents() {
    assert_eq!(read(&archive(&[("a.txt", "a")])), None);
    assert_eq!(
        read(&archive(&[("mimetype", "application/epub+zip")])),
        None
    );
    assert_eq!(
        read(&archive(&[("_rels/.rels", &root("evil/x.xml"))])),
        None
    );
    assert_eq!(read(b"PK\x03\x04word"), None);
}

#[test]
fn damaged_and_encrypted_documents_say_so() {
    let unreadable = Err(OfficeError::Unreadable);
    assert_eq!(text_of(&word("<w:p><w:t>a</w:p>")), unreadable);
    // The flag for encryption, in both headers of the last entry.
    let mut document = word("<w:p><w:t>a</w:t></w:p>");
    for (mark, flags) in [(&b"PK\x03\x04"[..], 6), (ENTRY_MARK, 8)] {
        let at = document.windows(4).rposition(|part| part == mark).unwrap();
        document[at + flags] |= 1;
    }
    assert_eq!(text_of(&document), unreadable);
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]>\
                <w:document><w:t>&b;</w:t></w:document>";
    let root = root("word/document.xml");
    let bomb = archive(&[("_rels/.rels", &root), ("word/document.xml", bomb)]);
    assert_eq!(text_of(&bomb), Err(OfficeError::Unreadable));
    assert_eq!(
        text_of(&word("<w:p><w:t>a&b;c</w:t></w:p>")).unwrap(),
        "ac\n"
    );
}

#[test]
fn a_document_may_decompress_to_64_mib_and_not_a_byte_more() {
    let around = "<w:document></w:document>".len();
    let root = root("word/document.xml");
    let document = |total: u64| {
        let spaces = usize::try_from(total).unwrap() - root.len() - around;
        let main = format!("<w:document>{}</w:document>", " ".repeat(spaces));
        let document = archive(&[("_rels/.rels", &root), ("word/document.xml", &main)]);
        assert!(document.len() < 1 << 20, "it is small: {}", document.len());
        text_of(&document)
    };
    assert_eq!(document(MAX_BYTES).unwrap(), "");
    assert_eq!(document(MAX_BYTES + 1), Err(OfficeError::TooLarge));
}

#[test]
fn an_archive_may_have_4096_entries_and_not_one_more() {
    let document = |entries: usize| {
        let names: Vec<String> = (2..entries).map(|n| n.to_string()).collect();
        let root = root("word/document.xml");
        let mut parts = vec![
            ("_rels/.rels", root.as_str()),
            ("word/document.xml", "<w:p><w:t>a</w:t></w:p>"),
        ];
        parts.extend(names.iter().map(|name| (name.as_str(), "")));
        read(&archive(&parts))
    };
    assert_eq!(document(MAX_ENTRIES).unwrap().text.unwrap(), "a\n");
    assert_eq!(document(MAX_ENTRIES + 1), None);
}

#[test]
fn a_string_that_many_cells_repeat_ends_at_the_limit_of_text() {
    let relations = format!(
        "<Relationships><Relationship Id='r1' Type='{RELATIONS}/worksheet' Target='s.xml'/>\
         <Relationship Id='r2' Type='{RELATIONS}/sharedStrings' Target='t.xml'/></Relationships>"
    );
    let strings = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1 << 20));
    let cells = "<c t='s'><v>0</v></c>".repeat(1_000);
    let sheet = format!("<worksheet><row>{cells}</row></worksheet>");
    let workbook = archive(&[
        ("_rels/.rels", &root("xl/workbook.xml")),
        (
            "xl/workbook.xml",
            "<workbook><sheet name='S' r:id='r1'/></workbook>",
        ),
        ("xl/_rels/workbook.xml.rels", &relations),
        ("xl/t.xml", &strings),
        ("xl/s.xml", &sheet),
    ]);
    let text = text_of(&workbook).unwrap();
    assert!((MAX_TEXT_BYTES..MAX_TEXT_BYTES + (2 << 20)).contains(&text.len()));
}
