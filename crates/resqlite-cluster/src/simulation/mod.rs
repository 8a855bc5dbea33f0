//! The protocol of several nodes over a model database and a model log, with everything that can go wrong: answers that are late,
//! lost or doubled, refusals, silent tails, crashes that lose commits, writers that fail, logs that forget, and files that begin
//! with different content. A seed reproduces a run.
//!
//! ```text
//! tests    the runs that are made         plan      a run: its seed, and the steps that are left out
//! world    nodes, log, time, checks       trouble   the frequency of failures
//! opening  the opening and end of nodes   clients   writers, and the answers to them
//! deeds    the events of a node, and the actions that its protocol then wants
//! log, database   their models            history   the knowledge of clients
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
