//! The TypeScript side of the protocol is what the Rust side says.
//!
//! The files of `packages/resqlite/src` that are generated are checked in. The test compares them with what the Rust
//! sources give now; with `WRITE_PROTOCOL=1` it writes them.

mod rust;
mod typescript;

use std::{fs, path::PathBuf};

use rust::Source;
use typescript::{File, camel_case};

#[test]
fn the_numbers_of_the_protocol_are_those_of_rust() {
    check("wire/protocol.ts", &protocol());
}

#[test]
fn the_counters_are_those_of_rust() {
    check("core/counters.ts", &counters());
}

#[test]
fn every_counter_of_a_live_query_crosses() {
    let declared = Source::read("resqlite/src/live/stats.rs").fields("StreamStats");
    let crossing = Source::read("resqlite-node/src/stats.rs").macro_lists("counters");
    let crossing: Vec<_> = crossing.iter().flat_map(|(_, items)| items).collect();
    for field in declared {
        assert!(
            crossing.iter().any(|item| item.name == field.name),
            "StreamStats::{} is not in the list of crates/resqlite-node/src/stats.rs",
            field.name
        );
    }
}

fn protocol() -> String {
    let protocol = Source::read("resqlite-node/src/protocol.rs");
    let frames = Source::read("resqlite-node/src/frames.rs");
    let params = Source::read("resqlite/src/core/params.rs");
    let batch = Source::read("resqlite/src/rows/batch.rs");
    let limits = Source::read("resqlite/src/core/limits.rs");
    let reasons = Source::read("resqlite-live/src/impact.rs").variants("Reason");

    let mut file = File::generated();
    file.remark(&frames.docs);
    file.constant(&protocol.constant("FRAME_HEADER"), "FRAME_HEADER");
    file.table(&protocol.byte_enum("Op"), "Op");
    file.table(&protocol.associated_constants("RequestFlags"), "RequestFlags");
    file.table(&protocol.module_constants("begin_flags"), "BeginFlags");
    file.constant(&protocol.constant("INTEGERS_MASK"), "INTEGERS_MASK");
    file.lowercase_table(&batch.variants("Integers"), "INTEGER_FLAGS");
    file.table(&protocol.byte_enum("ReplyKind"), "ReplyKind");
    file.table(&protocol.associated_constants("ReplyFlags"), "ReplyFlags");
    file.constant(&protocol.constant("NEW_ROWS"), "NEW_ROWS");
    file.constant(&protocol.constant("NOT_QUICK"), "NOT_QUICK");
    file.names(
        "The reasons of emissions, by their numbers. See `EmissionReason`.",
        "REASONS",
        &reason_names(&reasons.items),
    );
    file.remark(&params.docs);
    file.table(&params.module_constants("tag"), "Tag");
    file.remark(&batch.docs);
    file.constant(&batch.constant("HEADER"), "ROW_BATCH_HEADER");
    file.constant(&limits.constant("ROW_BATCH_ROWS_MAX"), "ROW_BATCH_ROWS");
    file.table(&batch.variants("Kind"), "Kind");
    file.constant(&batch.constant("NULL_INT32"), "NULL_INT32");
    file.constant(&batch.constant("NULL_INT64"), "NULL_INT64");
    file.table(&batch.module_constants("cell"), "Cell");
    file.text
}

fn counters() -> String {
    let declared = Source::read("resqlite/src/live/stats.rs").fields("StreamStats");
    let crossing = Source::read("resqlite-node/src/stats.rs").macro_lists("counters");
    let reasons = Source::read("resqlite-live/src/impact.rs").variants("Reason");
    let reasons: Vec<_> = reason_names(&reasons.items)
        .iter()
        .map(|name| format!("'{name}'"))
        .collect();
    let type_of = |rust: &str| match rust {
        "u64" => "number".to_owned(),
        "bool" => "boolean".to_owned(),
        "Option < Reason >" => reasons.join(" | "),
        other => panic!("no TypeScript type for the counter type {other}"),
    };
    let listed = |list: &str| -> Vec<String> {
        let lists = crossing
            .iter()
            .filter(|(name, _)| list.is_empty() || name == list);
        lists
            .flat_map(|(_, items)| items)
            .map(|item| camel_case(&item.name))
            .collect()
    };

    let mut file = File::generated();
    file.interface(
        "The counters of a live query: see {@link LiveQuery.stats}. Live queries that share a native one share its counters.",
        "StreamStats",
        declared.iter().map(|field| (field, type_of(&field.rust_type))),
    );
    let latest: Vec<_> = listed("latest").iter().map(|name| format!("'{name}'")).collect();
    file.doc("The counters that can be added up over live queries.");
    file.line(&format!(
        "export type StreamSums = Omit<StreamStats, {}>",
        latest.join(" | ")
    ));
    file.names(
        "The counters of a live query, in the order in which the native side writes them.",
        "STREAM_COUNTERS",
        &listed(""),
    );
    let profile = Source::read("resqlite/src/core/profile/counters.rs").macro_lists("counters");
    let profile = profile.iter().flat_map(|(_, items)| items);
    file.interface(
        "The counters of the whole process: all databases, native threads and worker_threads. Names that end in `Us` are \
         times in microseconds, with fractions; names that contain `Max` are the largest numbers that ever were at once; the \
         others count events.",
        "ProfileCounters",
        profile.map(|item| (item, "number".to_owned())),
    );
    file.text
}

fn reason_names(reasons: &[rust::Item]) -> Vec<String> {
    let names = reasons.iter().map(|reason| reason.name.to_lowercase());
    std::iter::once("first".to_owned()).chain(names).collect()
}

fn check(file: &str, expected: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../packages/resqlite/src", file]
        .iter()
        .collect();
    if std::env::var_os("WRITE_PROTOCOL").is_some() {
        fs::write(&path, expected).expect("the file can be written");
    }
    let actual = fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        actual == expected,
        "packages/resqlite/src/{file} is not what the Rust sources give. Write it with:\n\n    \
         WRITE_PROTOCOL=1 cargo test -p resqlite-node --test protocol\n"
    );
}
