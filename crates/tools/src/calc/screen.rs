//! What is refused before anything is calculated: what of the calculator's language reaches outside, is
//! not the same each time, or can take memory or stack without ever asking whether it should stop.

/// The deepest parentheses.
const MAX_DEPTH: usize = 40;

/// Words of the calculator's language that do not belong here: they print to standard output, read the
/// clock, or throw dice.
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

/// Says what is refused.
pub(super) fn check(expression: &str) -> Result<(), String> {
    let no = |what: &str| Err(format!("The expression is refused: {what}."));
    if let Some(c) = expression.chars().find(|c| !is_allowed(*c)) {
        return no(&format!(
            "the character `{}` has no meaning here",
            c.escape_default()
        ));
    }
    // A lone `=` assigns and `=>` makes a function; functions can call themselves without end.
    let without_equality = expression.replace("==", "").replace("!=", "");
    if without_equality.contains('=') {
        return no("there are no variables or functions here");
    }
    let word = |c: char| c.is_alphabetic() || c == '_';
    if let Some(found) = expression.split(|c| !word(c)).find(|w| WORDS.contains(w)) {
        return no(&format!("there is no `{found}` here"));
    }
    if has_dice(expression) {
        return no("there are no dice here");
    }
    if depth(expression) > MAX_DEPTH {
        return no("the parentheses are nested too deeply");
    }
    Ok(())
}

/// Without lambdas (`\`, `λ`, `:`), statements, strings, dates (`@`) and shifts, which take memory at once.
fn is_allowed(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\\' | 'λ' | ':' | ';' | '"' | '\'' | '@' | '<' | '>' | '`'
        )
}

/// `d6`, `2d20`: a distribution may have four thousand million faces.
fn has_dice(expression: &str) -> bool {
    let number = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '.');
    expression.split(|c| !number(c)).any(|word| {
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
