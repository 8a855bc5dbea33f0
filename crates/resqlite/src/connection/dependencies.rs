//! The dependencies of the statements of a connection.

use std::sync::Arc;

use resqlite_live::Dependencies;

use super::{
    engine_connection::{EngineConnection, get},
    prepared::KnownDependencies,
    schemas,
    versions::Versions,
};
use crate::{
    core::error::Result,
    maintain::{Explanation, StatementDependencies, analyse},
    requests::request::Query,
};

impl EngineConnection {
    /// Returns the dependencies of a statement. Call it inside the read transaction in which the statement has run.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn dependencies(&mut self, sql: &Arc<str>) -> Result<Arc<StatementDependencies>> {
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, sql)?;
        let reprepared = prepared.statement.reprepared();
        if let Some(known) = &prepared.dependencies
            && known.reprepared == reprepared
        {
            return Ok(Arc::clone(&known.dependencies));
        }
        // SQLite also prepares a statement again for other parameters. The dependencies follow from the schemas alone.
        let known = prepared.dependencies.take();
        let schemas = self.schema_versions()?;
        match known {
            Some(known) if known.schemas == schemas => {
                let dependencies = Arc::clone(&known.dependencies);
                self.get(sql)?.dependencies = Some(KnownDependencies { reprepared, ..known });
                Ok(dependencies)
            }
            _ => self.analyse(sql, schemas),
        }
    }

    /// Returns the dependencies of a statement that has not run in the open read transaction.
    ///
    /// # Errors
    /// SQLite's errors.
    pub(crate) fn dependencies_before_run(&mut self, sql: &Arc<str>) -> Result<Arc<StatementDependencies>> {
        let schemas = self.schema_versions()?;
        let prepared = self.get(sql)?;
        match &prepared.dependencies {
            Some(known) if known.schemas == schemas => Ok(Arc::clone(&known.dependencies)),
            _ => self.analyse(sql, schemas),
        }
    }

    fn schema_versions(&mut self) -> Result<Versions> {
        let attached = self.as_internal(schemas::attached)?;
        let names = attached.into_iter().map(|(name, _)| name).collect();
        Versions::of_schemas(names, |sql| self.internal(sql))
    }

    fn analyse(&mut self, sql: &Arc<str>, schemas: Versions) -> Result<Arc<StatementDependencies>> {
        let dependencies = Arc::new(analyse(&self.sqlite, &self.guard, &self.given_tables, sql)?);
        let prepared = self.get(sql)?;
        prepared.dependencies = Some(KnownDependencies {
            dependencies: Arc::clone(&dependencies),
            reprepared: prepared.statement.reprepared(),
            schemas,
        });
        Ok(dependencies)
    }

    /// Returns the dependencies of a run of a query whose statement has these `dependencies`.
    ///
    /// # Errors
    /// SQLite's errors for the statement.
    pub(crate) fn resolve(
        &mut self,
        dependencies: &StatementDependencies,
        query: &Query,
    ) -> Result<Dependencies> {
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, &query.sql)?;
        let resolve = || {
            dependencies
                .reads
                .resolve(&self.sqlite, &prepared.statement, &query.params)
        };
        Ok(self.guard.as_internal(resolve))
    }

    /// Explains what a live query of this statement would depend on.
    ///
    /// # Errors
    /// SQLite's errors for the statement or its parameters.
    pub(crate) fn explain(&mut self, query: &Query) -> Result<Explanation> {
        let prepared = self.get(&query.sql)?;
        let bound = prepared.bind_query(query);
        prepared.end_run(query.params.byte_len());
        bound?;
        // Reads the schema again, if it is out of date.
        self.sqlite.query_text("SELECT 1 FROM sqlite_schema")?;
        let dependencies = analyse(&self.sqlite, &self.guard, &self.given_tables, &query.sql)?;
        let prepared = get(&mut self.cache, &self.sqlite, &self.guard, &query.sql)?;
        let explain = || dependencies.explain(&self.sqlite, &prepared.statement, &query.params);
        Ok(self.guard.as_internal(explain))
    }
}
