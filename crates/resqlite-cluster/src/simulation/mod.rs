//! The protocol of several nodes over a model database and a model log, with everything that can go wrong: answers that are
//! late, lost or doubled, refusals, silent tails, crashes that lose commits, logs that forget. A seed reproduces a run.

mod database;
mod history;
mod log;
mod random;
mod tests;
mod world;
