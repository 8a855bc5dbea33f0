//! The table-valued function `generate_series(start, stop, step)`, as SQLite's command line has it.
//!
//! Without `stop` the series ends at 4294967295. Without `step`, or with step 0, it goes up by 1. A NULL argument gives
//! no rows.
#![allow(unsafe_code)]

use std::{
    ffi::{c_char, c_int, c_void},
    ptr, slice,
};

use resqlite_sqlite_sys as ffi;

use crate::{error::Result, handle::Handle};

/// The argument columns follow the column of the result.
const DECLARATION: &std::ffi::CStr = c"CREATE TABLE x(value, start HIDDEN, stop HIDDEN, step HIDDEN)";
const VALUE: c_int = 0;
const ARGUMENTS: usize = 3;
const STOP_DEFAULT: i64 = 0xffff_ffff;

/// The bits of a plan, in addition to one bit for each argument that is given.
const ASCENDING: c_int = 1 << ARGUMENTS;
const DESCENDING: c_int = ASCENDING << 1;

static MODULE: ffi::sqlite3_module = ffi::sqlite3_module {
    // Without xCreate, the function need not be created: it is always there.
    xConnect: Some(connect),
    xBestIndex: Some(plan),
    xDisconnect: Some(disconnect),
    xOpen: Some(open),
    xClose: Some(close),
    xFilter: Some(start),
    xNext: Some(next),
    xEof: Some(is_over),
    xColumn: Some(column),
    xRowid: Some(rowid),
    ..ffi::sqlite3_module::EMPTY
};

/// Makes the function known to a connection.
pub(crate) fn register(handle: &Handle) -> Result<()> {
    let name = c"generate_series";
    // SAFETY: the handle is open, the name and the module are static, and there is no data.
    let code = unsafe {
        let (db, nothing) = (handle.db.as_ptr(), ptr::null_mut());
        ffi::sqlite3_create_module_v2(db, name.as_ptr(), &raw const MODULE, nothing, None)
    };
    handle.check(code)
}

/// The present position in a series, and its numbers in the order in which they are returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Series {
    /// The arguments of the series: start, stop and step.
    arguments: [i64; ARGUMENTS],
    value: i64,
    step: i64,
    /// The count of numbers that are left, `value` included.
    left: u128,
}

impl Series {
    fn new([start, stop, step]: [i64; ARGUMENTS], order: c_int) -> Self {
        let step = if step == 0 { 1 } else { step };
        let distance = if step > 0 {
            i128::from(stop) - i128::from(start)
        } else {
            i128::from(start) - i128::from(stop)
        };
        let width = i128::from(step).unsigned_abs();
        let left = u128::try_from(distance).map_or(0, |distance| distance / width + 1);
        let turned = order == if step > 0 { DESCENDING } else { ASCENDING };
        let mut series = Self {
            arguments: [start, stop, step],
            value: start,
            step,
            left,
        };
        if turned && left > 0 {
            // The product is smaller than the distance, so modulo 2⁶⁴ it leads to the last number.
            series.value = start.wrapping_add(step.wrapping_mul((left - 1) as i64));
            series.step = step.wrapping_neg();
        }
        series
    }

    fn advance(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            self.value = self.value.wrapping_add(self.step);
        }
    }
}

/// A cursor. Its first field is the part that SQLite knows.
#[repr(C)]
struct Cursor {
    base: ffi::sqlite3_vtab_cursor,
    series: Series,
}

/// # Safety
/// `cursor` was opened by [`open`], and nothing else refers to it.
unsafe fn series<'a>(cursor: *mut ffi::sqlite3_vtab_cursor) -> &'a mut Series {
    // SAFETY: promised by the caller.
    unsafe { &mut (*cursor.cast::<Cursor>()).series }
}

unsafe extern "C" fn connect(
    db: *mut ffi::sqlite3,
    _: *mut c_void,
    _: c_int,
    _: *const *const c_char,
    table: *mut *mut ffi::sqlite3_vtab,
    _: *mut *mut c_char,
) -> c_int {
    // SAFETY: SQLite calls this while it makes the table known: the handle is open, the out pointer is valid.
    unsafe {
        let code = ffi::sqlite3_declare_vtab(db, DECLARATION.as_ptr());
        if code == ffi::SQLITE_OK {
            ffi::sqlite3_vtab_config(db, ffi::SQLITE_VTAB_INNOCUOUS);
            *table = Box::into_raw(Box::new(ffi::sqlite3_vtab {
                pModule: &raw const MODULE,
                nRef: 0,
                zErrMsg: ptr::null_mut(),
            }));
        }
        code
    }
}

unsafe extern "C" fn disconnect(table: *mut ffi::sqlite3_vtab) -> c_int {
    // SAFETY: `connect` made the table, and SQLite ends it once.
    unsafe { drop(Box::from_raw(table)) };
    ffi::SQLITE_OK
}

/// Asks for the arguments in the order of their columns.
unsafe extern "C" fn plan(table: *mut ffi::sqlite3_vtab, info: *mut ffi::sqlite3_index_info) -> c_int {
    // SAFETY: SQLite passes a table of ours, and arrays of the lengths that it says.
    unsafe {
        let info = &mut *info;
        let count = usize::try_from(info.nConstraint).unwrap_or(0);
        let mut given = [None; ARGUMENTS];
        for position in 0..count {
            let constraint = &*info.aConstraint.add(position);
            let argument = usize::try_from(constraint.iColumn - 1);
            let Ok(argument @ 0..ARGUMENTS) = argument else {
                continue;
            };
            if c_int::from(constraint.op) != ffi::SQLITE_INDEX_CONSTRAINT_EQ {
                continue;
            }
            if constraint.usable == 0 {
                return ffi::SQLITE_CONSTRAINT;
            }
            given[argument] = Some(position);
        }
        if given[0].is_none() {
            (*table).zErrMsg = ffi::sqlite3_mprintf(c"generate_series needs a number to start with".as_ptr());
            return ffi::SQLITE_ERROR;
        }
        info.idxNum = 0;
        let mut asked = 0;
        for (argument, position) in given.into_iter().enumerate() {
            let Some(position) = position else { continue };
            asked += 1;
            let usage = &mut *info.aConstraintUsage.add(position);
            usage.argvIndex = asked;
            usage.omit = 1;
            info.idxNum |= 1 << argument;
        }
        let orders = usize::try_from(info.nOrderBy).unwrap_or(0);
        if orders == 1 && (*info.aOrderBy).iColumn == VALUE {
            let descending = (*info.aOrderBy).desc != 0;
            info.idxNum |= if descending { DESCENDING } else { ASCENDING };
            info.orderByConsumed = 1;
        }
        (info.estimatedCost, info.estimatedRows) = match given[1] {
            Some(_) => (1_000.0, 1_000),
            None => (4e9, STOP_DEFAULT),
        };
        ffi::SQLITE_OK
    }
}

unsafe extern "C" fn open(_: *mut ffi::sqlite3_vtab, cursor: *mut *mut ffi::sqlite3_vtab_cursor) -> c_int {
    let opened = Box::new(Cursor {
        base: ffi::sqlite3_vtab_cursor {
            pVtab: ptr::null_mut(),
        },
        series: Series::default(),
    });
    // SAFETY: the out pointer is valid; SQLite fills the base, which comes first.
    unsafe { *cursor = Box::into_raw(opened).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: `open` made the cursor, and SQLite closes it once.
    unsafe { drop(Box::from_raw(cursor.cast::<Cursor>())) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn start(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    plan: c_int,
    _: *const c_char,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: SQLite passes a cursor of ours, and the values that `plan` asked for.
    unsafe {
        let values = if count == 0 {
            &[]
        } else {
            slice::from_raw_parts(values, count)
        };
        let mut arguments = [0, STOP_DEFAULT, 1];
        let mut null = false;
        let given = (0..ARGUMENTS).filter(|argument| plan & (1 << argument) != 0);
        for (argument, &value) in given.zip(values) {
            null |= ffi::sqlite3_value_type(value) == ffi::SQLITE_NULL;
            arguments[argument] = ffi::sqlite3_value_int64(value);
        }
        let mut numbers = Series::new(arguments, plan & (ASCENDING | DESCENDING));
        if null {
            numbers.left = 0;
        }
        *series(cursor) = numbers;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn next(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: SQLite passes a cursor of ours.
    unsafe { series(cursor) }.advance();
    ffi::SQLITE_OK
}

unsafe extern "C" fn is_over(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: SQLite passes a cursor of ours.
    c_int::from(unsafe { series(cursor) }.left == 0)
}

unsafe extern "C" fn column(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    context: *mut ffi::sqlite3_context,
    column: c_int,
) -> c_int {
    // SAFETY: SQLite passes a cursor of ours, and a context for the result.
    unsafe {
        let series = series(cursor);
        let argument = usize::try_from(column - 1).ok();
        let argument = argument.and_then(|argument| series.arguments.get(argument));
        ffi::sqlite3_result_int64(context, *argument.unwrap_or(&series.value));
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn rowid(cursor: *mut ffi::sqlite3_vtab_cursor, rowid: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes a cursor of ours, and a valid out pointer.
    unsafe { *rowid = series(cursor).value };
    ffi::SQLITE_OK
}

#[cfg(test)]
mod tests {
    use crate::{Access, Connection};

    /// All rows of a query of one column, or the error.
    fn rows(sql: &str) -> String {
        let connection = Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap();
        let list = format!("SELECT group_concat(x) FROM ({sql})");
        match connection.query_text(&list) {
            Ok(list) => list.unwrap_or_default(),
            Err(error) => error.message().to_owned(),
        }
    }

    // G223
    #[test]
    fn it_counts_from_start_to_stop_by_step() {
        assert_eq!(rows("SELECT value AS x FROM generate_series(1, 4)"), "1,2,3,4");
        assert_eq!(rows("SELECT value AS x FROM generate_series(0, 10, 4)"), "0,4,8");
        assert_eq!(rows("SELECT value AS x FROM generate_series(3, 1, -1)"), "3,2,1");
        assert_eq!(rows("SELECT value AS x FROM generate_series(2, 1)"), "");
        assert_eq!(rows("SELECT value AS x FROM generate_series(5) LIMIT 2"), "5,6");
    }

    #[test]
    fn rows_come_in_the_order_that_is_asked_for() {
        let series = "SELECT value AS x FROM generate_series(0, 10, 4) ORDER BY value";
        assert_eq!(rows(series), "0,4,8");
        assert_eq!(rows(&format!("{series} DESC")), "8,4,0");
        let down = "SELECT value AS x FROM generate_series(9, 1, -4) ORDER BY value";
        assert_eq!(rows(down), "1,5,9");
        assert_eq!(rows(&format!("{down} DESC")), "9,5,1");
    }

    #[test]
    fn a_null_gives_no_rows_and_a_step_of_zero_counts_as_one() {
        assert_eq!(rows("SELECT value AS x FROM generate_series(1, NULL)"), "");
        assert_eq!(rows("SELECT value AS x FROM generate_series(1, 2, 0)"), "1,2");
    }

    // G223
    #[test]
    fn it_reaches_the_ends_of_the_integers_and_stops() {
        let (most, least) = (i64::MAX, i64::MIN);
        let up = format!("SELECT value AS x FROM generate_series({}, {most})", most - 1);
        assert_eq!(rows(&up), format!("{},{most}", most - 1));
        let whole =
            format!("SELECT value AS x FROM generate_series({least}, {most}, {most}) ORDER BY value DESC");
        assert_eq!(rows(&whole), format!("{},-1,{least}", most - 1));
        let steep = format!("SELECT value AS x FROM generate_series({most}, {least}, {least})");
        assert_eq!(rows(&steep), format!("{most},-1"));
    }

    #[test]
    fn arguments_may_be_columns_of_another_table() {
        let sql = "WITH t(n) AS (VALUES (2), (3)) SELECT value AS x FROM t, generate_series(1, t.n)";
        assert_eq!(rows(sql), "1,2,1,2,3");
        assert_eq!(
            rows("SELECT start + stop + step AS x FROM generate_series(1, 5, 9)"),
            "15"
        );
    }

    #[test]
    fn without_a_start_it_is_an_error() {
        let message = rows("SELECT value AS x FROM generate_series");
        assert_eq!(message, "generate_series needs a number to start with");
    }
}
