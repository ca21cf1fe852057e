//! The compiler's messages for mistakes, each in a file named after it.
//!
//! The compiler shortens the path of a name that is unique in all crates, so the messages depend on the features. They
//! are those of a build with all of them.

#[test]
fn every_mistake_reports_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
