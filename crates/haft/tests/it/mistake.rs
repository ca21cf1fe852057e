//! The compiler's messages for mistakes, each in a file named after it.

#[test]
fn every_mistake_reports_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
