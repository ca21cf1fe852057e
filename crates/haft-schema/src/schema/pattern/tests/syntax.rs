//! Faults and their positions.

use super::{MAX_SIZE, PatternFault, WorkBudget, compile};

use PatternFault as F;

fn fault(source: &str) -> PatternFault {
    match compile(source) {
        Ok(_) => panic!("{source} compiles"),
        Err(fault) => fault,
    }
}

#[test]
fn malformed_patterns_are_rejected_at_their_position() {
    let table = [
        ("é(a", F::UnclosedGroup { at: 1 }),
        ("((a)", F::UnclosedGroup { at: 0 }),
        ("a)b", F::UnopenedGroup { at: 1 }),
        ("é[a", F::UnclosedClass { at: 1 }),
        ("[a-", F::UnclosedClass { at: 0 }),
        ("[]a[^a-", F::UnclosedClass { at: 3 }),
        ("*", F::NothingToRepeat { at: 0 }),
        ("a|+", F::NothingToRepeat { at: 2 }),
        ("(?:?)", F::NothingToRepeat { at: 3 }),
        ("{2}", F::NothingToRepeat { at: 0 }),
        ("a{2}{3}", F::NothingToRepeat { at: 4 }),
        ("a**", F::NothingToRepeat { at: 2 }),
        ("^*", F::NothingToRepeat { at: 1 }),
        (r"\b+", F::NothingToRepeat { at: 2 }),
        ("(?=a)?", F::NothingToRepeat { at: 5 }),
        ("(?<!a){2}", F::NothingToRepeat { at: 6 }),
        ("a{3,2}", F::ReversedBounds { at: 1 }),
        ("[é-a]", F::ReversedRange { at: 1 }),
        (r"[\d-\x41a\x41-\x40]", F::ReversedRange { at: 9 }),
        (r"a\", F::TrailingBackslash { at: 1 }),
        (r"\x4", F::MalformedEscape { at: 0, expected: "`\\x` with two hexadecimal digits" }),
        (r"\y", F::UnknownEscape { at: 0, escape: 'y' }),
        (r"[a\B]", F::UnknownEscape { at: 2, escape: 'B' }),
        (r"[\k]", F::UnknownEscape { at: 1, escape: 'k' }),
        (r"é\p{Nope}", F::UnknownProperty { at: 1, name: "Nope".into() }),
        (r"\p{letter}", F::UnknownProperty { at: 0, name: "letter".into() }),
        (r"\p{gc=Alphabetic}", F::UnknownProperty { at: 0, name: "gc=Alphabetic".into() }),
        (r"\p{Block=Latin}", F::UnknownProperty { at: 0, name: "Block=Latin".into() }),
        (r"(a)\2", F::UnknownGroup { at: 3 }),
        (r"\99999999999", F::UnknownGroup { at: 0 }),
        (r"(?<a>x)\k<b>", F::UnknownGroup { at: 7 }),
        ("(?<1a>x)", F::MalformedName { at: 3 }),
        ("(?<>x)", F::MalformedName { at: 3 }),
        ("(?<a-b>x)", F::MalformedName { at: 3 }),
        ("(?<a>x)(?<a>y)", F::DuplicateName { at: 10 }),
    ];
    for (source, expected) in table {
        assert_eq!(fault(source), expected, "{source}");
    }
    for source in [
        r"\u12",
        r"\u{}",
        r"\u{110000}",
        r"\u{12",
        r"\x",
        r"\c1",
        r"\c",
        r"\01",
        r"[\1]",
        r"\k",
        r"\pL",
        r"\p{L",
        r"[\u{g}]",
    ] {
        assert!(matches!(fault(source), F::MalformedEscape { .. }), "{source}: {:?}", fault(source));
    }
}

#[test]
fn foreign_syntax_is_rejected_with_advice() {
    let table = [
        (r"é\A", 1, "\\A", "`^`"),
        (r"a\Z", 1, "\\Z", "`$`"),
        (r"a\z", 1, "\\z", "`$`"),
        (r"\a", 0, "\\a", "x07"),
        (r"[\h]", 1, "\\h", "[ \\t]"),
        (r"\Qa\E", 0, "\\Q", "escape each"),
        ("(?i)a", 0, "(?i", "[aA]"),
        ("a(?ims)b", 1, "(?i", "flags"),
        ("(?x:a)", 0, "(?x", "flags"),
        ("(?P<n>a)", 0, "(?P", "(?<name>...)"),
        ("(?P=n)", 0, "(?P", r"\k<name>"),
        ("(?'n'a)", 0, "(?'", "(?<name>...)"),
        ("(?#note)a", 0, "(?#", "$comment"),
        ("(?>a)", 0, "(?>", "(?:...)"),
        ("(?|a)", 0, "(?|", "(?:...)"),
        ("(?R)", 0, "(?R", "recursion"),
        ("(a)(?(1)b|c)", 3, "(?(", "alternatives"),
        ("(?", 0, "(?", "(?:...)"),
        ("a*+", 2, "+", "remove"),
        ("a++", 2, "+", "remove"),
        ("a{2}+", 4, "+", "remove"),
        ("a??+", 3, "+", "remove"),
        ("a{,5}", 1, "{,", "{0,"),
        ("[[:alpha:]]", 1, "[:", "[A-Za-z]"),
        ("[a[:^digit:]]", 2, "[:", "[A-Za-z]"),
    ];
    for (source, position, text, word) in table {
        match fault(source) {
            F::Foreign { at, found, advice } => {
                assert_eq!((at, &*found), (position, text), "{source}");
                assert!(advice.contains(word), "{source}: {advice}");
            }
            other => panic!("{source}: {other:?}"),
        }
    }
    for (source, position) in [(r"a\p{Script=Latin}", 1), (r"\P{scx=Grek}", 0), ("a(?i:b)", 1), ("(?s-i:b)", 0)] {
        assert!(matches!(fault(source), F::Unsupported { at, .. } if at == position), "{source}");
    }
}

#[test]
fn nesting_and_size_are_capped() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(compile(&nested(100)).is_ok());
    assert_eq!(fault(&nested(101)), F::TooDeep { at: 100 });
    assert!(compile(&"(?:".repeat(100_000)).is_err());

    assert!(compile(&"a".repeat(MAX_SIZE - 1)).is_ok());
    for source in [
        "a".repeat(MAX_SIZE + 1),
        "|".repeat(MAX_SIZE + 1),
        "(?:ab){10000}".into(),
        "(?:(?:(?:ab){100}){100}){100}".into(),
        "(?:(?:(?:ab){0,100}){0,100}){0,100}".into(),
        "(?:(?:(?:(?:ab){1000,}){1000,}){1000,})".into(),
        r"(?:(a)\1){5000}".into(),
        r"(a)\1b{4294967295}".into(),
        "(?:ab){4294967296}".into(),
        format!("(?:a{}){{9000}}", "()".repeat(4000)),
        format!("(?:a(?={}))*", "b".repeat(MAX_SIZE)),
    ] {
        assert_eq!(fault(&source), F::TooLarge, "{}", &source[..source.len().min(40)]);
    }
    // Loops in loops, lookarounds in loops and empty loops do not multiply the size.
    for source in [
        &format!("{}a{}", "(?:".repeat(99), "+)".repeat(99)) as &str,
        &format!(r"(b)\1{}a{}", "(?:".repeat(99), "+)".repeat(99)),
        "(?:(?:(?:){1000}){1000}){4000000000}",
        r"()\1(?:(?:(?:){1000}){1000}){4000000000}",
        "(?:(?=abcdefghijklmnopqrstuvwxyz)a){4000}",
        "^.{1,4000000000}$",
    ] {
        assert!(compile(source).is_ok(), "{source}");
    }
}

#[test]
fn compilation_is_charged_to_the_budget() {
    let mut budget = WorkBudget::for_input(0);
    let mut compiled = 0_u32;
    let fault = loop {
        match super::Pattern::compile("(?:ab){2000}", &mut budget) {
            Ok(_) => compiled += 1,
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault, F::Spent);
    assert!((10..100).contains(&compiled), "{compiled}");
    assert!(budget.is_spent());
}

#[test]
fn a_pattern_keeps_its_source_and_is_send_and_sync() {
    fn crosses<T: Send + Sync + std::fmt::Debug>(_: &T) {}
    let pattern = compile(r"^\d+$").unwrap();
    crosses(&pattern);
    assert_eq!(pattern.source(), r"^\d+$");
}

#[test]
fn faults_contain_advice() {
    assert_eq!(
        fault("(?P<year>\\d+)").to_string(),
        "`(?P` at character 0 is not ECMA-262 syntax: write `(?<name>...)` for a named group and `\\k<name>` for a reference to it"
    );
    assert_eq!(
        fault(r"a\y").to_string(),
        r"`\y` at character 1 has no meaning: remove the backslash, or write `\\` for a backslash"
    );
    let long = format!(r"\p{{{}}}", "x".repeat(10_000));
    assert!(fault(&long).to_string().len() < 300);
}
