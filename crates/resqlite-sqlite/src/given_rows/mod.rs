//! A table of rows that Rust shows to a statement for as long as it runs, without a copy of them.
#![allow(unsafe_code)]

mod module;
mod rows;
mod table;
#[cfg(test)]
mod tests;

use std::{
    ffi::{CString, c_int, c_void},
    ptr,
    rc::Rc,
};

use resqlite_sqlite_sys as ffi;

pub use self::rows::Rows;
use self::table::Table;
use crate::{
    c_text::c_string,
    connection::Connection,
    error::{Error, Result},
    handle::Handle,
};

/// A table of a connection that has rows only while [`show`](Self::show) runs. The table is removed when this value is
/// dropped. SQLite then prepares again the statements that read the table, so that they find another table of the same
/// name.
///
/// ```
/// use resqlite_sqlite::{Access, Connection, Rows, ValueRef};
///
/// struct Numbers(Vec<i64>);
///
/// impl Rows for Numbers {
///     fn len(&self) -> usize {
///         self.0.len()
///     }
///     fn rowid(&self, row: usize) -> Option<i64> {
///         Some(row as i64)
///     }
///     fn value(&self, row: usize, _: usize) -> Option<ValueRef<'_>> {
///         Some(ValueRef::Integer(self.0[row]))
///     }
/// }
///
/// # fn main() -> resqlite_sqlite::Result<()> {
/// let connection = Connection::open(":memory:", Access::ReadWriteCreate, None)?;
/// let numbers = connection.register_given_rows("sqlite_numbers", "n INTEGER")?;
/// let sum = "SELECT sum(n) FROM sqlite_numbers WHERE n > '1'";
/// let sum = numbers.show(&Numbers(vec![1, 2, 3]), || connection.query_text(sum))?;
/// assert_eq!(sum.as_deref(), Some("5"));
/// # Ok(()) }
/// ```
pub struct GivenRows {
    table: Rc<Table>,
    name: CString,
    handle: Rc<Handle>,
}

impl Connection {
    /// Makes a table known to the connection. `columns` is the text between the brackets of its CREATE TABLE: names,
    /// declared types, collations. Comparisons convert and collate as they do for a table that is declared in this way.
    ///
    /// A table or view of the schema with the same name hides this table. Tables and views of the schema do not have
    /// names that begin with `sqlite_`.
    ///
    /// # Errors
    /// `SQLITE_MISUSE` if the connection already has a table of given rows with this name, `SQLITE_ERROR` if SQLite
    /// does not accept the columns.
    pub fn register_given_rows(&self, name: &str, columns: &str) -> Result<GivenRows> {
        let handle = Rc::clone(self.handle());
        let declaration = c_string(&format!("CREATE TABLE x({columns})"))?;
        let c_name = c_string(name)?;
        if !handle.given_rows.borrow_mut().insert(name.to_ascii_lowercase()) {
            let message = format!("the connection has a table of given rows named {name} already");
            return Err(Error::new(ffi::SQLITE_MISUSE, message));
        }
        let given = GivenRows {
            table: Rc::new(Table::new(name, declaration)),
            name: c_name,
            handle,
        };
        let data = Rc::into_raw(Rc::clone(&given.table)).cast_mut().cast();
        let code = given.set_module(&raw const module::MODULE, data, Some(module::destroy));
        given.handle.check(code)?;
        // SQLite reads the declaration when a statement first names the table.
        let quoted = name.replace('"', "\"\"");
        self.prepare(&format!("SELECT 1 FROM \"{quoted}\""), false)?;
        Ok(given)
    }
}

impl GivenRows {
    /// Runs `work`, during which the table has these rows. Statements that began before `work`, and those that have not
    /// ended after it, fail when they go on.
    pub fn show<R>(&self, rows: &dyn Rows, work: impl FnOnce() -> R) -> R {
        self.table.show(rows, work)
    }

    fn set_module(
        &self,
        module: *const ffi::sqlite3_module,
        data: *mut c_void,
        destroy: ffi::sqlite3_destructor_type,
    ) -> c_int {
        // SAFETY: the handle is open, the name outlives the call, and the module is static or null. SQLite owns the data from
        // now on, even if the call fails, and hands it to `destroy` when no statement needs the module.
        unsafe {
            let db = self.handle.db.as_ptr();
            ffi::sqlite3_create_module_v2(db, self.name.as_ptr(), module, data, destroy)
        }
    }
}

impl Drop for GivenRows {
    fn drop(&mut self) {
        // If there is no memory for this, the table stays, but has no rows.
        self.set_module(ptr::null(), ptr::null_mut(), None);
        self.table.go();
        let name = self.table.name().to_ascii_lowercase();
        self.handle.given_rows.borrow_mut().remove(&name);
    }
}
