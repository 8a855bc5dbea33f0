//! Keys of encrypted databases, as JSON: `{ passphrase }` or `{ raw }` with hexadecimal digits. Errors never show a
//! key.

use resqlite::{Error, Key, Result};
use serde_json::Value;

/// Reads the payload of a `REKEY` request.
pub(crate) fn parse(text: &str) -> Result<Key> {
    let value = serde_json::from_str(text).map_err(|error| Error::Option(error.to_string()))?;
    of(&value)
}

pub(crate) fn of(value: &Value) -> Result<Key> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let key = match (text("passphrase"), text("raw")) {
        (Some(passphrase), _) => Key::passphrase(passphrase),
        (None, digits) => Key::raw(&bytes(digits.unwrap_or_default())),
    };
    key.map_err(|reason| Error::Option(format!("key: {reason}")))
}

/// Returns the bytes that hexadecimal digits stand for, up to the first character that is not such a digit.
fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map_while(byte).collect()
}
