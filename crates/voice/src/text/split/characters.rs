//! Characters that end sentences and clauses.

/// Stops that end a sentence if white space follows.
pub(super) const fn is_stop(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | '…'
            | '‽'
            | '⁇'
            | '⁈'
            | '⁉'
            | '؟'
            | '۔'
            | '।'
            | '॥'
            | '።'
            | '፧'
            | '։'
    )
}

/// Stops in scripts without white space.
pub(super) const fn is_wide_stop(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡' | '．' | '⋯' | '︒')
}

/// Letters of scripts without white space between sentences: kana and unified ideographs.
pub(super) const fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Punctuation that belongs to the preceding stop.
pub(super) const fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '”'
            | '’'
            | '“'
            | '»'
            | '›'
            | '«'
            | ')'
            | ']'
            | '}'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '〕'
            | '*'
            | '_'
    )
}

/// Marks between clauses if white space follows.
pub(super) const fn is_clause(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '–' | '،' | '؛' | '·')
}

/// Marks between clauses that need no white space.
pub(super) const fn is_wide_clause(c: char) -> bool {
    matches!(c, '，' | '、' | '；' | '：' | '—')
}
