//! Planted cycles and breaches of the order are found, however the code names its items.

use rooms::{Graph, Source, cycles, foreign_crates, graph, out_of_order};

type Files<'a> = [(&'a str, &'a str)];

fn graph_of(files: &Files) -> Graph {
    let text = |path: &str| files.iter().find(|(name, _)| *name == path);
    let source = Source::read(&|path| text(path).map(|(_, text)| (*text).to_owned()));
    graph(&source.expect("a valid crate"), &["below", "above"])
}

fn cycles_of(files: &Files) -> Vec<String> {
    cycles(&graph_of(files)).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn assert_cycle(files: &Files, edges: [&str; 2]) {
    let expected = format!(
        "a cycle of 2 files: a.rs, b.rs; the shortest way round:\n    {}\n    {}",
        edges[0], edges[1]
    );
    assert_eq!(cycles_of(files), [expected]);
}

#[test]
fn files_that_use_each_other_one_way_are_no_cycle() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::{b::B, c::C}; pub struct A(B, C);"),
        ("b.rs", "use crate::c::C; pub struct B(C);"),
        ("c.rs", "pub struct C(std::rc::Rc<u8>);"),
    ];
    assert_eq!(cycles_of(&files), [""; 0]);
}

#[test]
fn a_cycle_through_imports_is_found() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B;\npub struct A(B);"),
        ("b.rs", "\nuse super::a::A;\npub struct B(Box<A>);"),
    ];
    assert_cycle(
        &files,
        ["a.rs → b.rs: b::B (line 1)", "b.rs → a.rs: a::A (line 2)"],
    );
}

#[test]
fn the_shortest_way_round_a_cycle_is_shown() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "use crate::c::C; pub struct B(C);"),
        ("c.rs", "use crate::{a::A, d::D}; pub struct C(Box<A>, D);"),
        ("d.rs", "use crate::c::C; pub struct D(Box<C>);"),
    ];
    let expected = "a cycle of 4 files: a.rs, b.rs, c.rs, d.rs; the shortest way round:\n    \
                    c.rs → d.rs: d::D (line 1)\n    d.rs → c.rs: c::C (line 1)";
    assert_eq!(cycles_of(&files), [expected]);
}

#[test]
fn a_cycle_through_a_re_export_is_found() {
    let files = [
        ("lib.rs", "mod room; mod b;"),
        ("room/mod.rs", "mod a; pub(crate) use a::{A as Renamed};"),
        ("room/a.rs", "use crate::b::B; pub struct A(B);"),
        ("b.rs", "use crate::room::Renamed; pub struct B(Box<Renamed>);"),
    ];
    let expected = "a cycle of 2 files: b.rs, room/a.rs; the shortest way round:\n    \
                    b.rs → room/a.rs: room::Renamed (line 1)\n    room/a.rs → b.rs: b::B (line 1)";
    assert_eq!(cycles_of(&files), [expected]);
}

#[test]
fn a_cycle_through_a_path_in_an_expression_is_found() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub fn a() { crate::b::b() }"),
        ("b.rs", "use super::a;\npub fn b() { if false { a::a() } }"),
    ];
    assert_cycle(
        &files,
        ["a.rs → b.rs: b::b (line 1)", "b.rs → a.rs: a::a (line 2)"],
    );
}

#[test]
fn a_cycle_through_a_path_in_a_type_is_found() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A(Vec<super::b::B>);"),
        ("b.rs", "pub struct B(Option<Box<super::a::A>>);"),
    ];
    assert_cycle(
        &files,
        ["a.rs → b.rs: b::B (line 1)", "b.rs → a.rs: a::A (line 1)"],
    );
}

#[test]
fn a_cycle_through_a_path_in_a_macro_is_found() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub fn a() -> String { format!(\"{}\", [crate::b::B]) }"),
        ("b.rs", "use crate::a::a; pub const B: fn() -> String = a;"),
    ];
    assert_cycle(
        &files,
        ["a.rs → b.rs: b::B (line 1)", "b.rs → a.rs: a::a (line 1)"],
    );
}

#[test]
fn a_cycle_through_a_nested_group_is_found() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        (
            "a.rs",
            "use crate::{c, b::{self, deep::{B}}};\npub struct A(B, c::C);",
        ),
        ("b.rs", "pub mod deep { pub struct B(Box<super::super::a::A>); }"),
        ("c.rs", "pub struct C;"),
    ];
    assert_cycle(
        &files,
        ["a.rs → b.rs: b::deep::B (line 1)", "b.rs → a.rs: a::A (line 1)"],
    );
}

#[test]
fn a_cycle_through_globs_is_found() {
    let files = [
        ("lib.rs", "mod a; mod b; mod all { pub use super::a::*; }"),
        ("a.rs", "use crate::b::*; pub struct A(B);"),
        ("b.rs", "use crate::all::A; pub struct B(Box<A>);"),
    ];
    assert_cycle(
        &files,
        ["a.rs → b.rs: B (line 1)", "b.rs → a.rs: all::A (line 1)"],
    );
}

#[test]
fn a_glob_uses_only_what_the_code_names() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::*; pub struct A;"),
        ("b.rs", "use crate::a::A; pub struct B(A);"),
    ];
    assert_eq!(cycles_of(&files), [""; 0]);
}

#[test]
fn a_child_that_uses_what_its_parent_defines_is_a_cycle_if_the_parent_uses_the_child() {
    let parent = "mod child; use child::Child; pub struct Parent(Child);";
    let files = [
        ("lib.rs", "mod room;"),
        ("room/mod.rs", parent),
        ("room/child.rs", "pub struct Child(Box<super::Parent>);"),
    ];
    let expected = "a cycle of 2 files: room/child.rs, room/mod.rs; the shortest way round:\n    \
                    room/child.rs → room/mod.rs: Parent (line 1)\n    room/mod.rs → room/child.rs: child::Child (line 1)";
    assert_eq!(cycles_of(&files), [expected]);
}

#[test]
fn a_parent_that_declares_and_re_exports_a_child_does_not_use_it() {
    let files = [
        ("lib.rs", "mod room; pub use room::Child; pub struct Root;"),
        (
            "room/mod.rs",
            "mod child; pub use child::Child; pub struct Parent;",
        ),
        ("room/child.rs", "pub struct Child(super::Parent, crate::Root);"),
    ];
    assert_eq!(cycles_of(&files), [""; 0]);
}

#[test]
fn a_parent_that_re_exports_a_child_and_names_it_in_its_code_uses_it() {
    let files = [
        (
            "lib.rs",
            "mod child; pub use child::Child; pub struct Root(Child);",
        ),
        ("child.rs", "pub struct Child(Box<crate::Root>);"),
    ];
    assert_eq!(cycles_of(&files).len(), 1);
}

#[test]
fn an_item_that_a_macro_defines_belongs_to_the_file_that_calls_the_macro() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::generated; pub fn a() { generated() }"),
        (
            "b.rs",
            "macro_rules! make { ($name:ident) => { pub fn $name() { crate::a::a() } } } make!(generated);",
        ),
    ];
    assert_cycle(
        &files,
        ["a.rs → b.rs: b::generated (line 1)", "b.rs → a.rs: a::a (line 1)"],
    );
}

#[test]
fn tests_are_left_out() {
    let files = [
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod missing;"),
        (
            "a.rs",
            "pub struct A; #[cfg(all(test, not(loom)))] mod tests { use crate::b::B; }",
        ),
        ("b.rs", "use crate::a::A; pub struct B(A);"),
    ];
    assert_eq!(cycles_of(&files), [""; 0]);
}

#[test]
fn the_files_of_all_platforms_are_read() {
    let files = [
        (
            "lib.rs",
            "#[cfg_attr(not(unix), path = \"a/other.rs\")] mod a; mod b;",
        ),
        ("a.rs", "pub fn a() {}"),
        ("a/other.rs", "pub fn a() { crate::b::b() }"),
        ("b.rs", "pub fn b() { crate::a::a() }"),
    ];
    let expected = "a cycle of 2 files: a/other.rs, b.rs; the shortest way round:\n    \
                    a/other.rs → b.rs: b::b (line 1)\n    b.rs → a/other.rs: a::a (line 1)";
    assert_eq!(cycles_of(&files), [expected]);
}

#[test]
fn a_room_that_uses_a_later_one_is_found() {
    let files = [
        ("lib.rs", "mod early; mod late;"),
        ("early/mod.rs", "pub fn early() { crate::late::late() }"),
        ("late/mod.rs", "pub fn late() {}"),
    ];
    let rooms = |order: [&str; 2]| out_of_order(&graph_of(&files), &order);
    let expected = "use of a later room: early/mod.rs → late/mod.rs: late::late (line 1)";
    assert_eq!(rooms(["early", "late"]), [expected]);
    assert_eq!(rooms(["late", "early"]), [""; 0]);
}

#[test]
fn a_file_outside_of_the_rooms_is_found() {
    let files = [("lib.rs", "mod stray;"), ("stray.rs", "")];
    assert_eq!(
        out_of_order(&graph_of(&files), &["room"]),
        ["files outside of the rooms: stray.rs"]
    );
}

#[test]
fn the_use_of_a_crate_that_is_not_allowed_is_found() {
    let files = [
        ("lib.rs", "use above as renamed;\npub use below::Below; mod a;"),
        ("a.rs", "use crate::renamed::Above;"),
    ];
    let found = foreign_crates(&graph_of(&files), &["below", "above"], &["below"]);
    let expected = [
        "a.rs → above: renamed::Above (line 1)",
        "lib.rs → above: above (line 1)",
    ];
    assert_eq!(
        found,
        expected.map(|edge| format!("use of a crate that is not allowed: {edge}"))
    );
}
