//! Mistakes, each in a file named after it: what the compiler says to them.

#[test]
fn every_mistake_says_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
