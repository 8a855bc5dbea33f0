//! Texts of a statement for another source of rows: calls of aggregates and terms of groups become columns of it.

use sqlite3_parser::dialect::TokenType::*;

use super::calls::{Call, call};
use crate::{
    maintain::clauses::{Mention, Token, mentions, tokens as cut},
    sql::{
        syntax::Refused,
        tokens::{Numbered, UNREADABLE},
    },
};

/// A text in which every parameter has its number, and the names that stand in it.
pub(super) struct Rewritten {
    pub(super) sql: String,
    pub(super) mentions: Vec<Mention>,
}

/// A text that is replaced by a column.
pub(super) struct Replaced<'s> {
    pub(super) text: &'s str,
    pub(super) column: String,
}

/// Puts texts together again, token by token, so that no comment is left.
pub(super) struct Rewriter<'s> {
    pub(super) numbered: &'s Numbered,
    /// The names, in lower case, of functions that make one value of many rows.
    pub(super) aggregates: &'s [String],
    pub(super) terms: Vec<Replaced<'s>>,
    /// The column of the groups that a name of several tables means.
    pub(super) named: &'s dyn Fn(&Mention) -> Option<String>,
    /// The different calls of aggregates so far.
    pub(super) calls: Vec<Call<'s>>,
}

/// The column of a call of an aggregate.
pub(super) fn call_column(number: usize) -> String {
    format!("\"#a{number}\"")
}

/// The column of a term of the groups that is no column of the table.
pub(super) fn term_column(number: usize) -> String {
    format!("\"#g{number}\"")
}

impl<'s> Rewriter<'s> {
    /// A text that is evaluated for each row of the table.
    pub(super) fn of_row(&self, text: &'s str) -> Result<Rewritten, Refused> {
        let tokens = cut(text)?;
        let mut words = Words::new(self.numbered, text);
        for token in &tokens {
            words.keep(token)?;
        }
        Ok(words.end())
    }

    /// A text that is evaluated for each group.
    pub(super) fn of_group(&mut self, text: &'s str) -> Result<Rewritten, Refused> {
        let tokens = cut(text)?;
        let mut words = Words::new(self.numbered, text);
        let mut at = 0;
        while at < tokens.len() {
            let is_aggregate = |name: &str| self.aggregates.iter().any(|known| known == name);
            if let Some((call, length)) = call(text, &tokens[at..], is_aggregate)? {
                let number = self.number(call);
                words.replace(&call_column(number));
                at += length;
            } else if let Some((column, length)) = self.term(text, &tokens, at)? {
                words.replace(&column);
                at += length;
            } else if let Some((column, length)) = self.name(text, &tokens, at) {
                // It compares as the column that it stands for.
                words.push(&column);
                at += length;
            } else {
                words.keep(&tokens[at])?;
                at += 1;
            }
        }
        Ok(words.end())
    }

    fn number(&mut self, call: Call<'s>) -> usize {
        let known = self.calls.iter().position(|known| *known == call);
        known.unwrap_or_else(|| {
            self.calls.push(call);
            self.calls.len() - 1
        })
    }

    /// The column of the groups that stands at a position under its name in one of several tables.
    fn name(&self, text: &str, tokens: &[Token], at: usize) -> Option<(String, usize)> {
        let kind = |at: usize| tokens.get(at).map(|token| token.kind);
        let is_behind_dot = at > 0 && kind(at - 1) == Some(TK_DOT);
        let length = if kind(at + 1) == Some(TK_DOT) { 3 } else { 1 };
        let goes_on = matches!(kind(at + length), Some(TK_DOT | TK_LP));
        if is_behind_dot || goes_on || kind(at + length - 1) != Some(TK_ID) {
            return None;
        }
        let name: Vec<&Token> = tokens[at..at + length].iter().collect();
        let [mention] = &mentions(text, &name)[..] else {
            return None;
        };
        (self.named)(mention).map(|column| (column, length))
    }

    /// The term that stands at a position as a whole expression.
    fn term(&self, text: &str, tokens: &[Token], at: usize) -> Result<Option<(String, usize)>, Refused> {
        let begins = at == 0 || matches!(tokens[at - 1].kind, TK_LP | TK_COMMA);
        if !begins {
            return Ok(None);
        }
        for term in &self.terms {
            let wanted = cut(term.text)?;
            let end = at + wanted.len();
            let ends = tokens
                .get(end)
                .is_none_or(|next| matches!(next.kind, TK_RP | TK_COMMA));
            let is_same = |(left, right): (&Token, &Token)| same(text, left, term.text, right);
            if end <= tokens.len() && ends && tokens[at..end].iter().zip(&wanted).all(is_same) {
                return Ok(Some((term.column.clone(), wanted.len())));
            }
        }
        Ok(None)
    }
}

/// Whether two tokens say the same.
fn same(left_text: &str, left: &Token, right_text: &str, right: &Token) -> bool {
    let (one, other) = (&left_text[left.span.clone()], &right_text[right.span.clone()]);
    left.kind == right.kind
        && match left.kind {
            // `:a` and `:A` are two parameters.
            TK_STRING | TK_VARIABLE => one == other,
            _ => one.eq_ignore_ascii_case(other),
        }
}

/// A text on its way.
struct Words<'a> {
    numbered: &'a Numbered,
    text: &'a str,
    kept: Vec<Token>,
    sql: String,
}

impl<'a> Words<'a> {
    fn new(numbered: &'a Numbered, text: &'a str) -> Self {
        Self {
            numbered,
            text,
            kept: Vec::new(),
            sql: String::new(),
        }
    }

    fn keep(&mut self, token: &Token) -> Result<(), Refused> {
        let text = &self.text[token.span.clone()];
        self.kept.push(token.clone());
        if token.kind == TK_VARIABLE && !text.starts_with('?') {
            let number = self.numbered.number_of(text).ok_or(UNREADABLE)?;
            self.push(&format!("?{number}"));
        } else {
            self.push(text);
        }
        Ok(())
    }

    /// An expression has no affinity and no collation, which a plain column has.
    fn replace(&mut self, column: &str) {
        self.push(&format!("(+{column})"));
    }

    fn push(&mut self, word: &str) {
        if !self.sql.is_empty() {
            self.sql.push(' ');
        }
        self.sql.push_str(word);
    }

    fn end(self) -> Rewritten {
        let kept: Vec<&Token> = self.kept.iter().collect();
        Rewritten {
            mentions: mentions(self.text, &kept),
            sql: self.sql,
        }
    }
}
