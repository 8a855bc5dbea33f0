//! Rows as a JSON array of objects, made without any intermediate form.

use base64::{Engine, engine::general_purpose::STANDARD};
use resqlite_sqlite::{Statement, ValueRef};

use super::{ColumnLayout, json_text::string};

/// Writes rows as JSON text.
pub(crate) struct JsonWriter {
    out: Vec<u8>,
}

impl JsonWriter {
    /// Begins an array that is still empty.
    pub(crate) fn new() -> Self {
        Self { out: vec![b'['] }
    }

    /// Adds the current row of a statement.
    pub(crate) fn push(&mut self, statement: &Statement, layout: &ColumnLayout) {
        if self.out.len() > 1 {
            self.out.push(b',');
        }
        self.out.push(b'{');
        let mut first = true;
        for (column, key) in layout.json_keys().iter().enumerate() {
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

    /// Returns the number of bytes written so far.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Ends the array and returns the text.
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

    /// Writes the shortest digits that read back as the same number. JSON has no infinity, so 9e999 is written, which reads as
    /// infinity.
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
