//! Expressions over arguments, and rules with them.

use std::thread;

use haft_core::ToolCall;
use haft_executor::{RunOptions, Toolkit};
use haft_registry::{
    CallerGroups, EvaluationError, ExpressionFault, ExpressionInput, MAX_EXPRESSION_LEN, PermissionSettings,
    RuleExpression, RuleSettings,
};
use serde_json::{Value, json};

use super::{any, built, denied_by, name, outcome, run_with, text};

fn evaluate(source: &str, arguments: &Value) -> Result<bool, EvaluationError> {
    let expression = RuleExpression::new(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    let groups = CallerGroups::new(["staff", "managers"]);
    let input = ExpressionInput::new(arguments).tool("bank/transfer").caller(Some("ana"));
    expression.evaluate(&input.groups(Some(&groups)))
}

fn fault(source: &str) -> ExpressionFault {
    RuleExpression::new(source).unwrap_err().fault
}

#[test]
fn expressions_have_the_values_of_the_arguments() {
    let arguments = json!({
        "cents": 500, "rate": 1.5, "big": u64::MAX, "negative": -3, "to": "DE89", "note": null, "ok": true,
        "tags": ["a", "b"], "items": [{"price": 3}, {"price": 4}], "nested": {"deep": {"er": [1]}}, "odd key": 1,
    });
    let table = [
        ("args.cents <= 10000", true),
        ("args.cents == 500.0", true),
        ("args.cents + 1 == 501", true),
        ("args.cents * 2 - 1 > 998 && args.cents / 7 == 71 && args.cents % 7 == 3", true),
        ("args.rate > 1", true),
        ("args.big > 10000", true),
        ("args.big > -1", true),
        ("args.negative < 0 && -args.negative == 3", true),
        ("args.to.startsWith('DE') && args.to.endsWith('89') && args.to.contains('E8')", true),
        ("args.to.matches('^DE[0-9]+$')", true),
        ("matches(args.to, '^[a-z]+$')", false),
        ("args.to in ['DE89', 'FR10']", true),
        ("'a' in args.tags && !('c' in args.tags)", true),
        ("'to' in args", true),
        ("has(args.to) && !has(args.from)", true),
        ("args.note == null", true),
        ("args.ok", true),
        ("args.ok ? args.cents > 1 : false", true),
        ("size(args.tags) == 2 && args.tags.size() == 2 && size(args.to) == 4", true),
        ("args.items.all(i, i.price < 5) && args.items.exists(i, i.price == 4)", true),
        ("args.items.exists_one(i, i.price > 3)", true),
        ("args.items.map(i, i.price) == [3, 4] && args.items.filter(i, i.price > 3).size() == 1", true),
        ("args.nested.deep.er[0] == 1 && args['odd key'] == 1", true),
        ("args.nested.all(k, k == 'deep')", true),
        ("tool == 'bank/transfer' && tool.startsWith('bank/')", true),
        ("caller == 'ana' && caller != null", true),
        ("'managers' in groups && !('admins' in groups) && size(groups) == 2", true),
        ("groups.exists(group, group.startsWith('man')) && groups[0] == 'staff'", true),
        ("type(args.cents) == int && type(args.to) == string", true),
        ("string(args.cents) == '500' && int('7') == 7 && double('1.5') == args.rate", true),
        ("has(args.from) || args.cents > 1", true),
        ("args.from == 'x' || args.cents > 1", true),
        ("args.cents > 1000 && args.from == 'x'", false),
        ("true", true),
    ];
    for (source, expected) in table {
        assert_eq!(evaluate(source, &arguments), Ok(expected), "{source}");
    }
}

#[test]
fn failures_are_errors_without_values() {
    let arguments = json!({"secret": "hunter2", "n": 5, "list": ["hunter2"], "max": i64::MAX, "min": i64::MIN});
    let table = [
        "args.missing > 1",
        "args.secret > 1",
        "args.secret + 1 == 2",
        "args.n",
        "args.secret",
        "args.n / 0 == 1",
        "args.n % 0 == 1",
        "args.max + 1 > 0",
        "args.min - 1 < 0",
        "args.max * 2 > 0",
        "-args.min > 0",
        "args.min / -1 > 0",
        "args.min % -1 == 0",
        "args.list[5] == 'x'",
        "args.list[-1] == 'x'",
        "args.n.startsWith('x')",
        "args.secret.all(c, true)",
        "args.n.matches('5')",
        "args.matches('5')",
        "args.list.matches('5')",
        "matches(args.list, '5')",
        "int(args.secret) == 1",
        "args.list.all(x, x > 1)",
        "{'a': 1, 'a': 2}.size() == 1",
        "args.secret ? true : false",
        "!args.secret",
        "{'a': 1}[args.secret] == 1",
        "{'a': {}}.a[args.list[0]] == 1",
    ];
    for source in table {
        match evaluate(source, &arguments) {
            Ok(result) => panic!("{source}: {result}"),
            Err(EvaluationError::Panicked) => panic!("{source} panicked"),
            Err(error) => assert!(!format!("{error} {error:?}").contains("hunter2"), "{source}: {error}"),
        }
    }
}

#[test]
fn operands_of_other_types_are_reported_by_their_types() {
    let arguments = json!({"secret": "hunter2", "n": 5, "list": ["hunter2"]});
    let table = [
        ("args.n.matches('5')", "a value is not of type string"),
        ("args.matches('5')", "a value is not of type string"),
        ("args.list.matches('5')", "a value is not of type string"),
        ("args.secret > 1", "`>` does not accept operands of the types string, int"),
        ("1 in args.n", "`in` does not accept operands of the types int, int"),
        ("args.n[0] == 1", "`[]` does not accept operands of the types int, int"),
        ("!args.n", "`!` does not accept operands of the types int"),
        ("-args.secret == 1", "`-` does not accept operands of the types string"),
        ("args.n.startsWith('x')", "`startsWith` does not accept operands of the types int, string"),
        ("args.n ? true : false", "a value is of type int, not bool"),
        ("args.n.all(x, true)", "a value is of type int, not iterable"),
    ];
    for (source, expected) in table {
        assert_eq!(evaluate(source, &arguments), Err(EvaluationError::Type(expected.to_owned())), "{source}");
    }
}

#[test]
fn what_does_not_exist_is_rejected_when_it_is_written() {
    let unknown = |source: &str| RuleExpression::new(source).unwrap_err().to_string();
    let table = [
        ("arg.x > 1", "no variable `arg`; is it `args`?"),
        ("args.x > limit", "no variable `limit`"),
        ("args.x.all(i, j > 1)", "no variable `j`"),
        ("args.l.all(i, true) && i > 1", "no variable `i`"),
        ("__result__ > 1", "no variable `__result__`"),
        ("tool.name == 'x'", "`tool` is a text and has no members"),
        ("has(caller.id) && args.x > 1", "`caller` is a text and has no members"),
        ("args.to.startswith('x')", "no function `.startswith` with 1 arguments; is it `startsWith`?"),
        ("startsWith(args.to, 'x')", "no function `startsWith` with 2 arguments"),
        ("len(args.to) > 1", "no function `len` with 1 arguments"),
        ("args.to.contains('a', 'b')", "no function `.contains` with 2 arguments"),
        ("timestamp('2020-01-01T00:00:00Z') == null", "no function `timestamp`"),
        ("optional.of(args.x) == null", "no function `.of`"),
        ("args.?x == 1", "unsupported syntax"),
        ("Point{x: 1} == null", "a message can't be used in a rule"),
        ("args.to.matches(args.pattern)", "must be a literal"),
        ("args.to.matches('(')", "is invalid or too large"),
        ("args.l.all(args, true)", "can't be named `args`"),
        ("args.l.all(int, true)", "can't be named `int`"),
        ("args.x >", "line 1, column"),
        ("", "line 1, column 1"),
        ("1 + 1", "the result is a number, a text or a list"),
        ("'text'", "the result is a text"),
        ("tool", "the result is a text"),
        ("args.x = 1", "line 1, column"),
        ("args.x; true", "line 1, column"),
    ];
    for (source, expected) in table {
        let error = unknown(source);
        assert!(error.contains(expected), "{source}: {error}");
    }
    let error = RuleExpression::new("args.x == 1 &&\n  arg.y == 2").unwrap_err();
    assert_eq!((error.line, error.column), (2, 3));
}

/// Every text with the permitted length is parsed or rejected, on any stack, and soon.
#[test]
fn syntax_errors_are_in_plain_words() {
    let table = [
        ("", (1, 1), "the end of the expression is not expected here"),
        ("args.x >", (1, 9), "the end of the expression is not expected here"),
        ("args.x > )", (1, 10), "`)` is not expected here"),
        ("args.x 1", (1, 8), "`1` is not expected here"),
        ("(args.x > 1", (1, 12), "`)` is missing before the end of the expression"),
        ("args.l[1", (1, 9), "`]` is missing before the end of the expression"),
        ("args.x ==\n== 2", (2, 1), "`==` is not expected here"),
        ("args.", (1, 6), "what follows `.` is not expected"),
        ("args.s == 'open", (1, 11), "the text has no closing quote"),
        ("args.x # 2", (1, 8), "`#` is no part of the language"),
        ("args.x & 2", (1, 8), "`&` is no part of the language; write `&&`"),
        ("args.x = 1", (1, 8), "`=` is no part of the language; write `==`"),
        ("args.x and args.y", (1, 8), "`and` is not expected here; write `&&`"),
        ("args.x or args.y", (1, 8), "`or` is not expected here; write `||`"),
    ];
    for (source, place, expected) in table {
        let error = RuleExpression::new(source).unwrap_err();
        assert_eq!((error.line, error.column), place, "{source}");
        assert_eq!(error.fault, ExpressionFault::Syntax(expected.to_owned()), "{source}");
    }
}

#[test]
fn deep_and_long_texts_are_rejected() {
    let deep = |open: &str, close: &str, times: usize| format!("{}true{}", open.repeat(times), close.repeat(times));
    let texts = [
        deep("(", ")", 10_000),
        deep("(", ")", 2_000),
        deep("(", ")", 45),
        deep("[", "]", 2_000),
        deep("{1: ", "}", 800),
        deep("size(", ")", 600),
        "(".repeat(MAX_EXPRESSION_LEN),
        "[".repeat(MAX_EXPRESSION_LEN),
        format!("args{}", ".x".repeat(2_000)),
        format!("args{}", "[0]".repeat(1_300)),
        format!("1{}", " + 1".repeat(1_000)),
        format!("'(' == r'\\' || {}", deep("(", ")", 2_000)),
        format!("true{}", " ? true : true".repeat(280)),
        format!("true{}", " ? (true".repeat(500)),
        format!("args{}", ".map(x, x)".repeat(400)),
        "args.x == 1 ".repeat(1_000),
        "\u{0}".repeat(4_000),
        "'".repeat(4_095),
        "`".repeat(4_000),
        "\\".repeat(4_000),
    ];
    for source in texts {
        let short: String = source.chars().take(20).collect();
        // The stack of a test thread is small; that of this one is smaller.
        let small = thread::Builder::new().stack_size(256 << 10).spawn(move || RuleExpression::new(&source).is_err());
        assert!(small.unwrap().join().unwrap(), "{short}");
    }
    assert_eq!(fault(&"(".repeat(10_000)), ExpressionFault::TooLong);
    assert_eq!(fault(&"(".repeat(100)), ExpressionFault::TooDeep);
}

/// Long, and still harmless.
#[test]
fn long_flat_expressions_are_accepted() {
    let many = (0..60).map(|index| format!("args.to == 'country{index}'")).collect::<Vec<_>>().join(" || ");
    assert_eq!(evaluate(&many, &json!({"to": "country59"})), Ok(true));
    let listed = format!("args.to in [{}]", (0..200).map(|index| format!("'c{index}'")).collect::<Vec<_>>().join(", "));
    assert_eq!(evaluate(&listed, &json!({"to": "c199"})), Ok(true));
    assert_eq!(evaluate(&format!("{}args.x{}", "(".repeat(20), ")".repeat(20)), &json!({"x": true})), Ok(true));
    assert_eq!(evaluate("args.s == '(((((((((((((((((((((((((((((((((((((((((((('", &json!({"s": ""})), Ok(false));
}

/// Expressions with every depth are evaluated on a worker thread's stack, and less, without optimisation.
#[test]
fn expressions_of_any_depth_need_little_stack() {
    let mut deep = json!(1);
    for _ in 0..60 {
        deep = json!([deep]);
    }
    let arguments = json!({"x": 1, "l": [1], "deep": deep});
    let mut depths: Vec<String> = (1..36).map(|terms| format!("args.x{} > 0", " + 1".repeat(terms))).collect();
    depths.extend((1..30).map(|loops| format!("args.l{}.size() == 1", ".map(x, x)".repeat(loops))));
    depths.extend((1..18).map(|calls| format!("{}args.l{} == 1", "size([".repeat(calls), "])".repeat(calls))));
    depths.push("args.deep == args.deep && [args.deep].map(x, x).size() == 1".to_owned());
    for source in depths {
        let arguments = arguments.clone();
        let evaluate = move || evaluate(&source, &arguments).unwrap_or_else(|error| panic!("{source}: {error}"));
        let evaluated = thread::Builder::new().stack_size(1 << 20).spawn(evaluate);
        assert!(evaluated.unwrap().join().unwrap());
    }
}

#[test]
fn expressions_that_explode_are_not_started() {
    let numbers: Vec<u64> = (0..1_000).collect();
    let arguments = json!({"l": numbers, "s": "x".repeat(1_000), "x": 1});
    let doubling = |start: &str, times: usize| format!("[{start}]{}[0] == 'x'", ".map(v, v + v)".repeat(times));
    let table = [
        "args.l.all(a, args.l.all(b, a < 2000))".to_owned(),
        "args.l.all(a, args.l.all(b, args.l.all(c, a + b + c >= 0)))".to_owned(),
        "args.l.exists(a, args.l.exists(b, args.l.exists(c, args.l.exists(d, a + b + c + d < 0))))".to_owned(),
        "args.l.map(a, args.l.map(b, args.l)).size() > 0".to_owned(),
        "args.l.map(a, args.l).map(b, b.map(c, b)).size() > 0".to_owned(),
        "args.l.filter(a, args.l.filter(b, b in args.l).size() > 0).size() > 0".to_owned(),
        "args.l.all(a, a in args.l && args.l == args.l)".to_owned(),
        "args.l.map(a, args.s + args.s + args.s).size() > 0 && args.l.all(b, args.l.map(c, args.s).size() > 0)".to_owned(),
        "args.l.all(a, args.s.contains('y') || args.s.contains('z') || args.s.contains('w') || args.s.contains('v') || args.l == [a])".to_owned(),
        doubling("args.s", 20),
        doubling("'x'", 25),
    ];
    for source in table {
        let error = evaluate(&source, &arguments).unwrap_err();
        assert!(matches!(error, EvaluationError::TooCostly { .. }), "{source}: {error}");
    }
    // Nothing of the arguments is needed for this one.
    let constant = format!("[[1,2,3,4,5,6,7,8,9]]{}.size() > 0", ".map(v, v + v)".repeat(20));
    assert!(evaluate(&constant, &json!({})).is_err());
    assert_eq!(
        fault("args.a.all(a, args.a.all(b, args.a.all(c, args.a.all(d, args.a.all(e, true)))))"),
        ExpressionFault::TooManyLoops
    );
}

/// The estimate follows the sizes level by level, so that plain rules work for large arguments.
#[test]
fn plain_rules_work_for_large_arguments() {
    let items: Vec<Value> = (0..2_000).map(|index| json!({"price": index, "name": "n".repeat(20)})).collect();
    let arguments = json!({"items": items, "content": "x".repeat(1 << 20), "path": "/tmp/x", "limit": 2000});
    for (source, expected) in [
        ("args.path.startsWith('/tmp/')", true),
        ("args.content.contains('secret')", false),
        ("size(args.content) <= 2000000", true),
        ("args.items.all(item, item.price < 2000)", true),
        ("args.items.all(item, item.price < args.limit)", true),
        ("args.items.all(item, item.name.contains(args.path))", false),
        ("args.items.size() <= 100", false),
    ] {
        assert_eq!(evaluate(source, &arguments), Ok(expected), "{source}");
    }
}

#[test]
fn input_of_hostile_size_is_not_read() {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let wide: Vec<u64> = (0..200_000).collect();
    let arguments = json!({"deep": deep, "wide": wide, "x": 1});
    assert_eq!(evaluate("args.x == 1", &arguments), Ok(true), "what is not read does not matter");
    assert_eq!(evaluate("size(args.wide) > 1", &arguments), Err(EvaluationError::InputTooLarge));
    assert_eq!(evaluate("size(args.deep) > 1", &arguments), Err(EvaluationError::InputTooDeep));
    assert_eq!(evaluate("'x' in args", &arguments), Err(EvaluationError::InputTooDeep));
}

#[test]
fn patterns_of_hostile_size_are_rejected_or_bounded() {
    for pattern in [
        "(a{1000}){1000}",
        "((a{100}){100}){100}",
        "(((((((((((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))))))))))",
        "\\\\pL{500}",
    ] {
        let error = RuleExpression::new(&format!("args.s.matches('{pattern}')")).unwrap_err();
        assert!(matches!(error.fault, ExpressionFault::InvalidPattern(_)), "{pattern}: {error}");
    }
    let many = (0..17).map(|index| format!("args.s.matches('{index}')")).collect::<Vec<_>>().join(" || ");
    assert_eq!(fault(&many), ExpressionFault::TooManyPatterns);
    let bomb = json!({"s": "a".repeat(5_000)});
    assert_eq!(evaluate("args.s.matches('^(a+)+$')", &bomb), Ok(true));
    assert_eq!(evaluate("args.s.matches('^(a|aa)+b$')", &bomb), Ok(false));
    assert_eq!(evaluate("args.s.matches('^\\\\w+$')", &json!({"s": "word"})), Ok(true));
    let huge = json!({"s": "a".repeat(1 << 20)});
    assert!(matches!(evaluate("args.s.matches('^[ab]{200}$')", &huge), Err(EvaluationError::TooCostly { .. })));
}

/// An expression close to the limit is evaluated.
#[test]
fn the_most_costly_expressions_are_evaluated() {
    let numbers: Vec<u64> = (0..100).collect();
    let arguments =
        json!({"l": numbers, "s": "x".repeat(1_000_000), "o": (0..300).map(|n| json!({"a": n})).collect::<Vec<_>>()});
    for source in [
        "args.l.all(a, args.l.all(b, a >= 0))",
        "args.o.map(x, x).map(x, x).map(x, x).map(x, x).filter(x, x.a >= 0).size() == 300",
        "args.s + 'x' != args.s",
        "args.l.all(a, a in args.l)",
    ] {
        assert_eq!(evaluate(source, &arguments), Ok(true), "{source}");
    }
}

fn transfers() -> PermissionSettings {
    PermissionSettings::new()
        .allow(RuleSettings::tools("bank/transfer").when("args.cents <= 10000").named("small-transfers"))
        .allow(RuleSettings::tools("bank/transfer").when("caller == 'boss'").named("boss"))
        .deny(RuleSettings::tools("bank/*").when("args.to.startsWith('XX')").named("embargo"))
        .allow("math/*")
        .deny(RuleSettings::tools("math/div").when("args.by == 0").named("no-zero"))
}

/// The detail of a denial by the default rule, because no condition is met.
const UNMET: &str = ": the arguments meet no condition of `small-transfers`, `boss`, which could allow the call";

#[tokio::test]
async fn rules_with_expressions_decide_by_arguments_and_name_themselves() {
    let permissions = built(transfers());
    let table = [
        ("bank/transfer", r#"{"cents": 10000, "to": "DE"}"#, "ok".to_owned()),
        ("bank/transfer", r#"{"cents": 10001, "to": "DE"}"#, denied_by("default") + UNMET),
        ("bank/transfer", r#"{"cents": 1, "to": "XX"}"#, denied_by("embargo")),
        (
            "bank/transfer",
            r#"{"cents": 1}"#,
            denied_by("embargo") + ": there is no `to`; use `has(…)` if it is optional",
        ),
        (
            "bank/transfer",
            r#"{"to": "DE"}"#,
            denied_by("default")
                + ": the arguments don't meet the condition of `boss`, which could allow the call; `small-transfers` can't be evaluated: there is no `cents`; use `has(…)` if it is optional",
        ),
        ("bank/close", r#"{"to": "DE"}"#, denied_by("default")),
        ("math/div", r#"{"by": 1}"#, "ok".to_owned()),
        ("math/div", r#"{"by": 0}"#, denied_by("no-zero")),
        ("math/div", r#"{"by": 0.0}"#, denied_by("no-zero")),
        ("math/div", r#"{"by": -0.0}"#, denied_by("no-zero")),
        ("math/add", "{}", "ok".to_owned()),
    ];
    for (full_name, arguments, expected) in table {
        assert_eq!(outcome(&permissions, full_name, arguments).await, expected, "{full_name} {arguments}");
    }
    let tool = any();
    let options = RunOptions::new().permit(permissions.permit_for(&name("bank/transfer"), &tool)).caller("boss");
    let result = run_with(tool, r#"{"cents": 99999, "to": "DE"}"#, options).await;
    assert_eq!(text(&result), "ok");
}

/// Integers beyond 64 bits have no exact value here, so nothing is decided by a rounded one.
#[tokio::test]
async fn integers_beyond_64_bits_are_denied() {
    let huge = outcome(&built(transfers()), "math/div", r#"{"by": 340282366920938463463374607431768211456}"#).await;
    assert!(huge.starts_with("permission_denied") || huge.starts_with("input_validation_error"), "{huge}");
}

#[tokio::test]
async fn rules_that_explode_deny_whatever_they_would_decide() {
    let explosion = "args.l.all(a, args.l.all(b, args.l.all(c, true)))";
    let arguments = json!({"l": (0..500).collect::<Vec<u32>>()}).to_string();
    let allowing = built(PermissionSettings::new().allow(RuleSettings::tools("*").when(explosion).named("slow")));
    let denying = built(
        PermissionSettings::new()
            .allow("*")
            .deny(RuleSettings::tools("*").when(format!("!({explosion})")).named("slow")),
    );
    for (permissions, rule) in [(allowing, "default"), (denying, "slow")] {
        let denied = outcome(&permissions, "x/y", &arguments).await;
        assert!(
            denied.starts_with(&denied_by(rule)) && denied.contains("the expression could take too long"),
            "{denied}"
        );
        assert_eq!(outcome(&permissions, "x/y", r#"{"l": [1]}"#).await, "ok");
    }
}

/// The arguments of calls that the provider executes are never checked.
#[tokio::test]
async fn calls_that_the_provider_executes_are_denied_where_arguments_decide() {
    let tool = any();
    let kit: Toolkit = [tool.clone()].into_iter().collect();
    let mut call = ToolCall::new("c1", "any", r#"{"by": 1}"#);
    call.provider_executed = true;
    let permit = built(transfers()).permit_for(&name("math/div"), &tool);
    let results = kit.run_with([call], RunOptions::new().permit(permit)).collect_results().await;
    assert_eq!(text(&results[0]), denied_by("no-zero"));
}

/// A tool that some arguments are permitted for is not hidden.
#[tokio::test]
async fn tools_are_visible_if_any_arguments_are_permitted() {
    let permissions = built(transfers().hide_denied());
    let small = r#"{"cents": 1, "to": "DE"}"#;
    assert_eq!(outcome(&permissions, "bank/transfer", small).await, "ok");
    assert_eq!(outcome(&permissions, "bank/close", small).await, "unknown_tool");
    let large = outcome(&permissions, "bank/transfer", r#"{"cents": 99999, "to": "DE"}"#).await;
    assert_eq!(large, denied_by("default") + UNMET);
}

#[tokio::test]
async fn expressions_of_scopes_hold_too() {
    let inner = built(PermissionSettings::new().allow("*"));
    let scope = built(transfers());
    let large = scope.scope(outcome(&inner, "bank/transfer", r#"{"cents": 99999, "to": "DE"}"#)).await;
    assert_eq!(large, denied_by("default") + UNMET);
    assert_eq!(scope.scope(outcome(&inner, "bank/transfer", r#"{"cents": 1, "to": "DE"}"#)).await, "ok");
}

/// Whatever is written and whatever is sent: an answer or an error, and never a panic.
mod random {
    use proptest::prelude::*;

    use super::*;

    fn token() -> impl Strategy<Value = &'static str> {
        proptest::sample::select(vec![
            "args",
            "tool",
            "caller",
            "args.l",
            "args.s",
            "args.n",
            "args.o",
            "x",
            "y",
            "1",
            "-1",
            "0",
            "2u",
            "1.5",
            "'a'",
            "9223372036854775807",
            "true",
            "null",
            "[",
            "]",
            "(",
            ")",
            "{",
            "}",
            ",",
            ":",
            "?",
            ".",
            "!",
            "-",
            " + ",
            " - ",
            " * ",
            " / ",
            " % ",
            " == ",
            " != ",
            " < ",
            " >= ",
            " && ",
            " || ",
            " in ",
            ".all(x, ",
            ".map(y, ",
            ".filter(x, ",
            ".exists(y, ",
            ".exists_one(x, ",
            "has(args.n)",
            "size(",
            ".size()",
            "int(",
            "uint(",
            "string(",
            "double(",
            "type(",
            ".contains('a')",
            ".matches('a+')",
            "[0]",
            "['k']",
            ".k",
            "\u{e4}",
            "\"",
            "'",
            "\\",
            "b'x'",
            "r'",
        ])
    }

    /// Expressions that are well-formed, if not well-typed.
    fn expression() -> impl Strategy<Value = String> {
        let leaf = proptest::sample::select(vec![
            "args.l",
            "args.s",
            "args.n",
            "args.o",
            "args.missing",
            "args",
            "tool",
            "caller",
            "1",
            "-1",
            "0",
            "2u",
            "1.5",
            "9223372036854775807",
            "-9223372036854775808",
            "'a'",
            "true",
            "null",
            "[1, 2]",
            "{'k': 1}",
            "int",
        ]);
        leaf.prop_map(str::to_owned).prop_recursive(5, 40, 3, |inner| {
            let operators = vec!["+", "-", "*", "/", "%", "==", "!=", "<", "<=", "&&", "||", "in"];
            let loops = vec!["all", "exists", "exists_one", "map", "filter"];
            let functions = vec!["size", "int", "uint", "double", "string", "bool", "type"];
            prop_oneof![
                (inner.clone(), proptest::sample::select(operators), inner.clone())
                    .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
                (inner.clone(), proptest::sample::select(loops), inner.clone())
                    .prop_map(|(list, name, body)| format!("({list}).{name}(x, ({body}) == x || x == {body})")),
                (proptest::sample::select(functions), inner.clone()).prop_map(|(name, of)| format!("{name}({of})")),
                (inner.clone(), inner.clone()).prop_map(|(of, at)| format!("({of})[{at}]")),
                (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            ]
        })
    }

    fn check(source: &str) -> Result<(), TestCaseError> {
        let arguments = json!({"l": [1, "a", {"k": [1.5]}], "s": "a\u{e4}b", "n": -7, "o": {"k": 1, "l": null}});
        match RuleExpression::new(source) {
            Ok(expression) => {
                let evaluated = expression.evaluate(&ExpressionInput::new(&arguments));
                prop_assert_ne!(evaluated, Err(EvaluationError::Panicked), "{}", source);
            }
            Err(error) => prop_assert!(!error.to_string().contains("panicked"), "{}: {}", source, error),
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn random_tokens_never_panic(tokens in proptest::collection::vec(token(), 0..25)) {
            check(&tokens.concat())?;
        }

        #[test]
        fn random_expressions_never_panic(source in expression()) {
            check(&source)?;
            check(&format!("type({source}) == bool"))?;
        }

        #[test]
        fn random_text_never_panics(source in "\\PC{0,60}") {
            check(&source)?;
        }
    }
}
