//! The SQL of query builders, word for word.

use super::{Db, db};
use crate::core::value::Value::{self, Integer, Text};

fn blog() -> Db {
    db("
        CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, invited_by INTEGER);
        CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER);
        CREATE TABLE comments(id INTEGER PRIMARY KEY, text TEXT, post_id INTEGER);
        CREATE TABLE tags(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE posts_tags(post_id INTEGER, tag_id INTEGER, PRIMARY KEY (post_id, tag_id));
    ")
}

fn reads<const N: usize>(sql: &str, params: [Value; N]) -> String {
    blog().reads(sql, params)
}

/// `db.query.users.findFirst({ where: eq(users.id, 7), with: { posts: true } })` of Drizzle 0.4x.
const DRIZZLE_FIRST: &str = r#"select "id", "name", "invited_by", (select coalesce(json_group_array(json_array("id", "title", "author_id")), json_array()) as "data" from "posts" "users_posts" where "users_posts"."author_id" = "users"."id") as "posts" from "users" "users" where "users"."id" = ? limit ?"#;

// G247
#[test]
fn a_relational_query_of_drizzle_is_by_key() {
    assert_eq!(
        reads(DRIZZLE_FIRST, [Integer(7), Integer(1)]),
        "main.posts(id, title, author_id) WHERE author_id = 7; main.users(id, name, invited_by) WHERE id = 7"
    );
}

#[test]
fn a_relational_query_of_drizzle_with_all_that_it_can_do_is_by_key_where_keys_are_known() {
    let sql = r#"select "id", "name", "invited_by", (select coalesce(json_group_array(json_array("id", "title", "author_id", (select coalesce(json_group_array(json_array("id", "text", "post_id")), json_array()) as "data" from "comments" "users_posts_comments" where "users_posts_comments"."post_id" = "users_posts"."id"))), json_array()) as "data" from (select * from "posts" "users_posts" where ("users_posts"."author_id" = "users"."id" and "users_posts"."title" = ?) order by "users_posts"."id" desc limit ?) "users_posts") as "posts", (select json_array("id", "name", "invited_by") as "data" from (select * from "users" "users_invitee" where "users_invitee"."id" = "users"."invited_by" limit ?) "users_invitee") as "invitee" from "users" "users" where "users"."id" = ?"#;
    assert_eq!(
        reads(sql, [Text("x".into()), Integer(5), Integer(1), Integer(7)]),
        "main.comments(id, text, post_id); main.posts(id, title, author_id) WHERE title = 'x' AND author_id = 7; \
         main.users(id, name, invited_by)"
    );
}

#[test]
fn a_relation_to_one_row_is_not_by_key_for_only_the_row_knows_it() {
    let sql = r#"select "id", "title", "author_id", (select json_array("id", "name", "invited_by") as "data" from (select * from "users" "posts_author" where "posts_author"."id" = "posts"."author_id" limit ?) "posts_author") as "author" from "posts" "posts" where "posts"."id" = ?"#;
    assert_eq!(
        reads(sql, [Integer(1), Integer(7)]),
        "main.posts(id, title, author_id) WHERE id = 7; main.users(id, name, invited_by)"
    );
}

/// Relations of Drizzle 1: `db.query.users.findMany({ where: { id: 7 }, with: { posts: { limit: 5 } } })`.
// G247
#[test]
fn a_relational_query_of_drizzle_1_is_by_key() {
    let sql = r#"select "d0"."id" as "id", "d0"."name" as "name", (select coalesce(json_group_array(json_object('id', "id", 'title', "title")), jsonb_array()) as "r" from (select "d1"."id" as "id", "d1"."title" as "title" from "posts" as "d1" where "d0"."id" = "d1"."author_id" limit ?) as "t") as "posts" from "users" as "d0" where "d0"."id" = ? limit ?"#;
    assert_eq!(
        reads(sql, [Integer(5), Integer(7), Integer(1)]),
        "main.posts(id, title, author_id) WHERE author_id = 7; main.users(id, name) WHERE id = 7"
    );
    // Many to many, through a table between them.
    let sql = r#"select "d0"."id" as "id", (select coalesce(json_group_array(json_object('name', "name")), jsonb_array()) as "r" from (select "d1"."name" as "name" from "tags" as "d1" inner join "posts_tags" as "tr0" on "tr0"."tag_id" = "d1"."id" where "d0"."id" = "tr0"."post_id") as "t") as "tags" from "posts" as "d0" where "d0"."id" = ?"#;
    assert_eq!(
        reads(sql, [Integer(7)]),
        "main.posts(id) WHERE id = 7; main.posts_tags(post_id, tag_id) WHERE post_id = 7; main.tags(id, name)"
    );
}

// G247
#[test]
fn the_json_helpers_of_kysely_are_by_key() {
    let sql = r#"select "users"."id", (select coalesce(json_group_array(json_object('post_id', "agg"."post_id", 'title', "agg"."title")), '[]') from (select "posts"."id" as "post_id", "posts"."title" from "posts" where "posts"."author_id" = "users"."id" order by "posts"."title") as agg) as "posts", (select json_object('text', "obj"."text") from (select "c"."text" from "comments" as "c" where "c"."post_id" = "users"."id") as obj) as "favourite" from "users" where "users"."id" = ?"#;
    assert_eq!(
        reads(sql, [Integer(7)]),
        "main.comments(text, post_id) WHERE post_id = 7; main.posts(id, title, author_id) WHERE author_id = 7; \
         main.users(id) WHERE id = 7"
    );
}

#[test]
fn an_exists_of_a_builder_is_by_key_if_the_outer_row_is() {
    let sql = r#"select "name" from "users" "users" where ("users"."id" in (?, ?) and exists (select "id", "title", "author_id" from "posts" where "posts"."author_id" = "users"."id"))"#;
    assert_eq!(
        reads(sql, [Integer(7), Integer(8)]),
        "main.posts(id, title, author_id) WHERE author_id IN (7, 8); main.users(id, name) WHERE id IN (7, 8)"
    );
}
