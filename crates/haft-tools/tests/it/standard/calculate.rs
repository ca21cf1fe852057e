//! Expressions with known answers, and expressions without one.

use haft_core::FailureKind;
use serde_json::json;

use super::{call, kit};

/// Exact results.
const EXACT: &[(&str, &str)] = &[
    ("1 + 1", "2"),
    ("0.1 + 0.2", "0.3"),
    ("1/3*3", "1"),
    ("1.10 * 3", "3.3"),
    ("0.1 * 0.1", "0.01"),
    ("1 - 0.9", "0.1"),
    ("10 / 4", "2.5"),
    ("-10 / 4", "-2.5"),
    ("2 + 3 * 4", "14"),
    ("(2 + 3) * 4", "20"),
    ("2 * 3 + 4", "10"),
    ("10 - 2 - 3", "5"),
    ("100 / 10 / 2", "5"),
    ("100 / 10 * 2", "20"),
    ("2^10", "1024"),
    ("2**10", "1024"),
    ("2^3^2", "512"),
    ("(2^3)^2", "64"),
    ("-2^2", "-4"),
    ("(-2)^2", "4"),
    ("2^-1", "0.5"),
    ("2^-2 * 8", "2"),
    ("-2^-2", "-0.25"),
    ("--5", "5"),
    ("-+-5", "5"),
    ("+5", "5"),
    ("3 - -3", "6"),
    ("4^0.5", "2"),
    ("8^(1/3)", "2"),
    ("8^(2/3)", "4"),
    ("(1/4)^0.5", "0.5"),
    ("(-8)^3", "-512"),
    ("(-1)^1000001", "-1"),
    ("1^99999999999999999999", "1"),
    ("0^5", "0"),
    ("7 % 3", "1"),
    ("-7 % 3", "2"),
    ("7 % -3", "-2"),
    ("-7 % -3", "-1"),
    ("5.5 % 2", "1.5"),
    ("7 // 2", "3"),
    ("-7 // 2", "-4"),
    ("7.5 // 2", "3"),
    ("5!", "120"),
    ("0!", "1"),
    ("2^3!", "64"),
    ("-3!", "-6"),
    ("(3!)!", "720"),
    ("20!", "2432902008176640000"),
    ("30!", "265252859812191058636308480000000"),
    ("2^64", "18446744073709551616"),
    ("2^200", "1606938044258990275541962092341162602522202993782792835301376"),
    ("9223372036854775807 + 1", "9223372036854775808"),
    ("99999999999999999999 * 99999999999999999999", "9999999999999999999800000000000000000001"),
    ("123456789 * 987654321", "121932631112635269"),
    ("1e3", "1000"),
    ("1.5E-3", "0.0015"),
    ("1e+2", "100"),
    ("1_000_000 + 1", "1000001"),
    (".5 + .5", "1"),
    ("5. + 1", "6"),
    ("0xff", "255"),
    ("0xFF + 0b101 + 0o17", "275"),
    ("007", "7"),
    ("2 × 3", "6"),
    ("6 ÷ 4", "1.5"),
    ("5 − 3", "2"),
    ("2·3", "6"),
    ("sqrt(16)", "4"),
    ("sqrt(0.25)", "0.5"),
    ("sqrt(1/9) * 9", "3"),
    ("sqrt(10^100)", "100000000000000000000000000000000000000000000000000"),
    ("cbrt(-27)", "-3"),
    ("root(1024, 10)", "2"),
    ("pow(2, 8)", "256"),
    ("mod(-1, 5)", "4"),
    ("abs(-3.5)", "3.5"),
    ("sign(-3) + sign(0) + sign(9)", "0"),
    ("floor(-2.5)", "-3"),
    ("ceil(-2.5)", "-2"),
    ("trunc(-2.5)", "-2"),
    ("round(2.5)", "3"),
    ("round(-2.5)", "-3"),
    ("round(2.675, 2)", "2.68"),
    ("round(1234.5, -2)", "1200"),
    ("min(3, 1, 2)", "1"),
    ("max(0.1, 1/10, 0.09)", "0.1"),
    ("sum(1, 2, 3.5)", "6.5"),
    ("mean(1, 2, 6)", "3"),
    ("gcd(12, 18)", "6"),
    ("gcd(0, 5)", "5"),
    ("gcd(-12, 18, 27)", "3"),
    ("lcm(4, 6)", "12"),
    ("lcm(0, 3)", "0"),
    ("factorial(10)", "3628800"),
    ("choose(49, 6)", "13983816"),
    ("choose(5, 7)", "0"),
    ("choose(5, 0)", "1"),
    ("choose(1000000000, 2)", "499999999500000000"),
    ("log10(1000)", "3"),
    ("log10(0.001)", "-3"),
    ("log2(2^100)", "100"),
    ("log(81, 3)", "4"),
    ("log(1/8, 2)", "-3"),
    ("log10(10^5000)", "5000"),
    ("ln(1)", "0"),
    ("LOG10(100) + Sqrt(4)", "4"),
    ("max(1,2)+min( 3 , 4 )", "5"),
    ("1e-60", "0.000000000000000000000000000000000000000000000000000000000001"),
    ("1e-100", "1e-100"),
    ("12.5e-80", "1.25e-79"),
    ("1000000 / 1000", "1000"),
    ("(1 + 0.05)^10 * 1200", "1954.6735521329296875"),
    ("12 * (100 - 15/100 * 100)", "1020"),
];

/// Approximate results.
const APPROXIMATE: &[(&str, f64)] = &[
    ("pi", std::f64::consts::PI),
    ("2*π", std::f64::consts::TAU),
    ("tau - 2*pi", 0.0),
    ("e", std::f64::consts::E),
    ("exp(1)", std::f64::consts::E),
    ("phi^2 - phi", 1.0),
    ("sqrt(2)", std::f64::consts::SQRT_2),
    ("2^0.5^2", 1.189_207_115_002_721),
    ("2^0.5", std::f64::consts::SQRT_2),
    ("cbrt(2)", 1.259_921_049_894_873_2),
    ("root(2, 12)", 1.059_463_094_359_295_3),
    ("ln(2)", std::f64::consts::LN_2),
    ("ln(10^400)", 921.034_037_197_618_3),
    ("ln(10^-400)", -921.034_037_197_618_3),
    ("log10(2)", std::f64::consts::LOG10_2),
    ("log10(2 * 10^1000)", 1_000.301_029_995_664),
    ("log(10, 3)", 2.095_903_274_289_384_5),
    ("sin(pi/6)", 0.5),
    ("cos(pi)", -1.0),
    ("tan(rad(45))", 1.0),
    ("deg(pi)", 180.0),
    ("asin(1)", std::f64::consts::FRAC_PI_2),
    ("acos(0)", std::f64::consts::FRAC_PI_2),
    ("atan(1) * 4", std::f64::consts::PI),
    ("atan2(1, -1)", 2.356_194_490_192_345),
    ("sinh(1)", 1.175_201_193_643_801_4),
    ("cosh(1)", 1.543_080_634_815_243_7),
    ("tanh(1)", 0.761_594_155_955_764_9),
    ("asinh(1)", 0.881_373_587_019_543),
    ("acosh(2)", 1.316_957_896_924_816_6),
    ("atanh(0.5)", 0.549_306_144_334_054_8),
    ("hypot(3, 4)", 5.0),
    ("floor(sqrt(2) * 1000)", 1414.0),
    ("gcd(round(sqrt(2) * 1000), 7)", 7.0),
    ("1.0001^100000", 22_015.456_048_527_954),
    ("1/3", 1.0 / 3.0),
    ("2/3", 2.0 / 3.0),
    ("10^20 / 7", 1e20 / 7.0),
    ("1/7e50", 1.0 / 7e50),
    ("exp(-1000)", 0.0),
];

/// Expressions without a value, with the reason and the position.
const FAILURES: &[(&str, &str, u64)] = &[
    ("   ", "syntax", 1),
    ("1 +", "syntax", 4),
    ("1 + * 2", "syntax", 5),
    ("(1 + 2", "syntax", 1),
    ("1 + 2)", "syntax", 6),
    ("()", "syntax", 2),
    ("2pi", "syntax", 2),
    ("2(3)", "syntax", 2),
    ("(1)(2)", "syntax", 4),
    ("1 2", "syntax", 3),
    ("2e", "syntax", 2),
    ("1,000", "syntax", 2),
    ("1.2.3", "syntax", 1),
    ("0xzz", "syntax", 1),
    ("0b", "syntax", 1),
    ("15%", "syntax", 3),
    ("15% + 1 * )", "syntax", 11),
    ("3!!", "syntax", 2),
    ("1 = 1", "syntax", 3),
    ("$5", "syntax", 1),
    ("2²", "syntax", 2),
    ("[1]", "syntax", 1),
    ("import os", "unknown_name", 1),
    ("__import__('os')", "syntax", 12),
    ("x + 1", "unknown_name", 1),
    ("sqr(4)", "unknown_name", 1),
    ("nan", "unknown_name", 1),
    ("inf - inf", "unknown_name", 1),
    ("sqrt", "wrong_arguments", 1),
    ("sqrt()", "wrong_arguments", 1),
    ("sqrt(1, 2)", "wrong_arguments", 1),
    ("log(5)", "wrong_arguments", 1),
    ("max()", "wrong_arguments", 1),
    ("1/0", "division_by_zero", 2),
    ("1 + 5 % 0", "division_by_zero", 7),
    ("5 // 0", "division_by_zero", 3),
    ("1/(0.1+0.2-0.3)", "division_by_zero", 2),
    ("0^-1", "division_by_zero", 2),
    ("1/sin(0)", "division_by_zero", 2),
    ("0^0", "undefined", 2),
    ("sqrt(-1)", "undefined", 1),
    ("(-8)^(1/3)", "undefined", 5),
    ("(-1)^0.5", "undefined", 5),
    ("ln(0)", "undefined", 1),
    ("ln(-1)", "undefined", 1),
    ("log(2, 1)", "undefined", 1),
    ("log(2, 0)", "undefined", 1),
    ("asin(2)", "undefined", 1),
    ("acosh(0)", "undefined", 1),
    ("(-1)!", "undefined", 5),
    ("2.5!", "undefined", 4),
    ("gcd(1.5, 2)", "undefined", 1),
    ("choose(-1, 2)", "undefined", 1),
    ("round(1, 0.5)", "undefined", 1),
    ("root(2, 0)", "undefined", 1),
    ("9^9^9^9", "result_too_large", 4),
    ("9^9^9", "result_too_large", 2),
    ("10^10000 * 10", "result_too_large", 10),
    ("2^-99999999999", "result_too_large", 2),
    ("2^99999999999999999999999", "result_too_large", 2),
    ("10000!", "result_too_large", 6),
    ("99999999999999999999!", "result_too_large", 21),
    ("((((9!)!)!)!)!", "result_too_large", 8),
    ("choose(10^9, 10^8)", "result_too_large", 1),
    ("lcm(10^9000+1, 10^8999+1)", "result_too_large", 1),
    ("1e999999999", "syntax", 1),
    ("1e-10001", "syntax", 1),
    ("exp(1000)", "result_too_large", 1),
    ("atanh(1)", "result_too_large", 1),
    ("pi * 10^400", "result_too_large", 4),
    ("sqrt(10^9001)", "result_too_large", 1),
];

#[tokio::test]
async fn exact_results_are_known_answers() {
    let kit = kit();
    for (expression, expected) in EXACT {
        let found = call(&kit, "calculate", json!({"expression": expression})).await;
        let found = found.unwrap_or_else(|failed| panic!("{expression}: {failed:?}"));
        assert_eq!(found, json!({"result": expected, "exact": true}), "{expression}");
    }
    assert!(EXACT.len() + APPROXIMATE.len() + FAILURES.len() > 200);
}

#[tokio::test]
async fn approximate_results_are_close_to_known_answers() {
    let kit = kit();
    for (expression, expected) in APPROXIMATE {
        let found = call(&kit, "calculate", json!({"expression": expression})).await;
        let found = found.unwrap_or_else(|failed| panic!("{expression}: {failed:?}"));
        let value: f64 = found["result"].as_str().unwrap().parse().unwrap();
        let error = (value - expected).abs();
        assert!(error <= expected.abs() * 1e-12 || error < 1e-15, "{expression}: {found}, not {expected}");
        assert_eq!(found["exact"], false, "{expression}");
    }
}

#[tokio::test]
async fn rounded_fractions_come_with_the_exact_one() {
    let kit = kit();
    for (expression, result, fraction) in [
        ("1/3", "0.3333333333333333333333333333333333", json!("1/3")),
        ("-2/3", "-0.6666666666666666666666666666666667", json!("-2/3")),
        ("22/7", "3.142857142857142857142857142857143", json!("22/7")),
        ("10^40/3", "3.333333333333333333333333333333333e39", json!("10000000000000000000000000000000000000000/3")),
        ("1/3e20", "3.333333333333333333333333333333333e-21", json!("1/300000000000000000000")),
        ("(10^40+1)/(10^40+3)", "1", json!(null)),
    ] {
        let found = call(&kit, "calculate", json!({"expression": expression})).await.unwrap();
        assert_eq!((&found["result"], &found["fraction"]), (&json!(result), &fraction), "{expression}");
        assert_eq!(found["exact"], false, "{expression}");
    }
}

#[tokio::test]
async fn expressions_without_a_value_fail_with_reason_and_position() {
    let kit = kit();
    for (expression, reason, position) in FAILURES {
        let failed = call(&kit, "calculate", json!({"expression": expression})).await;
        let failed = failed.err().unwrap_or_else(|| panic!("{expression} has a value"));
        assert_eq!(failed.kind, FailureKind::ToolFailed, "{expression}: {failed:?}");
        assert_eq!((failed.reason.as_str(), failed.position), (*reason, Some(*position)), "{expression}: {failed:?}");
        assert!(failed.message.contains(&format!("(at character {position})")), "{failed:?}");
    }
}

#[tokio::test]
async fn hostile_expressions_end_soon() {
    let kit = kit();
    let hostile = [
        "(".repeat(3_999),
        "-".repeat(3_999),
        format!("{}1", "2^".repeat(1_999)),
        format!("1{}", "!".repeat(3_998)),
        format!("{}1{}", "(".repeat(1_900), ")".repeat(1_900)),
        format!("{}1{}", "abs(".repeat(600), ")".repeat(600)),
        "9!".repeat(1_000),
        "1/".repeat(1_999),
        format!("3^20000{}", "*3^20000".repeat(400)),
        format!("3^20000{}", "%3^19999".repeat(400)),
        format!("3^20000{}", "/7^11000".repeat(400)),
        format!("1e-9999{}", "+1e-9998".repeat(400)),
        format!("gcd(3^20000{})", ",5^14000+1".repeat(300)),
        format!("lcm(1{})", ",97^99+1,89^99".repeat(200)),
        format!("sqrt(3^20000){}", "+sqrt(3^20001)".repeat(200)),
        format!("0{}", "+choose(40000,15000)".repeat(150)),
        format!("0{}", "+3000!".repeat(500)),
        format!("1/3{}", "+1/(7^4000+2)".repeat(300)),
        "9999999999^9999999999".to_owned(),
    ];
    for expression in hostile {
        // The time limit of the test runner is the check; a value is fine.
        if let Err(failed) = call(&kit, "calculate", json!({"expression": expression})).await {
            assert_eq!(failed.kind, FailureKind::ToolFailed, "{expression:.40}: {failed:?}");
        }
    }
    for oversized in ["(".repeat(1 << 20), "1+".repeat(1 << 19), String::new()] {
        let failed = call(&kit, "calculate", json!({"expression": oversized})).await.unwrap_err();
        assert_eq!(failed.kind, FailureKind::InputValidationError);
    }
}

#[tokio::test]
async fn long_sums_do_not_recurse() {
    let expression = vec!["1"; 2_000].join("+");
    let found = call(&kit(), "calculate", json!({"expression": expression})).await.unwrap();
    assert_eq!(found["result"], "2000");
}

#[tokio::test]
async fn integers_are_whole_up_to_the_limit() {
    let found = call(&kit(), "calculate", json!({"expression": "10^9999 + 7"})).await.unwrap();
    let text = found["result"].as_str().unwrap();
    assert_eq!((text.len(), &text[..3], &text[9_998..]), (10_000, "100", "07"));
    assert_eq!(found["exact"], true);
}

#[tokio::test]
async fn unknown_names_come_with_a_suggestion() {
    let failed = call(&kit(), "calculate", json!({"expression": "squrt(4)"})).await.unwrap_err();
    assert!(failed.message.contains("did you mean sqrt?"), "{}", failed.message);
}
