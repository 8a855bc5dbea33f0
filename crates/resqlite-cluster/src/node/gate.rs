//! The entry gate of the database. The writer asks the gate, and receives a verdict.

use std::{sync::Arc, time::Duration};

use resqlite::log::{Carried, Entry, EntryGate, Head, Verdict};

use super::Node;
use crate::{core::codes, protocol::Served, wire::envelope};

/// The gate of a node.
pub(super) struct Gate {
    node: Arc<Node>,
    /// The writes of other nodes that the next entry carries.
    served: Vec<Served>,
}

impl Gate {
    pub(super) fn new(node: &Arc<Node>) -> Self {
        Self {
            node: Arc::clone(node),
            served: Vec::new(),
        }
    }
}

impl EntryGate for Gate {
    fn carries(&mut self, writes: &[Carried]) {
        let served = self.node.tell(|state, _| {
            let id = |write: &Carried| {
                Some(Served {
                    id: state.served.get(&write.tag)?.id.clone(),
                    changes: write.changes,
                    last_insert_rowid: write.last_insert_rowid,
                    has_more: write.has_more,
                })
            };
            writes.iter().filter_map(id).collect()
        });
        self.served = served;
    }

    fn before_answer(&mut self, at: Head, again: bool, verdict: Verdict) {
        self.node.tell(|state, now| {
            state.verdict = Some(verdict);
            state.protocol.confirm(now, at, again);
        });
    }

    fn before_commit(&mut self, entry: &Entry, verdict: Verdict) {
        if !self.node.options.writes {
            let message = "this node never writes (`writes` is false): write with a single statement or a batch, which runs on the \
                           node that writes, or run the transaction there";
            verdict.refuse_as(codes::NEVER_WRITES, message);
            return;
        }
        let served = std::mem::take(&mut self.served);
        let logged = Arc::new(envelope(entry, self.node.run.clone(), served));
        self.node.tell(|state, now| {
            state.verdict = Some(verdict);
            state.protocol.asked(now, logged);
        });
    }

    fn committed(&mut self, entry: &Entry) {
        self.node
            .tell(|state, _| state.protocol.committed(Head::of(entry)));
    }

    fn failed(&mut self, _: &Entry) {
        self.node.tell(|state, now| state.protocol.not_committed(now));
    }

    fn not_applied(&mut self, entry: &Entry, error: &resqlite::Error) {
        self.node.not_applied(entry.position(), error);
    }

    fn writer_lost(&mut self) {
        self.node.tell(|state, _| state.protocol.writer_lost());
    }

    fn wrote_external(&mut self) -> bool {
        self.node.tell(|state, _| {
            let is_first = state.protocol.stopped().is_none();
            let message = "another program has written to the file of this node, which no other node has: nothing more is applied \
                           or written here; close it, delete its file, and open it with a new one";
            state.protocol.stop(codes::LOG_DIVERGED, message.into());
            is_first
        })
    }

    fn numbers_commits(&self) -> bool {
        true
    }

    /// There is no deadline here: the protocol answers in time.
    fn deadline(&self) -> Duration {
        Duration::MAX
    }
}
