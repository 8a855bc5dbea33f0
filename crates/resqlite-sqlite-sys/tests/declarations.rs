//! The declarations agree with SQLite's own header.

use std::collections::BTreeMap;

const HEADER: &str = include_str!("../sqlite3/sqlite3.h");
const CONSTANTS: &str = include_str!("../src/constants.rs");
const FUNCTIONS: &str = include_str!("../src/functions.rs");

#[test]
fn constants_have_the_values_of_the_header() {
    let defined: BTreeMap<_, _> = HEADER.lines().filter_map(define).collect();
    let declared: Vec<_> = CONSTANTS.lines().filter_map(constant).collect();
    assert!(declared.len() > 200, "{} constants were found", declared.len());
    for (name, value) in declared {
        let theirs = value_of(defined[name], &defined);
        assert_eq!(value_of(value, &defined), theirs, "{name}");
    }
}

#[test]
fn functions_have_as_many_parameters_as_in_the_header() {
    let declared: Vec<_> = FUNCTIONS.split("pub fn ").skip(1).map(signature).collect();
    assert!(declared.len() > 60, "{} functions were found", declared.len());
    for (name, parameters) in declared {
        assert_eq!(parameters, parameters_in_header(name), "{name}");
    }
}

/// The name and the text of `#define SQLITE_X …`.
fn define(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix("define ")?;
    let (name, value) = rest.trim_start().split_once(char::is_whitespace)?;
    Some((name, value.split("/*").next()?.trim()))
}

fn constant(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("pub const ")?.split_once(':')?;
    Some((name, rest.split_once('=')?.1.trim().trim_end_matches(';')))
}

/// Evaluates numbers, names, `|` and `<<`.
fn value_of(text: &str, defined: &BTreeMap<&str, &str>) -> i64 {
    let plain = text.replace(['(', ')'], " ");
    plain
        .split('|')
        .map(|term| match term.split_once("<<") {
            Some((left, right)) => value_of(left, defined) << value_of(right, defined),
            None => number(term.trim(), defined),
        })
        .fold(0, |all, term| all | term)
}

fn number(text: &str, defined: &BTreeMap<&str, &str>) -> i64 {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).unwrap(),
        None => digits
            .parse()
            .unwrap_or_else(|_| value_of(defined[text], defined)),
    }
}

/// The name of a Rust declaration and the number of its parameters.
fn signature(declaration: &str) -> (&str, usize) {
    let (name, rest) = declaration.split_once('(').unwrap();
    (name, parameters(rest))
}

fn parameters_in_header(name: &str) -> usize {
    let declaration = HEADER
        .lines()
        .position(|line| line.starts_with("SQLITE_API") && line.contains(&format!("{name}(")))
        .unwrap_or_else(|| panic!("{name} is not in the header"));
    let text: Vec<_> = HEADER
        .lines()
        .skip(declaration)
        .take(20)
        .map(without_comment)
        .collect();
    let text = text.join(" ");
    let (_, rest) = text.split_once(&format!("{name}(")).unwrap();
    parameters(rest)
}

fn without_comment(line: &str) -> &str {
    line.split("/*").next().unwrap_or(line)
}

/// Counts what stands between commas up to the closing parenthesis.
fn parameters(text: &str) -> usize {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in text.replace("->", "").chars() {
        match letter {
            ')' if depth == 0 => break,
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            other => parts.last_mut().unwrap().push(other),
        }
    }
    parts
        .iter()
        .filter(|part| !matches!(part.trim(), "" | "void"))
        .count()
}
