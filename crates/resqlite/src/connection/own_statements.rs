//! Statements that use a connection together with other statements, but not its cache.

use std::{mem::swap, sync::Arc};

use lru::LruCache;

use super::{engine_connection::EngineConnection, prepared::Prepared};

/// A separate cache of statements for one purpose.
pub(crate) struct OwnStatements {
    cache: LruCache<Arc<str>, Prepared>,
    /// The number of times that the connection had forgotten its statements when this cache was used last.
    forgotten: u64,
}

impl OwnStatements {
    pub(crate) fn new(connection: &EngineConnection) -> Self {
        Self {
            cache: LruCache::new(connection.cache.cap()),
            forgotten: connection.forgotten(),
        }
    }

    /// Runs `work`, in which the connection uses these statements instead of its own. After a panic in `work` the two caches are mixed
    /// up, and the connection must be dropped.
    pub(crate) fn on<T>(
        &mut self,
        connection: &mut EngineConnection,
        work: impl FnOnce(&mut EngineConnection) -> T,
    ) -> T {
        let before = connection.forgotten();
        if self.forgotten != before {
            self.cache.clear();
        }
        swap(&mut self.cache, &mut connection.cache);
        let done = work(connection);
        swap(&mut self.cache, &mut connection.cache);
        // An event that makes the connection forget its statements concerns both caches.
        self.forgotten = connection.forgotten();
        if self.forgotten != before {
            connection.cache.clear();
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        connection::{location::Location, open::open},
        core::options::{Options, Settings},
        guard::authorizer::Role,
    };

    fn connection() -> EngineConnection {
        let options = Options::default();
        let location = Location::find(":memory:", &options).unwrap();
        let settings = Settings::decide(&options).unwrap();
        open(&location, &settings, Role::Writer, |_| {}).unwrap()
    }

    /// The texts of the statements that the connection knows.
    fn known(connection: &EngineConnection) -> Vec<&str> {
        connection.cache.iter().map(|(sql, _)| &**sql).collect()
    }

    #[test]
    fn they_push_none_of_the_connections_statements_out() {
        let mut connection = connection();
        let mut own = OwnStatements::new(&connection);
        connection.get(&"SELECT 0".into()).unwrap();
        own.on(&mut connection, |connection| {
            for n in 1..=connection.cache.cap().get() {
                connection.get(&format!("SELECT {n}").into()).unwrap();
            }
            assert!(!known(connection).contains(&"SELECT 0"));
        });
        assert_eq!(known(&connection), ["SELECT 0"]);
    }

    #[test]
    fn a_connection_that_forgets_its_statements_forgets_both() {
        let mut connection = connection();
        let mut own = OwnStatements::new(&connection);
        let get = |connection: &mut EngineConnection| {
            connection.get(&"SELECT 0".into()).unwrap();
        };
        own.on(&mut connection, get);
        connection.clear();
        own.on(&mut connection, |connection| {
            assert!(known(connection).is_empty())
        });
        get(&mut connection);
        own.on(&mut connection, |connection| {
            get(connection);
            connection.clear();
        });
        assert!(known(&connection).is_empty());
    }
}
