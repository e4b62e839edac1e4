//! Summaries and their fields.

use super::MAX_PLACES;
use crate::profile_file::check::{
    at_most, body_path, each, leak, leak_all, line, placeholders, texts,
};
use crate::profile_file::raw::{RawField, RawSummary};
use crate::profile_file::{Mistake, mistake};
use crate::summary::{Field, Section, Summary};

pub(super) fn summary(raw: &RawSummary) -> Result<Summary, Mistake> {
    let sentences = each(
        "summary.sentences",
        &raw.sentences,
        |path, (of, sentence)| {
            placeholders(path, sentence)?;
            // An empty name applies to any event.
            let of = if of.is_empty() { "" } else { line(path, of)? };
            Ok((of, line(path, sentence)?))
        },
    )?;
    let titles = texts("summary.titles", &raw.titles, body_path)?;
    let fields = each("summary.fields", &raw.fields, field)?;
    let sections = if fields.is_empty() {
        Vec::new()
    } else {
        vec![Section {
            of: &[],
            fields: leak_all(fields),
        }]
    };
    let groups: Vec<&'static [_]> = vec![leak_all(sentences)];
    Ok(Summary {
        sentences: leak_all(groups),
        titles: leak_all(titles),
        sections: leak_all(sections),
    })
}

fn field(path: &str, raw: &RawField) -> Result<Field, Mistake> {
    let label = line(&format!("{path}.label"), &raw.label)?;
    let paths = |member: &str, list: &[String]| {
        let path = format!("{path}.{member}");
        at_most(&path, list, MAX_PLACES)?;
        texts(&path, list, body_path).map(leak_all)
    };
    match (&raw.line[..], &raw.text, &raw.block[..], &raw.list) {
        ([_, ..], None, [], None) => Ok(Field::line(label, paths("line", &raw.line)?)),
        ([], Some(text), [], None) => {
            placeholders(path, text)?;
            Ok(Field::text(label, line(&format!("{path}.text"), text)?))
        }
        ([], None, [_, ..], None) => Ok(Field::block(label, paths("block", &raw.block)?)),
        ([], None, [], Some(list)) => Ok(Field::list(
            label,
            body_path(&format!("{path}.list"), list)?,
            leak(raw.of.clone()),
        )),
        _ => mistake(path, "expected one of `line`, `text`, `block` and `list`"),
    }
}
