//! Document 004: the architecture of the tool service.
//!
//! Its statements are shown by the tests of `haft-registry` and `haft-tools`, above all by the `source_004` of the latter.

mod statement;

use crate::source::{Document, Section, informative, normative};

const SECTIONS: &[Section] = &[
    informative("1 overview", "it names what the other sections define"),
    normative("2 data structures"),
    normative("3 interfaces"),
    normative("4 errors"),
    normative("5 registration"),
    normative("6 execution"),
    normative("7 patterns"),
];

#[test]
fn every_statement_is_shown_or_has_a_reason() {
    Document { number: "004", sections: SECTIONS, statements: statement::STATEMENTS }.check();
}
