//! The protocol of a node, without threads, clock or network: it receives events, and returns the actions that are to be
//! performed.
//!
//! ```text
//! types     events and actions               waiting   a transaction, requests
//! state     the state of a node, and its end
//! gate      the transaction that waits before COMMIT: append, settle, overtaken
//! answers   writes without an entry: have they seen the newest state?
//! inbox     the entries that the log has and the database does not have yet
//! requests  writes of other nodes that run here, and ours that run elsewhere
//! beginning  the beginning of the chain of entries, and the files that fit there
//! ```
//!
//! **Why nothing is lost or done twice.** A transaction ran on the state at `applied`. Its entry is appended at `applied + 1`,
//! where the log takes one entry only. If the log takes the entry, the transaction commits. If the log refuses the entry, the
//! transaction is rolled back, unless the same bytes stand there from an earlier try. If there is no answer, the same bytes are
//! appended again at the same position, which has the same effect as one append. A transaction that gave up before it knew the
//! outcome is rolled back; if its entry does stand in the log, the entry is applied like that of another node.
//!
//! **Why an answer without an entry is true.** A write that fails, or changes nothing, appends nothing: so the log could not
//! refuse an answer that was computed on an old state. The log is asked for its newest position, after the write has run and
//! while the writer is held. If the database has that position, the write has seen the newest state. Otherwise the write runs
//! again after that position.
//!
//! **Why a write that is sent to another node is done once.** The request goes to one run of one node, the writer, and names the
//! newest position that the asking node knew. The writer runs it only while all entries after that position are its own. So once
//! an entry of another run stands after that position, the write either stands before that entry or never happens. The asking
//! node can make such an entry itself ([`Action::TakeOver`]).

mod answers;
mod beginning;
mod gate;
mod inbox;
mod requests;
mod state;
#[cfg(test)]
mod tests;
mod types;
mod waiting;

pub(crate) use self::{
    beginning::{Begin, Beginning},
    requests::Acceptance,
    state::Protocol,
    types::{
        Action, Failure, Link, Logged, Refusal, RequestId, Run, Served, Settled, Source, Time, Unapplied,
    },
};
