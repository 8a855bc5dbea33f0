//! The servers that each have a copy of what a log keeps. One server after another is asked until one returns a sound copy.

use std::{
    collections::BTreeSet,
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::log::LogError;

/// The number of faults that are remembered at most, so that a failing disk does not fill the memory.
const REMEMBERED: usize = 100;

/// The fault in the answer of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server has nothing where there must be something.
    Missing,
    /// The server has something other than what was put there.
    Damaged,
}

/// The servers of a log.
#[derive(Debug)]
pub(crate) struct Copies {
    servers: Vec<String>,
    /// The damage that was found, with the servers.
    damaged: Mutex<BTreeSet<String>>,
}

impl Copies {
    pub(crate) fn on(servers: Vec<String>) -> Self {
        Self {
            servers,
            damaged: Mutex::default(),
        }
    }

    /// The number of servers.
    pub(crate) fn count(&self) -> usize {
        self.servers.len()
    }

    /// Asks the servers, beginning with server `first`, until `read` accepts an answer. Returns the number of that server and
    /// what was read, or `None` if all servers say that it is missing.
    ///
    /// # Errors
    /// The error of the first server, if it cannot be asked. [`LogError::Damaged`] if all servers were asked and none has the
    /// bytes as they were put.
    pub(crate) async fn find<A, T, F: Future<Output = Result<A, LogError>>>(
        &self,
        what: &str,
        first: usize,
        ask: impl Fn(usize) -> F,
        read: impl Fn(A) -> Result<T, Fault>,
    ) -> Result<Option<(usize, T)>, LogError> {
        let (mut faults, mut unanswered) = (Vec::new(), None);
        for turn in 0..self.count() {
            let server = (first + turn) % self.count();
            match ask(server).await.map(&read) {
                Ok(Ok(found)) => {
                    self.note(what, &faults);
                    return Ok(Some((server, found)));
                }
                Ok(Err(fault)) => faults.push((server, fault)),
                Err(error) if turn == 0 => return Err(error),
                Err(error) => unanswered = Some(error),
            }
        }
        match unanswered {
            Some(error) => Err(error),
            None if faults.iter().all(|(_, fault)| *fault == Fault::Missing) => Ok(None),
            None => {
                self.note(what, &faults);
                Err(self.lost(what))
            }
        }
    }

    /// Returns the error for something that must be there but that no server has as it was put.
    pub(crate) fn lost(&self, what: &str) -> LogError {
        let servers = self.servers.join(", ");
        LogError::Damaged(format!(
            "{what} is damaged or missing on every server of the log that the options name ({servers})"
        ))
    }

    /// The damage that was found, with the servers, for people.
    pub(crate) fn damaged(&self) -> Vec<String> {
        self.known().iter().cloned().collect()
    }

    /// Notes the faults of servers that did not return what was put there.
    pub(crate) fn note(&self, what: &str, faults: &[(usize, Fault)]) {
        for (server, fault) in faults {
            self.note_on(&self.servers[*server], what, *fault);
        }
    }

    /// Notes a fault of a server that is known by its name.
    pub(crate) fn note_on(&self, server: &str, what: &str, fault: Fault) {
        let fault = match fault {
            Fault::Missing => "is missing",
            Fault::Damaged => "is damaged",
        };
        let mut known = self.known();
        if known.len() < REMEMBERED {
            known.insert(format!("{server}: {what} {fault}"));
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::{Fault::*, *};

    type Answer = Result<Result<u8, Fault>, LogError>;
    type Found = Result<Option<(usize, u8)>, LogError>;

    /// Asks the second of three servers first. Also returns the damage that was noted, with the servers.
    fn find(answers: [Answer; 3]) -> (Found, Vec<String>) {
        let copies = Copies::on(["a", "b", "c"].map(str::to_owned).to_vec());
        let ask = |server: usize| std::future::ready(answers[server].clone());
        let found = block_on(copies.find("it", 1, ask, |answer| answer));
        (found, copies.damaged())
    }

    fn down() -> Answer {
        Err(LogError::Unknown("down".into()))
    }

    #[test]
    fn the_first_sound_answer_counts_and_the_servers_before_are_named() {
        assert_eq!(find([down(), Ok(Ok(1)), down()]), (Ok(Some((1, 1))), vec![]));
        let named = vec!["b: it is damaged".to_owned(), "c: it is missing".to_owned()];
        assert_eq!(
            find([Ok(Ok(7)), Ok(Err(Damaged)), Ok(Err(Missing))]),
            (Ok(Some((0, 7))), named)
        );
    }

    #[test]
    fn what_no_server_has_is_missing_and_no_damage() {
        assert_eq!(
            find([Ok(Err(Missing)), Ok(Err(Missing)), Ok(Err(Missing))]),
            (Ok(None), vec![])
        );
    }

    #[test]
    fn what_is_damaged_everywhere_is_lost_and_the_error_names_the_servers() {
        let (lost, named) = find([Ok(Err(Missing)), Ok(Err(Damaged)), Ok(Err(Damaged))]);
        assert!(
            matches!(&lost, Err(LogError::Damaged(why)) if why.contains("it is damaged") && why.contains("a, b, c")),
            "{lost:?}"
        );
        assert_eq!(named.len(), 3);
    }

    // G351
    #[test]
    fn nothing_is_lost_as_long_as_a_server_was_not_asked() {
        assert!(matches!(
            find([down(), Ok(Err(Damaged)), Ok(Err(Damaged))]).0,
            Err(LogError::Unknown(_))
        ));
    }
}
