use super::{BudgetSpent, MAX_SIZE, Pattern, PatternFault, WorkBudget};

mod hostile;
mod oracle;
mod reference;
mod semantics;
mod suite;
mod syntax;

fn compile(source: &str) -> Result<Pattern, PatternFault> {
    Pattern::compile(source, &mut WorkBudget::for_input(source.len()))
}

fn is_match(source: &str, text: &str) -> bool {
    let pattern = compile(source).unwrap_or_else(|fault| panic!("{source}: {fault}"));
    pattern
        .is_match(text, &mut WorkBudget::for_input(text.len()))
        .unwrap_or_else(|_| panic!("{source}: spent on {text:?}"))
}

/// Checks each pattern against texts that match and texts that do not.
fn check(table: &[(&str, &[&str], &[&str])]) {
    for (source, matching, others) in table {
        for text in *matching {
            assert!(is_match(source, text), "{source} must match {text:?}");
        }
        for text in *others {
            assert!(!is_match(source, text), "{source} must not match {text:?}");
        }
    }
}
