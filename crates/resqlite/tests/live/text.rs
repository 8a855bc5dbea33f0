//! Values as text: in scripts (exact, one line) and as SQL literals.

use resqlite::Value;

/// A list of parameters: `[1, -0.5, "a\n", x'00ff', null]`.
pub fn write_params(out: &mut String, params: &[Value]) {
    let values: Vec<String> = params.iter().map(write_value).collect();
    out.push('[');
    out.push_str(&values.join(", "));
    out.push(']');
}

fn write_value(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => format!("{value:?}"),
        Value::Text(text) => format!("\"{}\"", text.escape_default()),
        Value::Blob(bytes) => format!("x'{}'", hex(bytes)),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value as a literal of SQL. A text with NUL characters has none, and becomes shorter.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        // The negation of this is no integer for SQLite's parser.
        Value::Integer(i64::MIN) => "(-9223372036854775807 - 1)".into(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) if value.is_infinite() => if *value > 0.0 { "9e999" } else { "-9e999" }.into(),
        Value::Real(value) => format!("{value:?}"),
        Value::Text(text) => format!("'{}'", text.replace('\0', "").replace('\'', "''")),
        Value::Blob(bytes) => format!("x'{}'", hex(bytes)),
    }
}

/// Reads a list of parameters from the start of `text`; gives the rest, too.
pub fn read_params(text: &str) -> Result<(Vec<Value>, &str), String> {
    let mut rest = text
        .strip_prefix('[')
        .ok_or_else(|| format!("a list of parameters was expected at {text:?}"))?;
    let mut values = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix(']') {
            return Ok((values, rest.trim_start()));
        }
        let (value, after) = read_value(rest)?;
        values.push(value);
        rest = after;
    }
}

fn read_value(text: &str) -> Result<(Value, &str), String> {
    let unexpected = || format!("no value begins with {text:?}");
    if let Some(quoted) = text.strip_prefix('"') {
        return read_text(quoted);
    }
    if let Some(blob) = text.strip_prefix("x'") {
        let (digits, rest) = blob.split_once('\'').ok_or_else(unexpected)?;
        let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        return Ok((Value::Blob(bytes.ok_or_else(unexpected)?), rest));
    }
    let (word, rest) = text.split_at(text.find([',', ']']).unwrap_or(text.len()));
    let value = match word {
        "null" => Some(Value::Null),
        _ => match word.parse() {
            Ok(integer) => Some(Value::Integer(integer)),
            Err(_) => word.parse().ok().map(Value::Real),
        },
    };
    Ok((value.ok_or_else(unexpected)?, rest))
}

/// Undoes [`str::escape_default`], up to the closing quote.
fn read_text(text: &str) -> Result<(Value, &str), String> {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let mut chars = rest.chars();
        match chars.next().ok_or("a text does not end")? {
            '"' => return Ok((Value::Text(out), chars.as_str())),
            '\\' => match chars.next().ok_or("a text does not end")? {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'u' => {
                    let (code, after) = chars.as_str()[1..]
                        .split_once('}')
                        .ok_or("an escape does not end")?;
                    let code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                    out.push(code.ok_or("an escape is no character")?);
                    chars = after.chars();
                }
                other => out.push(other),
            },
            other => out.push(other),
        }
        rest = chars.as_str();
    }
}

/// A query whose text ends with a LIMIT, without it. All parameters stay.
pub fn without_limit(sql: &str) -> String {
    let (query, clause) = sql.rsplit_once(" LIMIT ").expect("there is a LIMIT");
    let clause = clause
        .split(" -- ")
        .next()
        .unwrap_or(clause)
        .trim_end_matches(';');
    let all = match (clause.split_once(" OFFSET "), clause.split_once(", ")) {
        (Some((limit, offset)), _) => format!("-1 - 0 * ({limit}) OFFSET 0 * ({offset})"),
        (_, Some((offset, limit))) => format!("0 * ({offset}), -1 - 0 * ({limit})"),
        _ => format!("-1 - 0 * ({clause})"),
    };
    format!("{query} LIMIT {all}")
}
