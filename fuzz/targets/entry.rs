//! Entries of a log. Their hash is made right first, because what is behind it would never be reached otherwise.
#![no_main]

use libfuzzer_sys::fuzz_target;
use resqlite::log::Entry;
use sha2::{Digest, Sha256};

fuzz_target!(|operations: &[u8]| {
    let mut bytes = b"rqe\x01".to_vec();
    bytes.extend([7; 8 + 32]);
    bytes.extend(operations);
    bytes.extend(Sha256::digest(&bytes));
    let Ok(entry) = Entry::from_bytes(&bytes) else {
        return;
    };
    assert_eq!(entry.as_bytes(), bytes);
    for operation in entry.operations() {
        let _ = format!("{operation:?}");
    }
});
