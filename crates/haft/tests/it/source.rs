//! A small language for what other documents state: each statement in our own words, in the order of its document, with
//! the test that shows it or the reason why there is none.
//!
//! The tables are checked against the sources: a test that is named must exist where it is named, a departure must be
//! in the table of `docs/decisions/departures.md`, and few statements may have no test.

mod test_index;

use std::collections::HashSet;

pub(crate) use self::test_index::TestIndex;

/// The number of statements of one document that may have no test.
const UNTESTED: usize = 10;

/// The name of the test that checks a table.
const CHECK: &str = "::every_statement_is_shown_or_has_a_reason";

/// A document as the statements that it makes.
pub(crate) struct Document {
    /// The number of the document, as the table of departures refers to it.
    pub(crate) number: &'static str,
    pub(crate) sections: &'static [Section],
    pub(crate) statements: &'static [Statement],
}

/// A section of a document.
pub(crate) enum Section {
    /// Makes statements.
    Normative(&'static str),
    /// Makes none, for this reason.
    Informative(&'static str, &'static str),
}

/// A statement of a document.
pub(crate) struct Statement {
    section: &'static str,
    text: &'static str,
    evidence: Evidence,
}

/// The place where a statement is shown, or the reason why it is not.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Evidence {
    /// A test shows it: `crate::module::test`.
    Shown(&'static str),
    /// Code that contradicts it does not compile: the name of a program in `tests/ui`.
    Mistake(&'static str),
    /// The code differs on purpose: words from the table of departures, and a test of what it does instead.
    Departs { row: &'static str, test: &'static str },
    /// Nothing shows it, for this reason.
    NotTested(&'static str),
}

pub(crate) const fn normative(section: &'static str) -> Section {
    Section::Normative(section)
}

pub(crate) const fn informative(section: &'static str, reason: &'static str) -> Section {
    Section::Informative(section, reason)
}

pub(crate) const fn says(section: &'static str, text: &'static str, evidence: Evidence) -> Statement {
    Statement { section, text, evidence }
}

pub(crate) const fn shown_by(test: &'static str) -> Evidence {
    Evidence::Shown(test)
}

pub(crate) const fn mistake(program: &'static str) -> Evidence {
    Evidence::Mistake(program)
}

pub(crate) const fn departs(row: &'static str, test: &'static str) -> Evidence {
    Evidence::Departs { row, test }
}

pub(crate) const fn not_tested(reason: &'static str) -> Evidence {
    Evidence::NotTested(reason)
}

impl Evidence {
    /// Returns the reason that this is no evidence, if it is none. `document` is the one that a departure is from.
    pub(crate) fn fault(self, index: &mut TestIndex, document: &str) -> Option<String> {
        match self {
            Self::Shown(test) => index.fault_of_test(test),
            Self::Mistake(program) => index.fault_of_mistake(program),
            Self::Departs { row, test } => {
                index.fault_of_departure(document, row).or_else(|| index.fault_of_test(test))
            }
            Self::NotTested(reason) => fault_of_reason(reason),
        }
    }

    /// Returns the test that it names.
    fn test(self) -> Option<&'static str> {
        match self {
            Self::Shown(test) | Self::Departs { test, .. } => Some(test),
            Self::Mistake(_) | Self::NotTested(_) => None,
        }
    }

    fn is_missing(self) -> bool {
        matches!(self, Self::NotTested(_))
    }
}

impl Section {
    fn name(&self) -> &'static str {
        match self {
            Self::Normative(name) | Self::Informative(name, _) => name,
        }
    }
}

impl Document {
    /// Checks the whole table and reports every fault at once.
    pub(crate) fn check(&self) {
        let mut index = TestIndex::default();
        let mut faults = self.order_faults();
        for statement in self.statements {
            if let Some(fault) = statement.evidence.fault(&mut index, self.number) {
                faults.push(format!("{}, \"{}\": {fault}", statement.section, statement.text));
            }
        }
        for test in index.tests_of(&format!("haft::source_{}", self.number)) {
            let is_named = |statement: &Statement| statement.evidence.test() == Some(test.as_str());
            if !test.ends_with(CHECK) && !self.statements.iter().any(is_named) {
                faults.push(format!("no statement names the test `{test}`"));
            }
        }
        let untested = self.statements.iter().filter(|statement| statement.evidence.is_missing()).count();
        if untested > UNTESTED {
            faults.push(format!("{untested} statements have no test, {UNTESTED} may"));
        }
        assert!(faults.is_empty(), "document {}:\n{}", self.number, faults.join("\n"));
    }

    /// Returns the faults of sections: in another order, unknown, or without a statement where there should be one.
    fn order_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut last = 0;
        let mut texts = HashSet::new();
        for statement in self.statements {
            let position = self.sections.iter().position(|section| section.name() == statement.section);
            match position {
                None => faults.push(format!("\"{}\" is in the unknown section {}", statement.text, statement.section)),
                Some(position) if position < last => {
                    faults.push(format!("\"{}\" is out of order", statement.text));
                }
                Some(position) => last = position,
            }
            if !texts.insert((statement.section, statement.text)) {
                faults.push(format!("\"{}\" is there twice", statement.text));
            }
        }
        for section in self.sections {
            let count = self.statements.iter().filter(|statement| statement.section == section.name()).count();
            match section {
                Section::Normative(name) if count == 0 => faults.push(format!("section {name} has no statement")),
                Section::Informative(name, _) if count > 0 => faults.push(format!("section {name} has statements")),
                Section::Informative(_, reason) => faults.extend(fault_of_reason(reason)),
                Section::Normative(_) => {}
            }
        }
        faults
    }
}

/// Returns a fault if a reason says nothing.
pub(crate) fn fault_of_reason(reason: &str) -> Option<String> {
    (reason.split_whitespace().count() < 3).then(|| format!("\"{reason}\" is no reason"))
}

/// A document with a fault of each kind.
const BAD: Document = Document {
    number: "000",
    sections: &[normative("1"), normative("2"), informative("3", "nothing is stated")],
    statements: &[
        says("2", "a", not_tested("for this reason")),
        says("1", "b", not_tested("for this reason")),
        says("2", "a", not_tested("for this reason")),
        says("3", "c", not_tested("for this reason")),
        says("4", "d", not_tested("for this reason")),
    ],
};

#[test]
fn a_fault_of_a_table_is_found() {
    let faults = |evidence: Evidence| evidence.fault(&mut TestIndex::default(), "000").unwrap_or_default();
    assert_eq!(faults(shown_by("haft::source::a_fault_of_a_table_is_found")), "");
    assert!(faults(shown_by("haft::source::there_is_no_such_test")).contains("no test of that name"));
    assert!(faults(shown_by("haft::source::says")).contains("no test of that name"), "a function that is no test");
    assert!(faults(shown_by("haft::nowhere::test")).contains("no file"));
    assert_eq!(TestIndex::default().tests_of("haft::source"), ["haft::source::a_fault_of_a_table_is_found"]);
    assert_eq!(faults(mistake("duplicate_name")), "");
    assert!(faults(mistake("no_such_mistake")).contains("no program"));
    let test = "haft-executor::dynamic_tools::without_settings_any_value_is_accepted_and_returned";
    assert_eq!(faults(departs("omitted parameters mean `Void`", test)), "");
    assert!(faults(departs("tools are green", test)).contains("no departure"));
    assert!(faults(departs("`strict` defaults to true", test)).contains("no departure"), "of another document");
    assert!(faults(not_tested("")).contains("no reason"));
    let found = BAD.order_faults().join("\n");
    for part in ["\"b\" is out of order", "\"a\" is there twice", "section 3 has statements", "unknown section 4"] {
        assert!(found.contains(part), "{part}: {found}");
    }
}
