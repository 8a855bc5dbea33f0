//! The tokens of SQL text, for conclusions about a statement before SQLite has seen it.

use sqlite3_parser::{
    dialect::TokenType::{self, *},
    lexer::{
        Splitter,
        sql::{Error, Tokenizer},
    },
};

/// Returns the tokens of SQL, each with its text. Comments and white space are skipped. A character that begins no token counts as a
/// name, because SQLite may know more than this parser. An unclosed quote or comment ends the text.
pub(crate) fn tokens(sql: &str) -> impl Iterator<Item = (TokenType, &[u8])> {
    let mut rest = sql.as_bytes();
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (token, length) = match Tokenizer::new().split(rest) {
                Ok((token, length)) => (token.map(|(_, kind)| kind), length),
                Err(
                    Error::UnterminatedLiteral(_)
                    | Error::UnterminatedBracket(_)
                    | Error::UnterminatedBlockComment(_),
                ) => (None, rest.len()),
                Err(_) => (Some(TK_ID), 1),
            };
            let text;
            (text, rest) = rest.split_at(length);
            if let Some(token) = token {
                return Some((token, text));
            }
        }
        None
    })
}
