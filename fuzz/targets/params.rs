//! Packed parameters, as JavaScript and other nodes send them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pollster::block_on;
use resqlite::{Database, Durability, Error, Options, Params, binding::{Integers, ParamSets, Statements, Token, Write, WriteOp}};

static DATABASE: LazyLock<Database> =
    LazyLock::new(|| block_on(Database::open(":memory:", Options::default())).expect("memory"));

fuzz_target!(|bytes: &[u8]| {
    let [kind, count, rest @ ..] = bytes else {
        return;
    };
    let params = || Params::packed(rest.into(), 0..rest.len());
    let answered = match kind % 4 {
        0 => block_on(DATABASE.select("SELECT ?1, :a, ?3", params())).map(drop),
        1 => block_on(DATABASE.explain_stream("SELECT name FROM sqlite_schema WHERE name = :a", params()))
            .map(drop),
        2 => {
            let texts = usize::from(*count) % (rest.len() + 1);
            write(WriteOp::Batch {
                sql: "SELECT ?, ?".into(),
                first: ParamSets {
                    count: usize::from(*count),
                    params: params().with_texts_at(texts),
                },
                more: None,
            })
        }
        _ => write(WriteOp::Statements(Statements {
            texts: vec!["SELECT ?".into(), "SELECT :a, :b".into()],
            count: usize::MAX >> (count % 64),
            packed: params(),
        })),
    };
    assert!(!matches!(answered, Err(Error::WorkerDied)));
});

fn write(op: WriteOp) -> Result<(), Error> {
    let (told, hear) = std::sync::mpsc::channel();
    DATABASE.engine().write(
        Write {
            op,
            durability: Durability::Normal,
            integers: Integers::Auto,
            token: Token::default(),
            tag: None,
        },
        Box::new(Answer(told)),
    );
    hear.recv().unwrap_or(Ok(()))
}

/// Keeps what became of a write.
struct Answer(std::sync::mpsc::Sender<Result<(), Error>>);

impl resqlite::binding::Reply for Answer {
    fn rows(&mut self, _: &std::sync::Arc<resqlite::binding::ColumnLayout>, _: &resqlite::binding::RowBatch<'_>) -> bool {
        true
    }

    fn finish(self: Box<Self>, outcome: resqlite::Result<resqlite::binding::Outcome<'_>>) {
        let _ = self.0.send(outcome.map(drop));
    }
}
