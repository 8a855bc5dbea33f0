//! The protocol of several nodes over a model database and a model log, with everything that can go wrong: answers that are
//! late, lost or doubled, refusals, silent tails, crashes that lose commits, writers that fail, logs that forget, files that
//! begin with different content. A seed reproduces a run.
//!
//! ```text
//! tests    which runs are made            plan      a run: its seed, and which steps are left out
//! world    nodes, log, time, what is checked      trouble   how often things go wrong
//! opening  how nodes are opened and end   clients   who writes, and what they are told
//! deeds    what happens to a node, and what its protocol wants then
//! log, database   their models            history   what clients know
//! fault    mistakes that are planted into the model
//! ```

mod clients;
mod database;
mod deeds;
mod fault;
mod history;
mod log;
mod opening;
mod plan;
mod tests;
mod trouble;
mod world;
