//! Converts bounded HTML to Markdown: headings, lists, code blocks, tables and links.

use dom_query::{Document, NodeRef};

/// Elements that browsers put on separate lines but the library does not.
const BLOCKS: &str = "header, footer, main, nav, aside, figure, figcaption, details, summary, \
                      address, dl, dt, dd";
/// Elements that are not part of the text.
const SKIPPED: [&str; 5] = ["head", "title", "meta", "script", "style"];
/// The maximum number of columns to which shorter rows are filled.
const MAX_COLUMNS: usize = 30;
/// Number of levels above a code block that are searched for its language.
const LANGUAGE_LEVELS: usize = 2;
/// Prefixes of a language's name in a class. A longer prefix comes before a shorter one that it starts with.
const LANGUAGE_PREFIXES: [&str; 5] = [
    "language-",
    "lang-",
    "highlight-source-",
    "highlight-text-",
    "highlight-",
];

/// Returns the Markdown of a page. The input must be bounded in depth and size.
pub(super) fn markdown(html: &str) -> String {
    let document = Document::from(html);
    document.select(BLOCKS).rename("div");
    for table in document.select("table").nodes() {
        set_caption_before(table);
        if table
            .descendants_it()
            .any(|node| is_one_of(&node, &["table", "pre"]))
        {
            flatten(table);
        } else {
            fill_rows(table);
        }
    }
    for image in document.select("img[alt]").nodes() {
        show_alternative(&document, image);
    }
    // Nested items are processed first.
    for item in document.select("li").nodes().iter().rev() {
        if !item.descendants_it().any(|node| has_letters(&node)) {
            item.remove_from_parent();
        }
    }
    for code in document.select("pre").nodes() {
        if let Some(language) = language(code) {
            code.set_attr("data-lang", &language);
        }
    }
    without_needless_escapes(&document.md(Some(&SKIPPED)))
}

fn is_one_of(node: &NodeRef<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| node.has_name(name))
}

fn has_letters(node: &NodeRef<'_>) -> bool {
    node.is_text() && !node.text().trim().is_empty()
}

/// Moves the caption out of the table, because Markdown tables have none.
fn set_caption_before(table: &NodeRef<'_>) {
    let captions = table
        .children_it(false)
        .filter(|node| node.has_name("caption"));
    for caption in captions.collect::<Vec<_>>() {
        caption.rename("p");
        table.insert_before(&caption);
    }
}

/// Returns the rows of a table, without the rows of tables in its cells.
fn rows<'a>(table: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let mut rows = Vec::new();
    for child in table.children_it(false) {
        if child.has_name("tr") {
            rows.push(child);
        } else if is_one_of(&child, &["thead", "tbody", "tfoot"]) {
            rows.extend(child.children_it(false).filter(|node| node.has_name("tr")));
        }
    }
    rows
}

fn cells<'a>(row: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let cells = row.children_it(false);
    cells
        .filter(|node| is_one_of(node, &["td", "th"]))
        .collect()
}

/// Replaces a table by blocks, because a Markdown cell cannot contain code or another table.
fn flatten(table: &NodeRef<'_>) {
    for row in rows(table) {
        for cell in cells(&row) {
            cell.rename("div");
        }
        row.rename("div");
    }
    for part in table.element_children() {
        part.rename("div");
    }
    table.rename("div");
}

/// Gives all rows the same number of cells. Otherwise, the library writes no table.
fn fill_rows(table: &NodeRef<'_>) {
    let rows: Vec<_> = rows(table)
        .into_iter()
        .map(|row| (cells(&row), row))
        .collect();
    let columns = rows.iter().map(|(cells, _)| cells.len()).max().unwrap_or(0);
    if columns > MAX_COLUMNS {
        return;
    }
    for (cells, row) in rows {
        if cells.is_empty() {
            row.remove_from_parent();
            continue;
        }
        let is_header = cells.iter().all(|cell| cell.has_name("th"));
        for _ in cells.len()..columns {
            let filler = row.tree.new_element(if is_header { "th" } else { "td" });
            row.append_child(&filler);
        }
    }
}

/// Replaces an image by its description.
fn show_alternative(document: &Document, image: &NodeRef<'_>) {
    let text = image.attr_or("alt", "");
    if !text.trim().is_empty() {
        let text = format!("(image: {})", text.trim());
        image.replace_with(&document.tree.new_text(text));
    }
}

/// Returns the language that a class names: of a code block, of its `code` element, or of an enclosing element.
fn language(code: &NodeRef<'_>) -> Option<String> {
    let inner = code.first_element_child();
    let near = [Some(*code), inner].into_iter().flatten();
    let near = near.chain(code.ancestors_it(Some(LANGUAGE_LEVELS)));
    let mut classes = near.filter_map(|node| node.class());
    classes.find_map(|class| {
        let mut words = class.split_ascii_whitespace();
        words.find_map(language_of_class).map(str::to_owned)
    })
}

fn language_of_class(class: &str) -> Option<&str> {
    let mut prefixes = LANGUAGE_PREFIXES.iter();
    let name = prefixes.find_map(|prefix| class.strip_prefix(prefix))?;
    Some(name).filter(|name| !matches!(*name, "" | "default" | "none" | "wrapper"))
}

/// Removes the backslash from `\_`. A tool would not accept an ID or a tool's name with the backslash, and models do
/// not render emphasis. Code contains no escapes and is not changed.
fn without_needless_escapes(markdown: &str) -> String {
    let (mut out, mut is_fenced) = (String::with_capacity(markdown.len()), false);
    for line in markdown.split_inclusive('\n') {
        let start = line.trim_start_matches([' ', '>', '-', '*']);
        if start.starts_with("```") || start.starts_with("~~~") {
            is_fenced = !is_fenced;
        }
        if is_fenced {
            out.push_str(line);
            continue;
        }
        // Code spans are the parts with odd numbers between backticks.
        for (number, part) in line.split('`').enumerate() {
            if number > 0 {
                out.push('`');
            }
            if number % 2 == 0 {
                out.push_str(&part.replace("\\_", "_"));
            } else {
                out.push_str(part);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
