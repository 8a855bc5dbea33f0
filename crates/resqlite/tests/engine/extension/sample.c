/* A small extension of SQLite, which the tests compile and load. */
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1

static void ten(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  sqlite3_result_int(context, 10);
}

/* The number of rows of the table t: not a function of its arguments. */
static void rows_of_t(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count, (void)values;
  sqlite3_stmt *statement = 0;
  sqlite3_prepare_v2(sqlite3_context_db_handle(context), "SELECT count(*) FROM t", -1, &statement, 0);
  sqlite3_step(statement);
  sqlite3_result_int64(context, sqlite3_column_int64(statement, 0));
  sqlite3_finalize(statement);
}

int sqlite3_sample_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  (void)message;
  SQLITE_EXTENSION_INIT2(api);
  const int pure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  int code = sqlite3_create_function(db, "ten", 0, pure, 0, ten, 0, 0);
  if (code == SQLITE_OK) {
    code = sqlite3_create_function(db, "rows_of_t", 0, SQLITE_UTF8, 0, rows_of_t, 0, 0);
  }
  return code;
}

int refuse(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  (void)db;
  SQLITE_EXTENSION_INIT2(api);
  *message = sqlite3_mprintf("not today");
  return SQLITE_ERROR;
}
