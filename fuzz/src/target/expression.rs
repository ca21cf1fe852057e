//! Conditions of rules, as files contain them: one is rejected at a position, or has the same decision for the same
//! arguments every time, whatever it costs.

use std::mem::discriminant;

use haft_registry::{ExpressionInput, MAX_EXPRESSION_LEN, RuleExpression};
use serde_json::{Value, json};

use super::{Outcome, Target};

/// The condition is followed by a line with the arguments.
pub(super) const TARGET: Target = Target {
    name: "expression",
    seeds: &[
        "args.cents <= 5000\n{\"cents\":500}",
        "args.to.startsWith('XX') || caller == 'ana' && tool != \"bank/transfer\"\n{\"to\":\"DE\"}",
        "args.l.all(a, args.l.exists(b, a + b > 0))\n{\"l\":[1,2,3]}",
        "args.l.map(x, x * 2).filter(x, x in [2, 4]).size() == 2\n{\"l\":[1,2]}",
        "args.s.matches('^(a+)+$') ? has(args.x.y) : args.s + 'b' == r'\\n'\n{\"s\":\"aaaa\",\"x\":{}}",
        "[[1,2],{'k': 1u}][0][1] == -9223372036854775808\n{}",
    ],
    run,
};

fn run(input: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(input) else { return Outcome::of(&"no text") };
    let (source, arguments) = text.rsplit_once('\n').unwrap_or((text, "{}"));
    match RuleExpression::new(source) {
        Err(error) => {
            let lines = source.lines().count().max(1);
            assert!((1..=lines + 1).contains(&error.line), "line {} of {lines}", error.line);
            assert!((1..=source.len() + 2).contains(&error.column), "column {} of {}", error.column, source.len());
            assert!(!error.to_string().is_empty());
            Outcome::of(&("rejected", discriminant(&error.fault)))
        }
        Ok(expression) => {
            assert_eq!(expression.source(), source);
            assert!(source.len() <= MAX_EXPRESSION_LEN, "a condition of {} bytes is accepted", source.len());
            let given = serde_json::from_str(arguments).unwrap_or(Value::Null);
            let usual = json!({"cents": 500, "to": "DE", "l": [1, 2, 3], "s": "aaaa", "x": {"y": null}});
            let decided = [given, usual].map(|arguments| decide(&expression, &arguments));
            Outcome::of(&decided)
        }
    }
}

/// Returns the kind of a decision.
fn decide(expression: &RuleExpression, arguments: &Value) -> impl std::hash::Hash + use<> {
    let input = ExpressionInput::new(arguments).tool("bank/transfer").caller(Some("ana"));
    let decided = expression.evaluate(&input);
    assert_eq!(expression.evaluate(&input), decided, "the same arguments have another decision");
    decided.map_err(|error| {
        assert!(!error.to_string().is_empty());
        discriminant(&error)
    })
}
