//! The protocol of a node, without threads, clock or network: it is told what happens, and says what is to be done.
//!
//! ```text
//! types     what is told and wanted          waiting   a transaction, requests
//! state     what a node knows, and its end
//! gate      the transaction that waits before COMMIT: append, settle, overtaken
//! answers   writes without an entry: is the newest state what they have seen?
//! inbox     what the log has and the database has not yet
//! requests  writes that travel: those of others here, and ours elsewhere
//! beginning  where the chain of entries begins, and which file fits there
//! ```
//!
//! **Why nothing is lost or done twice.** A transaction ran on the state at `applied`. Its entry is appended at `applied + 1`,
//! where the log takes one entry only. Taken: it commits. Refused: it is rolled back, unless the same bytes stand there
//! from an earlier try. No answer: the same bytes are appended again at the same position, which has the same effect as
//! once. A transaction that gave up before it knew is rolled back; if its entry does stand in the log, it is applied like
//! that of another.
//!
//! **Why an answer without an entry is true.** A write that fails, or changes nothing, appends nothing: so the log could not
//! refuse what was computed on an old state. The log is asked for its newest position, after the write has run and while the
//! writer is held. If the database has it, the write has seen the newest state. Otherwise it runs again after it.
//!
//! **Why a write that travels is done once.** It is asked of one run of one node, the writer, and names the newest position
//! that the asking node knew. The writer runs it only while all entries after that position are its own. So once an entry of
//! another run stands after it, the write stands before that entry, or it never will. The asking node can make such an
//! entry itself ([`Action::TakeOver`]).

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
