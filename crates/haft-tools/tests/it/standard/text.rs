//! Search, split, count and diff.

use haft_core::FailureKind;
use serde_json::{Value, json};

use super::{call, kit};

#[tokio::test]
async fn matches_have_their_position() {
    let kit = kit();
    let text = "alpha\nBeta gamma\r\n\nδelta beta\nend";
    let search = json!({"text": text, "pattern": "beta", "letter_case": "insensitive", "context_lines": 1});
    assert_eq!(
        call(&kit, "text_search", search).await.unwrap(),
        json!({"truncated": false, "matches": [
            {
                "line": 2, "column": 1, "matched": "Beta", "line_text": "Beta gamma", "before": ["alpha"], "after": [""],
            },
            {
                "line": 4, "column": 7, "matched": "beta", "line_text": "δelta beta", "before": [""], "after": ["end"],
            },
        ]})
    );
    let search = json!({"text": text, "pattern": r"(\w+) (\w+)(!)?", "syntax": "regex"});
    let found = call(&kit, "text_search", search).await.unwrap();
    assert_eq!(found["matches"][1]["groups"], json!(["δelta", "beta", null]));
}

#[tokio::test]
async fn searches_are_limited_and_say_so() {
    let kit = kit();
    for (text, pattern, syntax, matches, truncated) in [
        ("aaaa", "a", "literal", 3, true),
        ("aaa", "a", "literal", 3, false),
        ("a.a", ".", "literal", 1, false),
        ("a.a", ".", "regex", 3, false),
        ("", "x", "literal", 0, false),
        ("", "x*", "regex", 1, false),
        ("\n\n", "$", "regex", 3, false),
        ("abc", "", "literal", 0, false),
    ] {
        let search = json!({"text": text, "pattern": pattern, "syntax": syntax, "max_matches": 3});
        match call(&kit, "text_search", search).await {
            Ok(found) => {
                assert_eq!(found["matches"].as_array().unwrap().len(), matches, "{text:?} {pattern}");
                assert_eq!(found["truncated"], truncated, "{text:?} {pattern}");
            }
            Err(failed) => assert_eq!((failed.kind, pattern), (FailureKind::InputValidationError, "")),
        }
    }
    let line = "x".repeat(5_000);
    let found = call(&kit, "text_search", json!({"text": line, "pattern": "x+", "syntax": "regex"})).await.unwrap();
    let clipped = |value: &Value| value.as_str().unwrap().chars().count();
    assert_eq!((clipped(&found["matches"][0]["matched"]), clipped(&found["matches"][0]["line_text"])), (301, 301));
}

#[tokio::test]
async fn hostile_patterns_are_rejected_or_end_soon() {
    let kit = kit();
    for pattern in ["(a+)+$", "(a|aa)*b", "(.*)(.*)(.*)(.*)[^a]$", "a{0,100}a{0,100}b", "(?:a?){50}a{50}b"] {
        let search = json!({"text": "a".repeat(20_000), "pattern": pattern, "syntax": "regex"});
        assert!(call(&kit, "text_search", search).await.is_ok(), "{pattern}");
    }
    let long = "a".repeat(100_001);
    for (tool, extra) in [("text_search", "pattern"), ("text_count", "pattern"), ("text_split", "separator")] {
        let mut arguments = json!({"text": long, extra: "b"});
        arguments[if tool == "text_split" { "by" } else { "syntax" }] = json!("regex");
        assert_eq!(call(&kit, tool, arguments).await.unwrap_err().reason, "text_too_long_for_regex", "{tool}");
    }
    for (pattern, reason) in [
        (r"((a{100}){100}){100}", "pattern_too_large"),
        (r"\w{500}", "pattern_too_large"),
        ("(", "invalid_pattern"),
        (r"(a)\1", "invalid_pattern"),
        ("(?<=a)b", "invalid_pattern"),
        ("[z-a]", "invalid_pattern"),
    ] {
        for tool in ["text_search", "text_count"] {
            let failed =
                call(&kit, tool, json!({"text": "a", "pattern": pattern, "syntax": "regex"})).await.unwrap_err();
            assert_eq!((failed.kind, failed.reason.as_str()), (FailureKind::ToolFailed, reason), "{pattern}");
        }
    }
}

#[tokio::test]
async fn texts_are_split_in_every_way() {
    let kit = kit();
    for (arguments, parts) in [
        (json!({"text": "a\r\nb\n\nc", "by": "lines"}), json!(["a", "b", "", "c"])),
        (json!({"text": "a\n", "by": "lines"}), json!(["a"])),
        (json!({"text": " a  b\tc\n", "by": "words"}), json!(["a", "b", "c"])),
        (json!({"text": "a\nb\n\n\nc\n \nd", "by": "paragraphs"}), json!(["a\nb", "c", "d"])),
        (json!({"text": "a, b,,c", "by": "separator", "separator": ","}), json!(["a", " b", "", "c"])),
        (json!({"text": "a.b", "by": "separator", "separator": "."}), json!(["a", "b"])),
        (
            json!({"text": "a, b,,c", "by": "separator", "separator": ",", "trim": true, "skip_empty": true}),
            json!(["a", "b", "c"]),
        ),
        (json!({"text": "a1b22c", "by": "regex", "separator": r"\d+"}), json!(["a", "b", "c"])),
        (json!({"text": "", "by": "lines"}), json!([])),
        (json!({"text": "", "by": "separator", "separator": ","}), json!([""])),
    ] {
        let found = call(&kit, "text_split", arguments.clone()).await.unwrap();
        assert_eq!(found, json!({"parts": parts, "total": parts.as_array().unwrap().len()}), "{arguments}");
    }
    let page = json!({"text": "a b c d e", "by": "words", "first": 1, "max_parts": 2});
    assert_eq!(call(&kit, "text_split", page).await.unwrap(), json!({"parts": ["b", "c"], "total": 5}));
    let missing = json!({"text": "a", "by": "regex"});
    assert_eq!(call(&kit, "text_split", missing).await.unwrap_err().reason, "missing_separator");
    let unused = json!({"text": "a", "by": "lines", "separator": ","});
    assert_eq!(call(&kit, "text_split", unused).await.unwrap_err().reason, "unused_separator");
}

#[tokio::test]
async fn texts_are_counted() {
    let kit = kit();
    let found = call(&kit, "text_count", json!({"text": "Größe 1\nstrawberry\n", "pattern": "r"})).await.unwrap();
    assert_eq!(
        found,
        json!({
            "characters": 19, "characters_without_spaces": 16, "bytes": 21, "words": 3, "lines": 2, "occurrences": 4,
        })
    );
    let found = call(&kit, "text_count", json!({"text": "aaaa", "pattern": "aa"})).await.unwrap();
    assert_eq!(found["occurrences"], 2);
    let found = call(&kit, "text_count", json!({"text": "a".repeat(100_001), "pattern": "a"})).await.unwrap();
    assert_eq!((&found["occurrences"], &found["more_occurrences"]), (&json!(100_000), &json!(true)));
    let found = call(&kit, "text_count", json!({"text": ""})).await.unwrap();
    assert_eq!((&found["lines"], &found["words"], &found["occurrences"]), (&json!(0), &json!(0), &Value::Null));
}

#[tokio::test]
async fn differences_are_unified_diffs() {
    let kit = kit();
    let found = call(&kit, "text_diff", json!({"old": "a\nb\nc\n", "new": "a\nB\nc\nd\n", "context_lines": 1})).await;
    assert_eq!(
        found.unwrap(),
        json!({
            "equal": false, "added": 2, "removed": 1,
            "diff": "--- old\n+++ new\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n",
        })
    );
    let equal = call(&kit, "text_diff", json!({"old": "same", "new": "same"})).await.unwrap();
    assert_eq!(equal, json!({"equal": true, "added": 0, "removed": 0, "diff": ""}));
    let ends = call(&kit, "text_diff", json!({"old": "a\n", "new": "a"})).await.unwrap();
    assert!(!ends["equal"].as_bool().unwrap() && ends["diff"].as_str().unwrap().contains("No newline"));
    let many = json!({"old": "x\n".repeat(10_001), "new": "y\n".repeat(10_000)});
    assert_eq!(call(&kit, "text_diff", many).await.unwrap_err().reason, "too_many_lines");
}
