//! Messages between nodes of a cluster, and entries of their log.
#![no_main]
#![allow(dead_code, unused_imports, missing_docs)]

#[path = "../../crates/resqlite-cluster/src/core/mod.rs"]
mod core;
#[path = "../../crates/resqlite-cluster/src/protocol/mod.rs"]
mod protocol;
#[path = "../../crates/resqlite-cluster/src/wire/mod.rs"]
mod wire;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

use self::wire::{Answer, Parts, Request, hash_in, open_envelope};

fuzz_target!(|bytes: &[u8]| {
    if let Some(request) = Request::from_bytes(bytes) {
        let again = Request::from_bytes(&request.to_bytes()).expect("what was written can be read");
        assert_eq!(format!("{request:?}"), format!("{again:?}"));
    }
    if let Some(answer) = Answer::from_bytes(bytes) {
        let _ = answer.to_bytes_within(100);
        if let Answer::Done(position, results) = answer {
            results
                .into_iter()
                .for_each(|result| drop(result.unpack(position)));
        }
    }
    let _ = open_envelope(Bytes::copy_from_slice(bytes));
    let _ = hash_in(bytes);
    if let Some(parts) = Parts::from_bytes(7, bytes) {
        let _ = parts.each().take(3).count();
        let _ = parts.join(&[Bytes::copy_from_slice(bytes)]);
    }
});
