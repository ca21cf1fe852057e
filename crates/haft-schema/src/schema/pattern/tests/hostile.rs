//! Patterns and texts that are designed to be slow. All limits are on the budget, none on time.

use super::{BudgetSpent, MAX_SIZE, WorkBudget, compile};

const SMALL: usize = 36 * 1024;
const LARGE: usize = 1024 * 1024;

/// Matches a text with the budget of its length. Returns the result and the units of work that it took, rounded up to
/// a thousandth of the length.
fn measure(source: &str, text: &str) -> (Result<bool, BudgetSpent>, u64) {
    let pattern = compile(source).unwrap();
    let mut budget = WorkBudget::for_input(text.len());
    let found = pattern.is_match(text, &mut budget);
    let unit = text.len() as u64 / 1000 + 1;
    // The rest of the budget is counted by spending it.
    let left: u64 = std::iter::from_fn(|| budget.work(unit).ok()).map(|()| unit).sum();
    (found, 100_000 + 16 * text.len() as u64 - left)
}

/// Checks that no text matches and that at most `operations` steps per position are taken.
fn check_bound(source: &str, operations: u64, texts: &[String]) {
    for text in texts {
        let (found, units) = measure(source, text);
        let steps = operations * (text.len() as u64 + 1);
        let cheap = steps.min(WorkBudget::CHEAP_STEPS);
        let bound = cheap / WorkBudget::STEPS_PER_UNIT + (steps - cheap) + text.len() as u64 / 250 + 2;
        assert_eq!(found, Ok(false), "{source}");
        assert!(units <= bound, "{source} over {} bytes: {units} units, at most {bound}", text.len());
    }
}

#[test]
fn nested_quantifiers_take_linear_time() {
    let [small, large] = [SMALL, LARGE].map(|len| format!("{}!", "a".repeat(len)));
    for (source, operations) in [("^(?:(a|aa)+)+(?=b)c$", 14), ("(a*)*b", 5), ("(a+a+)+y", 7)] {
        check_bound(source, operations, &[small.clone(), large.clone()]);
    }
    for (source, operations) in
        [("^(?:a+)+$|b", 8), ("(?:(?:(?:a*)*)*)*b", 9), ("(?:a|a|a|a)+(?:a|a)*b", 20), ("(?:a?a?a?a?)*b", 11)]
    {
        check_bound(source, operations, std::slice::from_ref(&small));
    }
}

#[test]
fn repeated_options_take_linear_time() {
    let texts = [format!("{}-", "a".repeat(SMALL))];
    check_bound("(?:a?){100}a{100}b", 203, &texts);
    check_bound("^(?:a?){100}a{100}$", 204, &texts);
    check_bound("(?:a{1,30}){1,30}b", 62, &texts);
    check_bound("(?:(?:a?){10}){10}b", 202, &texts);
}

#[test]
fn counted_repetitions_take_constant_time_per_character() {
    let texts = [SMALL, LARGE].map(|len| "ab".repeat(len / 2));
    check_bound("[a-z]{1,1000}-", 3, &texts);
    check_bound("(?:a[a-z]{1,100000}|b[a-z]{9,10})-", 10, &texts);
    check_bound("^.{1,30000}$", 5, &texts);
}

#[test]
fn lookarounds_take_linear_time() {
    let texts = [SMALL, LARGE].map(|len| "a".repeat(len));
    check_bound("(?<=(?<=(?<=a+)a+)a+)b", 13, &texts);
    check_bound("(?:a(?=a*$)(?<=^a*))+b", 14, &texts);
    check_bound("(?=(?=(?=a*b)a*b)a*b)a", 15, &texts);
    check_bound("(?:(?<=a{1,1000})(?=a{1,1000})a)+b", 10, &texts);
    check_bound("(?<!b.*)(?<!c.*)(?<!d.*)b", 15, &texts);
}

#[test]
fn ordinary_patterns_stay_far_below_the_budget() {
    let word = "lorem ipsum ".repeat(LARGE / 12);
    for source in ["^[a-z ]+$", r"^\S+(?: \S*)*$", "^(?!.*--)[a-z ]*$", "ipsum$", "^.{0,2000000}$", r"\bdolor\b|@"] {
        let (found, units) = measure(source, &word);
        assert!(found.is_ok(), "{source}");
        assert!(units < word.len() as u64, "{source}: {units} units for {} bytes", word.len());
    }
    // A literal that begins the pattern is found without a step per character.
    assert!(measure("dolor", &word).1 < word.len() as u64 / 100);
}

#[test]
fn a_match_takes_at_least_one_unit() {
    assert_eq!(measure("", ""), (Ok(true), 1));
    assert_eq!(measure("^a", "b"), (Ok(false), 1));
    assert_eq!(measure(r"^(a)\1", "b"), (Ok(false), 1));
}

#[test]
fn large_programs_stop_when_the_budget_is_exhausted() {
    let source = format!("(?:{})+-", "a?".repeat(MAX_SIZE / 2 - 10));
    let (found, units) = measure(&source, &"a".repeat(SMALL / 4));
    assert_eq!(found, Err(BudgetSpent));
    assert!(units <= 100_000 + 16 * SMALL as u64 / 4);
}

#[test]
fn backreferences_stop_when_the_budget_is_exhausted() {
    for source in [r"^(?:(a|aa)+)+\1c$", r"(a*)*\1b", r"^(?=(?:(a+)+)+b)\1", r"^(?:(a?)(a?)(a?)\1)*b"] {
        assert_eq!(measure(source, &"a".repeat(SMALL)).0, Err(BudgetSpent), "{source}");
    }
    // A short text is decided within the budget.
    assert_eq!(measure(r"^(?:(a|aa)+)+\1c$", "aaaaaaaaaa").0, Ok(false));
    assert_eq!(measure(r"^(\w+) \1$", &format!("{0} {0}", "a".repeat(SMALL / 2))).0, Ok(true));
}

#[test]
fn memory_is_returned_after_a_match() {
    let all_memory = 1 << 20;
    for source in ["(?:a?){100}c", "(?=a*b)(?<=c)", "(?:a[ab]{9,1000})+c", r"^(a|b)*\1c"] {
        let pattern = compile(source).unwrap();
        let text = "aab".repeat(300);
        let mut budget = WorkBudget::for_input(0);
        assert_eq!(pattern.is_match(&text, &mut budget), Ok(false), "{source}");
        assert_eq!(budget.memory(all_memory), Ok(()), "{source}");
        assert_eq!(budget.memory(1), Err(BudgetSpent), "{source}");
    }
}

#[test]
fn a_match_stops_when_memory_is_exhausted() {
    for source in ["(?:a?){100}c", "(?=a*b)(?<=c)", "(?:a[ab]{9,1000})+c", r"^(a|b)*\1c"] {
        let pattern = compile(source).unwrap();
        let mut budget = WorkBudget::for_input(0);
        budget.memory((1 << 20) - 16).unwrap();
        assert_eq!(pattern.is_match(&"aab".repeat(300), &mut budget), Err(BudgetSpent), "{source}");
    }
}
