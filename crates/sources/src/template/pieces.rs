//! Splits a template into its text and its placeholders.

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Text(&'t str),
    /// The content of a pair of braces.
    Name(&'t str),
}

/// Returns the parts of a template in order. In `{ {a}`, the inner pair is the placeholder.
pub(super) fn pieces(template: &str) -> Pieces<'_> {
    Pieces { rest: template }
}

/// Returns whether the content of a pair of braces can name a field. In JSON within a text, such as `{"a":1}`, it
/// cannot.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('"')
}

/// Returns whether the content of a pair of braces looks like the path of a field: names of letters, digits and
/// `_-$@:/`, separated by dots. Other names are fields only if the payload contains them.
pub(super) fn is_path(name: &str) -> bool {
    name.split('.').all(|part| {
        let is_usual = |c: char| c.is_alphanumeric() || "_-$@:/".contains(c);
        !part.is_empty() && part.chars().all(is_usual)
    })
}

pub(super) struct Pieces<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.rest.chars().next()?;
        let inside = self.rest.strip_prefix('{').unwrap_or_default();
        let closing = inside.find(['{', '}']);
        if let Some((name, after)) = closing.and_then(|at| inside.split_at_checked(at))
            && let Some(after) = after.strip_prefix('}')
        {
            self.rest = after;
            return Some(Piece::Name(name));
        }
        let others = self.rest.get(first.len_utf8()..).unwrap_or_default();
        let end = others
            .find('{')
            .map_or(self.rest.len(), |at| first.len_utf8() + at);
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(Piece::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_template_are_the_whole_template() {
        let parts = |template| pieces(template).collect::<Vec<_>>();
        assert_eq!(parts(""), []);
        assert_eq!(
            parts("é{a.b} {{c}d"),
            [
                Piece::Text("é"),
                Piece::Name("a.b"),
                Piece::Text(" "),
                Piece::Text("{"),
                Piece::Name("c"),
                Piece::Text("d"),
            ]
        );
        assert_eq!(parts("{}"), [Piece::Name("")]);
        assert_eq!(parts("{a"), [Piece::Text("{a")]);
    }
}
