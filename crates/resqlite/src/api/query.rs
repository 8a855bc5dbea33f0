//! Statements of any kind: describing one, and running one wherever it can run.

use std::sync::Arc;

use super::{
    engine::{Engine, push},
    routing::looks_like_a_write,
};
use crate::{
    core::options::Durability,
    reader::{AnyStatement, Job},
    requests::request::{Query, Reply, ReplyGuard, Write},
    writer::WriteJob,
};

impl Engine {
    /// Runs one statement of any kind: on a reader if it only reads, otherwise on the writer. `durability` says when a write is
    /// acknowledged.
    pub fn query(&self, query: Query, durability: Durability, reply: Box<dyn Reply>) {
        let reply = ReplyGuard::new(reply);
        if looks_like_a_write(&query.sql) {
            return self.push(WriteJob::Write(Write::of_query(query, durability), reply));
        }
        let (queue, refusal) = (Arc::clone(&self.parts.queue), self.refusal_of_writes());
        let take_over = move |query, reply: ReplyGuard| match refusal {
            Some(refusal) => reply.fail(refusal),
            None => push(&queue, WriteJob::Write(Write::of_query(query, durability), reply)),
        };
        self.parts.readers.submit(Job::Any(Box::new(AnyStatement {
            query,
            reply,
            writer: Box::new(take_over),
        })));
    }

    /// Describes a statement without running it.
    pub fn describe(&self, sql: Arc<str>, reply: Box<dyn Reply>) {
        self.parts
            .readers
            .submit(Job::Describe(sql, ReplyGuard::new(reply)));
    }
}
