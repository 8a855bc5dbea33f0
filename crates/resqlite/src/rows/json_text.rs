//! Strings as JSON text.

use std::io::Write;

/// Returns the text `"name":`.
pub(super) fn key(name: &str) -> String {
    let mut out = Vec::new();
    string(&mut out, name);
    out.push(b':');
    String::from_utf8(out).expect("JSON of a string is UTF-8")
}

/// Writes a string with its quotes.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
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

/// Finds the first byte that must be escaped: a control character, a quote or a backslash. Checks 8 bytes at once.
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
            // A borrow may mark a byte after the right one, never one before it. So the first mark is exact.
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
