//! Patterns over full names.

use haft_registry::{FullName, MAX_PATTERN_LEN, ToolPattern, ToolPatternFault};

use super::name;

fn matches(pattern: &str, full_name: &str) -> bool {
    pattern.parse::<ToolPattern>().unwrap().matches(&name(full_name))
}

const NAMES: [&str; 10] = [
    "add",
    "delete_all",
    "math/add",
    "math/sub",
    "math/a",
    "Math/add",
    "github/delete_repo",
    "github/list",
    "acme/math/add",
    "acme/github/delete_repo",
];

#[test]
fn patterns_match_exactly_these_names() {
    let table: [(&str, &[&str]); 30] = [
        ("*", &NAMES),
        ("**", &NAMES),
        ("**/**", &NAMES),
        ("**/*", &NAMES),
        ("/*", &["add", "delete_all"]),
        ("/add", &["add"]),
        ("add", &["add"]),
        ("ad", &[]),
        ("a*", &["add"]),
        ("*l*_*l*", &["delete_all"]),
        ("math/*", &["math/add", "math/sub", "math/a"]),
        ("math/**", &["math/add", "math/sub", "math/a"]),
        ("math/add", &["math/add"]),
        ("math/a*d", &["math/add"]),
        ("math/a*a", &[]),
        ("math/*a", &["math/a"]),
        ("math/*a*", &["math/add", "math/a"]),
        ("Math/*", &["Math/add"]),
        ("*ath/add", &["math/add", "Math/add"]),
        ("**/add", &["add", "math/add", "Math/add", "acme/math/add"]),
        ("*/add", &["math/add", "Math/add"]),
        ("*/*/add", &["acme/math/add"]),
        ("*/*", &["math/add", "math/sub", "math/a", "Math/add", "github/delete_repo", "github/list"]),
        ("github/delete_*", &["github/delete_repo"]),
        ("**/delete_*", &["delete_all", "github/delete_repo", "acme/github/delete_repo"]),
        ("acme/**", &["acme/math/add", "acme/github/delete_repo"]),
        ("acme/*", &[]),
        ("acme/**/add", &["acme/math/add"]),
        ("**/github/**", &["github/delete_repo", "github/list", "acme/github/delete_repo"]),
        ("**/math/**/add", &["math/add", "acme/math/add"]),
    ];
    for (pattern, expected) in table {
        let matched: Vec<&str> = NAMES.into_iter().filter(|full_name| matches(pattern, full_name)).collect();
        assert_eq!(matched, expected, "{pattern}");
    }
}

#[test]
fn invalid_patterns_are_rejected_at_their_position() {
    use ToolPatternFault::{
        Character, EmptySegment, LeadingSlash, PartialDoubleStar, SegmentTooLong, Start, TooLong, TooManySegments,
    };
    let long_segment = "x".repeat(65);
    let long = "*/".repeat(MAX_PATTERN_LEN);
    let table: [(&str, usize, ToolPatternFault); 24] = [
        ("", 0, EmptySegment),
        ("/", 1, EmptySegment),
        ("//", 0, LeadingSlash),
        ("math/", 5, EmptySegment),
        ("math//add", 5, EmptySegment),
        ("..", 0, Start),
        ("../add", 0, Start),
        ("math/../add", 5, Start),
        ("math/./add", 5, Start),
        ("math/-add", 5, Start),
        ("/math/*", 0, LeadingSlash),
        ("/**", 0, LeadingSlash),
        ("a**", 1, PartialDoubleStar),
        ("math/***", 5, PartialDoubleStar),
        ("a/b/c/d", 6, TooManySegments),
        ("*/*/*/*", 6, TooManySegments),
        ("math/a dd", 6, Character(' ')),
        ("math/add\n", 8, Character('\n')),
        ("math/add?", 8, Character('?')),
        ("m\u{430}th/*", 1, Character('\u{430}')),
        ("\u{ff0a}", 0, Character('\u{ff0a}')),
        ("math\u{2215}add", 4, Character('\u{2215}')),
        (&long_segment, 0, SegmentTooLong),
        (&long, MAX_PATTERN_LEN, TooLong),
    ];
    for (pattern, at, fault) in table {
        let error = pattern.parse::<ToolPattern>().unwrap_err();
        assert_eq!((error.at, error.fault), (at, fault), "{pattern}");
        assert!(error.pattern.len() <= 80 * 4);
    }
}

#[test]
fn a_pattern_without_stars_matches_the_name_that_it_spells_and_no_other() {
    for full_name in NAMES {
        let matched: Vec<&str> = NAMES.into_iter().filter(|other| matches(full_name, other)).collect();
        assert_eq!(matched, [full_name]);
    }
}

#[test]
fn the_worst_pattern_is_matched_at_once() {
    let pattern = format!("{}b", "a*".repeat(60));
    let full_name = format!("{0}/{0}/{0}", "a".repeat(64));
    let many = format!("{}b", "**/".repeat(80));
    for _ in 0..1000 {
        assert!(!matches(&pattern, &full_name) && !matches(&many, &full_name));
    }
}

#[test]
fn a_pattern_is_read_from_a_text_and_written_as_it_was() {
    let pattern: ToolPattern = serde_json::from_str("\"math/*\"").unwrap();
    assert_eq!(serde_json::to_string(&pattern).unwrap(), "\"math/*\"");
    let error = serde_json::from_str::<ToolPattern>("\"math//*\"").unwrap_err();
    assert!(error.to_string().contains("at byte 5"), "{error}");
}

/// Names that could evade a rule can't exist.
#[test]
fn adversarial_names_are_no_names() {
    for invalid in
        ["", "/", "..", "math/..", "math/../bank/transfer", "bank//transfer", "b\u{430}nk/transfer", "bank/tr*"]
    {
        assert!(invalid.parse::<FullName>().is_err(), "{invalid}");
    }
}
