//! Searches for text that ignore case. SQLite's `LOWER` converts only ASCII letters, and its `LIKE` ignores case
//! only for ASCII letters, so each connection gets a custom function instead.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

/// The name of the SQL function. It returns whether the first argument contains the second, which must be in lower
/// case. NULL contains nothing.
pub(crate) const CONTAINS: &str = "contains_lower";

/// Converts each letter without its context, as PostgreSQL does with a UTF-8 locale. For example, `Σ` at the end of
/// a word also becomes `σ`.
pub fn lower_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Adds [`CONTAINS`] to a SQLite connection.
pub(crate) fn add_contains(db: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    db.create_scalar_function(CONTAINS, 2, flags, |context: &Context<'_>| {
        // All columns that are searched are texts.
        let text = match context.get_raw(0) {
            ValueRef::Null => return Ok(false),
            text => text.as_str()?,
        };
        Ok(lower_case(text).contains(context.get_raw(1).as_str()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_every_script_are_converted_one_by_one() {
        assert_eq!(lower_case("ÄRGER Straße ΟΔΟΣ ЖУК"), "ärger straße οδοσ жук");
        let db = Connection::open_in_memory().unwrap();
        add_contains(&db).unwrap();
        let contains = |text: &str, lower: &str| {
            let sql = format!("SELECT contains_lower({text}, '{lower}')");
            db.query_row(&sql, [], |row| row.get::<_, bool>(0))
        };
        assert!(contains("'Ein ÄΣ, 50%_'", "äσ, 50%_").unwrap());
        assert!(contains("'PUSH'", "").unwrap());
        assert!(!contains("'Ein ÄΣ'", "as").unwrap());
        assert!(!contains("NULL", "").unwrap());
        assert!(contains("1", "1").is_err());
    }
}
