//! Results are maintained, for statements of many forms.

mod groups;
pub(super) mod printed;
mod rows;

use crate::sql::tests::Db;

impl Db {
    /// Why the result of a query is not maintained.
    fn why_not(&self, sql: &str) -> &'static str {
        match self.analyse(sql).maintenance() {
            Ok(plan) => panic!("{sql}: {plan:?}"),
            Err(why) => why,
        }
    }
}
