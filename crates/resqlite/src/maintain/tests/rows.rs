//! The statements that are maintained, with the statements that maintain them.

use resqlite_live::{Collation, Order, OrderTerm};

use crate::{
    maintain::{Absence, MaintenancePlan, RowsPlan},
    sql::tests::{Db, db},
};

const SHOP: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, name TEXT COLLATE NOCASE);
    CREATE TABLE u(id INTEGER PRIMARY KEY, t, b, d);
    CREATE TABLE w(x TEXT, y INTEGER, z, PRIMARY KEY (y, x)) WITHOUT ROWID;
    CREATE TABLE taken(rowid, _rowid_, oid);
    CREATE TABLE nocase(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID;
    CREATE VIEW v AS SELECT a, b FROM t;
    CREATE VIRTUAL TABLE f USING fts5(text);
";

/// Without collations.
const PLAIN: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c);
    CREATE TABLE u(id INTEGER PRIMARY KEY, t, b, d);
";

impl Db {
    fn plan(&self, sql: &str) -> RowsPlan {
        let analysed = self.analyse(sql);
        let plan = analysed
            .maintenance()
            .unwrap_or_else(|why| panic!("{sql}: {why}"));
        let MaintenancePlan::Rows(plan) = plan else {
            panic!("{sql}: {plan:?}");
        };
        RowsPlan::clone(plan)
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
fn a_column_has_its_collation_in_joins_too() {
    let db = db(SHOP);
    let ordered_by = |term: &str| {
        let sql = format!("SELECT u.id AS i FROM u JOIN t ON t.id = u.t ORDER BY {term}");
        db.plan(&sql).order
    };
    let by = |collation| {
        let term = OrderTerm {
            collation,
            descending: false,
            nulls_last: false,
        };
        Order::new([term].into(), false)
    };
    for binary in ["u.id", "U.b", "d", "(main.u.d)"] {
        assert_eq!(ordered_by(binary), by(Collation::Binary), "{binary}");
    }
    assert_eq!(ordered_by("t.name"), by(Collation::NoCase));
    assert_eq!(ordered_by("name"), by(Collation::NoCase));
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
fn partners_on_the_way_to_a_row_behind_left_join_are_asked_for_too() {
    let some = |on: &str| {
        let sql = format!("SELECT t.a FROM t LEFT JOIN u ON u.id = t.id LEFT JOIN t AS o ON {on} WHERE t.b");
        db(SHOP).plan(&sql).sources[2].some.to_string()
    };
    assert!(
        some("o.id = u.id").ends_with("WHERE \"u\".\"rowid\" IS NOT NULL AND (t.b) AND \"o\".\"rowid\" = ?1"),
        "where u has no row, o has none"
    );
    for on in ["o.id = t.id", "o.id IS u.id", "o.id = u.id OR o.id = 1"] {
        assert!(some(on).ends_with("WHERE (t.b) AND \"o\".\"rowid\" = ?1"), "{on}");
    }
}

#[test]
fn the_row_of_a_left_join_is_found_with_and_without_a_partner() {
    let plan = db(SHOP).plan("SELECT t.a, u.d FROM t LEFT JOIN u ON u.t = t.id");
    assert!(plan.sources[1].is_optional() && !plan.sources[0].is_optional());
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

// G146
#[test]
fn what_makes_one_row_of_many_or_depends_on_other_rows_is_not_maintained() {
    let db = db(SHOP);
    for (sql, why) in [
        ("SELECT row_number() OVER (ORDER BY a) FROM t", "window"),
        ("SELECT a FROM t UNION SELECT d FROM u", "compound"),
        (
            "SELECT a FROM t UNION ALL SELECT d FROM u EXCEPT SELECT 1 FROM t",
            "compound",
        ),
        (
            "SELECT a FROM t UNION ALL SELECT d FROM u GROUP BY d",
            "makes groups",
        ),
        (
            "SELECT a FROM t UNION ALL SELECT max(d) FROM u",
            "one value of many rows",
        ),
        ("SELECT a FROM t UNION ALL SELECT 1", "reads no table"),
        ("SELECT a FROM t UNION ALL VALUES (1)", "reads no table"),
        (
            "WITH x AS (SELECT a FROM t) SELECT a FROM x UNION ALL SELECT d FROM u",
            "tables of its own",
        ),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)", "subquery"),
        ("SELECT text FROM f", "something else than tables"),
        ("SELECT t.a FROM t FULL JOIN u ON u.t = t.id", "RIGHT or FULL"),
        ("SELECT random() FROM t", "although no row does"),
        (
            "SELECT a FROM t WHERE b < datetime('now')",
            "although no row does",
        ),
        (
            "SELECT t.a FROM t JOIN u ON u.d < CURRENT_DATE",
            "although no row does",
        ),
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
        (
            "SELECT d COLLATE NOCASE AS x FROM u ORDER BY x",
            "whose collation is not known",
        ),
        (
            "SELECT d FROM u ORDER BY d = 'x' COLLATE NOCASE",
            "an expression with a collation",
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
        plan.all
            .starts_with("SELECT a + 1 AS \"a+1\", b, \"t\".\"rowid\" FROM t"),
        "{}",
        plan.all
    );
}

#[test]
fn of_a_window_more_rows_are_read_than_it_shows() {
    let plan = db(SHOP).plan("SELECT a FROM t WHERE b = :b ORDER BY a LIMIT :n OFFSET ?");
    let limit = plan.limit.expect("there is a LIMIT");
    assert_eq!(
        *plan.all,
        *"SELECT a, a, \"t\".\"rowid\" FROM t WHERE b = :b ORDER BY a, \"t\".\"rowid\" LIMIT :n OFFSET ?3"
    );
    assert!(limit.first.ends_with("ORDER BY a, \"t\".\"rowid\" LIMIT ?4"));
    assert_eq!(*limit.bounds, *"SELECT (?2), (?3)");
    assert!(!plan.one.contains("LIMIT") && !plan.sources[0].some.contains("LIMIT"));
}

#[test]
fn a_window_has_the_parameters_of_its_statement_in_their_order() {
    let plan = db(SHOP).plan("SELECT a FROM t LIMIT :offset, :count");
    assert!(plan.all.ends_with("LIMIT :offset, :count"), "{}", plan.all);
    assert_eq!(*plan.limit.unwrap().bounds, *"SELECT (?2), (?1)");
}

#[test]
fn a_window_without_order_has_that_of_the_keys() {
    let plan = db(SHOP).plan("SELECT a FROM t LIMIT 5");
    assert!(plan.all.ends_with("FROM t ORDER BY \"t\".\"rowid\" LIMIT 5"));
}

// G142
#[test]
fn a_window_is_not_maintained_where_the_order_of_keys_costs_a_search() {
    let db = db(PLAIN);
    db.run("CREATE INDEX by_a ON t(a, b)");
    for sql in [
        // Found by an index whose rows come in another order, and sorted then.
        "SELECT id FROM t WHERE a > 5 LIMIT 5",
        "SELECT id FROM t ORDER BY a LIMIT 5",
        "SELECT t.id FROM u JOIN t ON t.a = u.b LIMIT 5",
    ] {
        assert!(db.why_not(sql).contains("in another way"), "{sql}");
    }
    for sql in [
        "SELECT id FROM t ORDER BY a, b LIMIT 5",
        "SELECT id FROM t ORDER BY a DESC, b DESC LIMIT 5",
        "SELECT id FROM t ORDER BY b LIMIT 5",
        "SELECT c FROM t WHERE b = 5 LIMIT 5",
        "SELECT u.id FROM u JOIN t ON t.id = u.t LIMIT 5",
        "SELECT u.id FROM u JOIN t ON t.id = u.t ORDER BY u.d DESC LIMIT ?",
        "SELECT u.id FROM u JOIN t ON t.a = u.b ORDER BY t.b LIMIT 5",
    ] {
        db.plan(sql);
    }
}

// G150
#[test]
fn rows_that_are_not_kept_are_asked_for_their_partners_behind_left_join() {
    let db = db(PLAIN);
    for sql in [
        "SELECT t.a FROM t LEFT JOIN u ON u.t = t.id WHERE u.id IS NULL",
        "SELECT t.a FROM t LEFT JOIN u ON u.t = t.id JOIN t AS o ON o.id = u.d",
        "SELECT t.a FROM t LEFT JOIN u ON u.t = t.id ORDER BY u.d LIMIT 5",
        "SELECT t.a FROM t LEFT JOIN u ON u.t = t.id ORDER BY t.a || u.d LIMIT 5",
        "SELECT t.a, u.d AS x FROM t LEFT JOIN u ON u.t = t.id ORDER BY x LIMIT 5",
        "SELECT t.a, u.d FROM t LEFT JOIN u ON u.t = t.id ORDER BY 2 LIMIT 5",
    ] {
        let absence = db.plan(sql).sources[1].absence.clone();
        assert!(matches!(absence, Absence::Asked(_)), "{sql}: {absence:?}");
    }
    for sql in [
        "SELECT t.a, u.d FROM t LEFT JOIN u ON u.t = t.id ORDER BY t.b DESC LIMIT 5",
        "SELECT t.a, u.d FROM t LEFT JOIN u ON u.t = t.id WHERE t.b",
    ] {
        assert_eq!(db.plan(sql).sources[1].absence, Absence::Kept, "{sql}");
    }
}

// G150
#[test]
fn partners_are_looked_for_without_what_stands_behind_them() {
    let plan = db(PLAIN).plan(
        "SELECT t.a FROM t LEFT JOIN u ON u.t = t.id AND u.d = :d LEFT JOIN t AS o ON o.id = u.b
         WHERE o.a IS NULL AND t.b = :b",
    );
    let Absence::Asked(partners) = &plan.sources[1].absence else {
        panic!("{plan:?}");
    };
    assert_eq!(
        partners.now.trim(),
        "SELECT \"t\".\"rowid\" FROM t LEFT OUTER JOIN u ON u.t = t.id AND u.d = ?1 WHERE \"u\".\"rowid\" = ?3"
    );
    let before = partners
        .before
        .sql
        .replace(&*partners.before.given.name, "images");
    assert_eq!(
        before.trim(),
        "SELECT \"t\".\"rowid\" FROM t LEFT OUTER JOIN images AS \"u\" ON u.t = t.id AND u.d = ?1 \
         WHERE \"u\".\"#sign\" IS NOT NULL"
    );
    assert_eq!(*partners.before.needed, [1, 3]);
}

// G150
#[test]
fn partners_that_only_a_look_at_a_whole_table_finds_are_not_looked_for() {
    let db = db(PLAIN);
    db.run("CREATE TABLE x(id INTEGER PRIMARY KEY, u INTEGER)");
    let sql = "SELECT x.id FROM x LEFT JOIN u ON u.id = x.u WHERE u.b IS NULL";
    assert_eq!(db.plan(sql).sources[1].absence, Absence::Unknown);
    db.run("CREATE INDEX by_u ON x(u)");
    assert!(matches!(db.plan(sql).sources[1].absence, Absence::Asked(_)));
}

#[test]
fn a_window_is_not_maintained_if_more_than_parameters_decides_on_it() {
    let db = db(SHOP);
    for sql in ["SELECT a FROM t LIMIT abs(5)", "SELECT a FROM t LIMIT '5'"] {
        assert!(db.why_not(sql).contains("numbers and parameters"), "{sql}");
    }
}

// G148
#[test]
fn a_view_gives_the_keys_of_its_base_rows() {
    let plan = db(SHOP).plan("SELECT a FROM v WHERE b = 1");
    let seen = "FROM (SELECT a, b, \"t\".\"rowid\" AS \"#k0\" FROM t) AS \"v\"";
    assert_eq!(
        *plan.all,
        *format!("SELECT a, \"v\".\"#k0\" {seen} WHERE b = 1 ORDER BY \"v\".\"#k0\"")
    );
    assert_eq!(
        *plan.sources[0].some,
        *format!("SELECT a, \"v\".\"#k0\" {seen} WHERE (b = 1) AND \"v\".\"#k0\" = ?1")
    );
    assert_eq!(plan.sources[0].table.table(), "t");
}

// G148
#[test]
fn a_subquery_and_a_common_table_expression_stay_where_they_are() {
    let db = db(SHOP);
    let plan = db.plan("SELECT a FROM (SELECT a FROM t WHERE b = :b) WHERE a > :a");
    assert!(
        plan.one.ends_with(
            "FROM (SELECT a, \"t\".\"rowid\" AS \"#k0\" FROM t WHERE b = :b) AS \"#s1\" \
             WHERE (a > :a) AND \"#s1\".\"#k0\" = ?3"
        ),
        "{}",
        plan.one
    );
    let plan = db
        .plan("WITH x(m, n) AS (SELECT d, u.b FROM u, t WHERE t.id = u.t) SELECT n FROM x AS y WHERE m = ?");
    assert_eq!(
        *plan.sources[1].some,
        *"WITH x(m, n, \"#k0\", \"#k1\") AS (SELECT d, u.b, \"u\".\"rowid\" AS \"#k0\", \"t\".\"rowid\" AS \"#k1\" \
          FROM u, t WHERE t.id = u.t) SELECT n, \"y\".\"#k0\", \"y\".\"#k1\" FROM x AS y WHERE (m = ?1) AND \"y\".\"#k1\" = ?2"
    );
}

// G148
#[test]
fn views_of_views_are_seen_through_and_all_columns_are_those_that_they_had() {
    let db = db(SHOP);
    db.run(
        "CREATE VIEW of_v(x, y) AS SELECT v.a AS old, v.b + 1 FROM v WHERE v.a > 0;
         CREATE VIEW joined AS WITH c AS (SELECT * FROM of_v) SELECT c.*, w.z FROM c JOIN w ON w.y = c.x;",
    );
    for sql in [
        "SELECT * FROM of_v",
        "SELECT v.*, u.* FROM u JOIN v ON v.a = u.d",
        "SELECT * FROM v JOIN u USING (b)",
        "SELECT * FROM joined",
        "SELECT joined.* FROM u CROSS JOIN main.joined",
        "SELECT u.d, v.a FROM u LEFT JOIN v ON v.a = u.b WHERE u.d > 1",
        "SELECT * FROM u NATURAL JOIN v",
    ] {
        let whole = db
            .connection
            .sqlite
            .prepare(sql, false)
            .unwrap()
            .statement
            .unwrap();
        if db.analyse(sql).maintenance().is_ok() {
            assert_eq!(db.plan(sql).columns, whole.column_count(), "{sql}");
        } else {
            assert!(
                sql.contains("USING") || sql.contains("NATURAL"),
                "{sql}: {}",
                db.why_not(sql)
            );
        }
    }
    let plan = db.plan("SELECT x FROM joined");
    let tables: Vec<&str> = plan.sources.iter().map(|source| source.table.table()).collect();
    assert_eq!(tables, ["t", "w"]);
    assert!(
        plan.one
            .contains("AS \"x\", v.b + 1 AS \"y\", \"v\".\"#k0\" AS \"#k1\""),
        "{}",
        plan.one
    );
}

// G148
#[test]
fn what_a_select_in_from_makes_of_several_rows_is_not_seen_through() {
    let db = db(SHOP);
    db.run("CREATE VIEW sorted AS SELECT a, b FROM t ORDER BY b; CREATE VIEW counted AS SELECT count(*) AS n FROM t");
    for (sql, why) in [
        ("SELECT n FROM counted", "one value of many rows"),
        ("SELECT a FROM (SELECT a FROM t GROUP BY a)", "makes groups"),
        ("SELECT a FROM (SELECT DISTINCT a FROM t)", "DISTINCT"),
        ("SELECT a FROM (SELECT a FROM t LIMIT 5)", "LIMIT"),
        (
            "SELECT a FROM (SELECT a FROM t UNION ALL SELECT d FROM u)",
            "compound",
        ),
        (
            "SELECT a FROM (SELECT t.a FROM t LEFT JOIN u ON u.t = t.id)",
            "LEFT JOIN",
        ),
        ("SELECT a FROM (SELECT a, row_number() OVER () FROM t)", "window"),
        (
            "SELECT a FROM (SELECT a FROM t WHERE b IN (SELECT d FROM u))",
            "subquery",
        ),
        ("WITH x AS (SELECT a FROM t) SELECT x.a FROM x, x AS y", "twice"),
        (
            "WITH x AS MATERIALIZED (SELECT a FROM t) SELECT a FROM x",
            "apart",
        ),
        (
            "SELECT * FROM u LEFT JOIN (SELECT t.a FROM t, w) x ON x.a = u.d",
            "behind LEFT JOIN",
        ),
        ("SELECT a FROM sorted", "the order is that of"),
        ("SELECT a FROM (SELECT 1 AS a)", "without tables"),
        (
            "SELECT \"a+1\" FROM (SELECT a+1 FROM t)",
            "its parts cannot be asked for",
        ),
        (
            "SELECT a FROM (SELECT a COLLATE NOCASE AS a FROM u, v) ORDER BY a",
            "whose collation",
        ),
        (
            "SELECT d FROM (SELECT d COLLATE NOCASE AS d FROM u) ORDER BY d",
            "whose collation",
        ),
        (
            "SELECT n FROM (SELECT a || name AS n FROM t) ORDER BY n",
            "whose collation",
        ),
    ] {
        let told = db.why_not(sql);
        assert!(told.contains(why), "{sql}: {told}");
    }
    db.plan("SELECT a FROM sorted ORDER BY a");
}

// G136
#[test]
fn each_arm_of_a_union_is_asked_for_its_own_rows() {
    let plan = db(PLAIN).plan("SELECT a, b FROM t WHERE c = :c UNION ALL SELECT b, d FROM u WHERE d > :d");
    assert_eq!(
        *plan.all,
        *"SELECT a, b, \"t\".\"rowid\", 0 FROM t WHERE c = :c UNION ALL \
          SELECT b, d, \"u\".\"rowid\", 1 FROM u WHERE d > :d ORDER BY 4, 3"
    );
    assert_eq!(
        *plan.sources[1].some,
        *"SELECT a, b, \"t\".\"rowid\", 0 FROM t WHERE (c = :c) AND 0 UNION ALL \
          SELECT b, d, \"u\".\"rowid\", 1 FROM u WHERE (d > :d) AND \"u\".\"rowid\" = ?3"
    );
    assert!(
        plan.one.ends_with("WHERE (d > :d) AND \"u\".\"rowid\" = ?4"),
        "{}",
        plan.one
    );
}

#[test]
fn arms_of_a_union_have_columns_for_the_longest_key() {
    let db = db(SHOP);
    let plan = db.plan("SELECT z FROM w UNION ALL SELECT a FROM t ORDER BY 1 COLLATE NOCASE DESC");
    assert_eq!(
        *plan.all,
        *"SELECT z, \"w\".\"y\", \"w\".\"x\", 0 FROM w UNION ALL \
          SELECT a, \"t\".\"rowid\", NULL, 1 FROM t ORDER BY 1 COLLATE NOCASE DESC, 2 DESC, 3 DESC, 4 DESC"
    );
    let why = db.why_not("SELECT t.a FROM t LEFT JOIN w ON w.z = t.a UNION ALL SELECT a FROM t");
    assert!(why.contains("a key of several columns"), "{why}");
}

// G136
#[test]
fn a_union_is_ordered_by_columns_that_cannot_be_mistaken() {
    let db = db(PLAIN);
    let plan = db.plan("SELECT b AS n, a FROM t UNION ALL SELECT b, d FROM u ORDER BY a");
    assert_eq!(*plan.sort, [1]);
    for order in ["1", "b", "n", "n COLLATE NOCASE DESC"] {
        let plan = db.plan(&format!(
            "SELECT b, a AS n FROM t UNION ALL SELECT b, d FROM u ORDER BY {order}"
        ));
        assert_eq!(*plan.sort, [usize::from(order.starts_with('n'))], "{order}");
    }
    for sql in [
        "SELECT a AS n FROM t UNION ALL SELECT d FROM u ORDER BY d",
        "SELECT a + 1 FROM t UNION ALL SELECT d FROM u ORDER BY a + 1",
        "SELECT a, b AS a FROM t UNION ALL SELECT d, d FROM u ORDER BY a",
        // SQLite takes the first column that is `a`, whatever it is called.
        "SELECT a AS n, a FROM t UNION ALL SELECT b, d FROM u ORDER BY a",
        "SELECT a COLLATE NOCASE AS n, a FROM t UNION ALL SELECT b, d FROM u ORDER BY a",
        "SELECT t.rowid AS n, id FROM t UNION ALL SELECT d, id FROM u ORDER BY id",
        // There is a column of this name in both tables.
        "SELECT t.b, a FROM t JOIN u ON u.t = t.id UNION ALL SELECT d, b FROM u ORDER BY b",
    ] {
        let why = db.why_not(sql);
        assert!(why.contains("by which column"), "{sql}: {why}");
    }
}

#[test]
fn a_window_of_a_union_is_maintained_where_its_arms_are_found_in_order() {
    let db = db(PLAIN);
    db.run("CREATE INDEX t_by_a ON t(a); CREATE INDEX u_by_d ON u(d)");
    let plan = db.plan("SELECT a FROM t UNION ALL SELECT d FROM u ORDER BY 1 LIMIT 5");
    assert!(plan.limit.is_some());
    let why = db.why_not("SELECT a FROM t UNION ALL SELECT d FROM u LIMIT 5");
    assert!(why.contains("in another way"), "{why}");
}
