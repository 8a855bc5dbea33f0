//! Which statements are maintained, and by which other statements.

use super::{Db, db};
use crate::dependencies::RowsPlan;

const SHOP: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, name TEXT COLLATE NOCASE);
    CREATE TABLE u(id INTEGER PRIMARY KEY, t, b, d);
    CREATE TABLE w(x TEXT, y INTEGER, z, PRIMARY KEY (y, x)) WITHOUT ROWID;
    CREATE TABLE taken(rowid, _rowid_, oid);
    CREATE TABLE nocase(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID;
    CREATE VIEW v AS SELECT a, b FROM t;
    CREATE VIRTUAL TABLE f USING fts5(text);
";

impl Db {
    fn plan(&self, sql: &str) -> RowsPlan {
        let analysed = self.analyse(sql);
        let plan = analysed
            .maintenance()
            .unwrap_or_else(|why| panic!("{sql}: {why}"));
        RowsPlan::clone(plan)
    }

    fn why_not(&self, sql: &str) -> &'static str {
        match self.analyse(sql).maintenance() {
            Ok(plan) => panic!("{sql}: {plan:?}"),
            Err(why) => why,
        }
    }
}

#[test]
fn rows_come_with_their_keys_and_in_their_order() {
    let plan = db(SHOP).plan("SELECT a FROM t WHERE b > 1");
    assert_eq!(
        *plan.all,
        *"SELECT a, \"t\".\"rowid\" FROM t WHERE b > 1 ORDER BY \"t\".\"rowid\""
    );
    assert_eq!((plan.columns, plan.sort.len()), (1, 0));
    let source = &plan.sources[0];
    assert_eq!(source.columns, 1..2);
    assert_eq!(
        *source.some,
        *"SELECT a, \"t\".\"rowid\" FROM t WHERE (b > 1) AND \"t\".\"rowid\" = ?1"
    );
}

#[test]
fn what_rows_are_ordered_by_is_a_column_too_and_equal_rows_follow_its_direction() {
    let plan =
        db(SHOP).plan("SELECT t.d, t.b AS x FROM u AS t JOIN u ON u.t = t.id ORDER BY x, t.d + 1 DESC");
    assert_eq!(*plan.sort, [1, 2]);
    assert!(
        plan.all
            .ends_with("ORDER BY x, t.d + 1 DESC, \"t\".\"rowid\" DESC, \"u\".\"rowid\" DESC"),
        "{}",
        plan.all
    );
}

#[test]
fn a_table_without_rowids_is_known_by_its_primary_key() {
    let plan = db(SHOP).plan("SELECT z FROM w WHERE z = ? AND z <> ?");
    assert_eq!(*plan.sources[0].key, [1, 0]);
    assert!(
        plan.sources[0]
            .some
            .ends_with("WHERE (z = ?1 AND z <> ?2) AND \"w\".\"y\" = ?3 AND \"w\".\"x\" = ?4"),
        "{}",
        plan.sources[0].some
    );
}

#[test]
fn the_row_of_a_left_join_is_found_with_and_without_a_partner() {
    let plan = db(SHOP).plan("SELECT t.a, u.d FROM t LEFT JOIN u ON u.t = t.id");
    assert!(plan.sources[1].is_optional && !plan.sources[0].is_optional);
    assert!(
        plan.one
            .ends_with("WHERE \"t\".\"rowid\" = ?1 AND \"u\".\"rowid\" IS ?2"),
        "{}",
        plan.one
    );
    assert!(
        plan.sources[1].some.ends_with("WHERE \"u\".\"rowid\" = ?1"),
        "{}",
        plan.sources[1].some
    );
}

#[test]
fn what_makes_one_row_of_many_or_depends_on_other_rows_is_not_maintained() {
    let db = db(SHOP);
    for (sql, why) in [
        ("SELECT count(*) FROM t", "one value of many rows"),
        ("SELECT a FROM t GROUP BY a", "GROUP BY"),
        ("SELECT DISTINCT a FROM t", "DISTINCT"),
        ("SELECT a FROM t ORDER BY a LIMIT 5", "LIMIT"),
        ("SELECT row_number() OVER (ORDER BY a) FROM t", "window"),
        ("SELECT a FROM t UNION ALL SELECT d FROM u", "compound"),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)", "subquery"),
        ("SELECT a FROM (SELECT a FROM t)", "something else than tables"),
        ("WITH x AS (SELECT a FROM t) SELECT a FROM x", "subquery"),
        ("SELECT a FROM v", "something else than tables"),
        ("SELECT text FROM f", "something else than tables"),
        ("SELECT t.a FROM t FULL JOIN u ON u.t = t.id", "RIGHT or FULL"),
        ("SELECT random() FROM t", "although no row does"),
    ] {
        let told = db.why_not(sql);
        assert!(told.contains(why), "{sql}: {told}");
    }
}

#[test]
fn rows_that_cannot_be_named_or_compared_are_not_maintained() {
    let db = db(SHOP);
    for (sql, why) in [
        ("SELECT * FROM taken", "the rowid of a table has no name"),
        ("SELECT * FROM nocase", "the collation of a key"),
        (
            "SELECT a FROM t ORDER BY name || a",
            "whose collation is not known",
        ),
        (
            "SELECT name AS n FROM t ORDER BY n",
            "whose collation is not known",
        ),
        ("SELECT d FROM u ORDER BY ?", "a parameter"),
    ] {
        let told = db.why_not(sql);
        assert!(told.contains(why), "{sql}: {told}");
    }
    assert!(
        db.plan("SELECT a FROM t ORDER BY name DESC")
            .all
            .contains("ORDER BY name DESC")
    );
}

#[test]
fn a_result_whose_column_is_named_by_its_text_keeps_that_name() {
    let plan = db(SHOP).plan("SELECT a+1,  b /* b */ FROM t");
    assert!(
        plan.all.starts_with("SELECT a+1,  b, \"t\".\"rowid\" FROM t"),
        "{}",
        plan.all
    );
}
