//! Rows as a JSON array of objects, made without any intermediate form.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use resqlite_sqlite::{Statement, ValueRef};

use super::Shape;

/// Writes rows as JSON text.
pub(crate) struct JsonWriter {
    out: Vec<u8>,
}

impl JsonWriter {
    /// An empty array so far.
    pub(crate) fn new() -> Self {
        Self { out: vec![b'['] }
    }

    /// Adds the current row of a statement.
    pub(crate) fn push(&mut self, statement: &Statement, shape: &Shape) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        self.out.push(b'{');
        let mut first = true;
        for (column, key) in shape.json_keys().iter().enumerate() {
            let Some(key) = key else { continue };
            if !first {
                self.out.push(b',');
            }
            first = false;
            self.out.extend_from_slice(key.as_bytes());
            self.value(statement.column(column));
        }
        self.out.push(b'}');
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// The finished text.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.push(b']');
        self.out
    }

    fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.out.extend_from_slice(b"null"),
            ValueRef::Integer(value) => self
                .out
                .extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
            ValueRef::Real(value) => self.real(value),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => string(&mut self.out, text),
                Err(_) => string(&mut self.out, &String::from_utf8_lossy(bytes)),
            },
            ValueRef::Blob(bytes) => self.blob(bytes),
        }
    }

    /// The shortest digits that give the same number back. JSON has no infinity: 9e999 reads as one.
    fn real(&mut self, value: f64) {
        let text = if value.is_finite() {
            return self
                .out
                .extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
        } else if value > 0.0 {
            "9e999"
        } else {
            "-9e999"
        };
        self.out.extend_from_slice(text.as_bytes());
    }

    fn blob(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        let start = self.out.len();
        self.out.resize(start + bytes.len().div_ceil(3) * 4, 0);
        let length = STANDARD
            .encode_slice(bytes, &mut self.out[start..])
            .expect("base64 fits in 4 bytes for 3");
        self.out.truncate(start + length);
        self.out.push(b'"');
    }
}

/// The text `"name":`.
pub(super) fn key(name: &str) -> String {
    let mut out = Vec::new();
    string(&mut out, name);
    out.push(b':');
    String::from_utf8(out).expect("JSON of a string is UTF-8")
}

fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut done = 0;
    while let Some(at) = next_special(&bytes[done..]) {
        out.extend_from_slice(&bytes[done..done + at]);
        escape(out, bytes[done + at]);
        done += at + 1;
    }
    out.extend_from_slice(&bytes[done..]);
    out.push(b'"');
}

/// The first byte that must be escaped: a control character, a quote or a backslash. Looks at 8 bytes at once.
fn next_special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let zero_byte = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let hit = control
            | zero_byte(word ^ (ONES * u64::from(b'"')))
            | zero_byte(word ^ (ONES * u64::from(b'\\')));
        if hit != 0 {
            // A borrow may mark a byte behind the real one, never one before it: the first mark is exact.
            return Some(at + hit.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..]
        .iter()
        .position(|&byte| special(byte))
        .map(|offset| at + offset)
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => write!(out, "\\u{byte:04x}").expect("writing to memory cannot fail"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        let mut out = Vec::new();
        string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_control_character_is_escaped_wherever_it_stands() {
        for byte in 0..0x20u8 {
            for before in 0..20 {
                let text = format!("{}{}tail of text", "x".repeat(before), byte as char);
                let escaped = json(&text);
                assert!(!escaped.bytes().any(|b| b < 0x20), "{escaped:?}");
                assert!(escaped.contains("\\"), "{escaped:?}");
            }
        }
    }

    #[test]
    fn quotes_and_backslashes_are_escaped_and_other_text_is_kept() {
        assert_eq!(
            json(r#"a "quoted" \ text, größer 🚲"#),
            r#""a \"quoted\" \\ text, größer 🚲""#
        );
    }
}
