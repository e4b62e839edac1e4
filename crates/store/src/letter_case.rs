//! Lower case for searches that ignore the case of letters. `LOWER` of SQLite converts only ASCII letters, so each
//! connection replaces it.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Result};

/// Converts each letter without its context, as PostgreSQL does with a UTF-8 locale: `Σ` becomes `σ` at the end of a word
/// too.
pub fn lower_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Replaces `LOWER` of a SQLite connection by [`lower_case`].
pub(crate) fn replace_lower(db: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    db.create_scalar_function("lower", 1, flags, |context: &Context<'_>| {
        // All columns that are searched are texts.
        let text = context.get::<Option<String>>(0)?;
        Ok(text.as_deref().map(lower_case))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_every_script_are_converted_one_by_one() {
        assert_eq!(lower_case("ÄRGER Straße ΟΔΟΣ ЖУК"), "ärger straße οδοσ жук");
        let db = Connection::open_in_memory().unwrap();
        replace_lower(&db).unwrap();
        let lower = |sql: &str| db.query_row(sql, [], |row| row.get::<_, Option<String>>(0));
        assert_eq!(lower("SELECT LOWER('ÄΣ')").unwrap().as_deref(), Some("äσ"));
        assert_eq!(lower("SELECT LOWER(NULL)").unwrap(), None);
        assert!(lower("SELECT LOWER(1)").is_err());
    }
}
