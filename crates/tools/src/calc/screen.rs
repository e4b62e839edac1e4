//! Rejects expressions before they are evaluated. Some parts of the calculator's language have side effects, give
//! varying results, or can exhaust memory or the stack without polling for interrupts.

/// The deepest nesting of parentheses.
const MAX_DEPTH: usize = 40;

/// Rejected words of the calculator's language: they print to standard output, read the clock or roll dice.
const WORDS: [&str; 8] = [
    "print",
    "println",
    "today",
    "tomorrow",
    "yesterday",
    "sample",
    "roll",
    "date",
];

/// Returns why an expression is rejected.
pub(super) fn check(expression: &str) -> Result<(), String> {
    let no = |what: &str| Err(format!("The expression is refused: {what}."));
    if let Some(c) = expression.chars().find(|c| !is_allowed(*c)) {
        return no(&format!(
            "the character `{}` is not supported",
            c.escape_default()
        ));
    }
    if expression.split(|c| !in_number(c)).any(has_loose_comma) {
        return no(
            "a comma is allowed only between groups of three digits, as in 1,234,567; decimals are \
             written with a point, as in 1.5",
        );
    }
    // A single `=` assigns and `=>` defines a function. Functions can recurse without end.
    let without_equality = expression.replace("==", "").replace("!=", "");
    if without_equality.contains('=') {
        return no("variables and functions are not supported");
    }
    let word = |c: char| c.is_alphabetic() || c == '_';
    if let Some(found) = expression.split(|c| !word(c)).find(|w| WORDS.contains(w)) {
        return no(&format!("`{found}` is not supported"));
    }
    if has_dice(expression) {
        return no("dice are not supported");
    }
    if depth(expression) > MAX_DEPTH {
        return no("the parentheses are nested too deeply");
    }
    Ok(())
}

/// Returns whether the character is allowed. Excludes lambdas (`\`, `λ`, `:`), statements, strings, dates (`@`) and
/// shifts, which immediately allocate memory.
fn is_allowed(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\\' | 'λ' | ':' | ';' | '"' | '\'' | '@' | '<' | '>' | '`'
        )
}

/// Returns whether a character may belong to a number, its base and its unit.
fn in_number(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '#' | '.' | ',')
}

/// Returns whether a comma is not a valid group separator. The calculator ignores commas between digits, so `1,5` would
/// be fifteen. `0,123` is not valid either.
fn has_loose_comma(word: &str) -> bool {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != ',');
    let (head, tail) = word.split_at(end.unwrap_or(word.len()));
    let mut groups = head.split(',');
    let first = groups.next().unwrap_or_default();
    let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let grouped = begins && groups.all(|group| group.len() == 3) && !tail.starts_with('_');
    word.contains(',') && (tail.contains(',') || !grouped)
}

/// Returns whether the expression contains dice, such as `d6` and `2d20`. A distribution may have
/// four billion faces.
fn has_dice(expression: &str) -> bool {
    expression.split(|c| !in_number(c)).any(|word| {
        let hexadecimal = word.starts_with("0x") || word.starts_with("0X") || word.contains('#');
        !hexadecimal && has_die(word)
    })
}

fn has_die(word: &str) -> bool {
    let before = |at: usize| word.get(..at).and_then(|head| head.chars().next_back());
    let after = |at: usize| word.get(at + 1..).and_then(|tail| tail.chars().next());
    word.match_indices('d').any(|(at, _)| {
        after(at).is_some_and(|c| c.is_ascii_digit())
            && before(at).is_none_or(|c| !c.is_alphabetic())
    })
}

fn depth(expression: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for c in expression.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_passes() {
        for fine in [
            "1 + 1",
            "0xd6 + 0xad6",
            "16#d6",
            "2 == 2",
            "5 != 6",
            "3 km/h to m/s",
            "3 days to hours",
            "15% of 80",
            "updates",
            "10 choose 3",
            "1,234,567 + 999,999.5",
            "12,345kg to g",
            "(1,000)",
            &format!("{}1{}", "(".repeat(40), ")".repeat(40)),
        ] {
            assert_eq!(check(fine), Ok(()), "{fine}");
        }
    }

    #[test]
    fn what_reaches_outside_or_explodes_is_refused() {
        for refused in [
            "today",
            "2today",
            "println(5)",
            "print 5",
            "1,5 + 1",
            "1,234,56",
            "12,34",
            "1234,567",
            "0,123",
            "1.234,567",
            "1,234,",
            ",5",
            "1, 2",
            "1 , 2",
            "0x1,234",
            "1e1,000",
            "1,234_567",
            "1_234,567",
            "1.5,000",
            "roll d6",
            "d6",
            "2d4000000000",
            "(d20)",
            "1 + 2.5d6",
            "\\x. x",
            "λx. x",
            "x: x x",
            "x => x x",
            "a = 5",
            "1 = 1",
            "1; 2",
            "\"a\"",
            "'a'",
            "@2026-01-01",
            "1 << 99999999999",
            "1 >> 2",
            "1\u{7}",
            &format!("{}1", "(".repeat(41)),
        ] {
            assert!(check(refused).is_err(), "{refused}");
        }
    }
}
