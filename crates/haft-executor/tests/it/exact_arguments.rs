//! Arguments that a JSON tree can't hold: code that decides about a call sees them exactly, or the call fails.

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, FailureKind, Outcome, ToolCall, ToolFailure, ToolResult};
use haft_executor::{ApprovalPolicy, Cx, Next, Request, RunOptions, Tool, Toolkit};
use haft_schema::{JsonText, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::approval::bench::{Way, all_came, asking};
use crate::executing::came;
use crate::running::alone;

/// Integers of at most 64 bits, and integers beyond, of which a float spells one exactly.
const UNSIGNED: [&str; 6] = [
    "7",
    "18446744073709551615",
    "18446744073709551616",
    "18446744073709551617",
    "100000000000000000000",
    "340282366920938463463374607431768211455",
];
const SIGNED: [&str; 4] =
    ["-7", "-9223372036854775808", "-9223372036854775809", "-170141183460469231731687303715884105728"];

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Mint {
    to: String,
    amount: u128,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Shift {
    to: String,
    by: i128,
}

fn mint() -> Tool {
    Tool::new("mint").handler(|mint: Mint, _cx| async move { format!("{} {}", mint.to, mint.amount) }).unwrap()
}

fn shift() -> Tool {
    Tool::new("shift").handler(|shift: Shift, _cx| async move { format!("{} {}", shift.to, shift.by) }).unwrap()
}

/// Returns calls of tools with an integer of 128 bits, and the result of each.
fn table() -> Vec<(ToolCall, String)> {
    let unsigned = UNSIGNED.map(|amount| ("mint", "amount", amount));
    let signed = SIGNED.map(|by| ("shift", "by", by));
    let call = |tool, key, number| ToolCall::new("c1", tool, format!(r#"{{"to":"Ada","{key}":{number}}}"#));
    let all = unsigned.into_iter().chain(signed);
    let written = all.map(|(tool, key, number)| (call(tool, key, number), format!(r#""Ada {number}""#)));
    let exponent = ("1e30", "1000000000000000000000000000000");
    let point = ("18446744073709551617.0", "18446744073709551617");
    let other = [exponent, point].map(|(number, same)| (call("mint", "amount", number), format!(r#""Ada {same}""#)));
    written.chain(other).collect()
}

fn minting(amount: &str) -> ToolCall {
    ToolCall::new("c1", "mint", format!(r#"{{"to":"Ada","amount":{amount}}}"#))
}

/// Returns whether the tree holds another number than the text: not the integer, but the float next to it.
fn is_rounded(integer: &str) -> bool {
    integer.parse::<u64>().is_err() && integer.parse::<f64>().unwrap().to_string() != integer
}

fn kit() -> Toolkit {
    Toolkit::from_iter([mint(), shift()])
}

async fn one(kit: &Toolkit, call: &ToolCall, options: &RunOptions) -> ToolResult {
    kit.run_with([call.clone()], options.clone()).collect_results().await.remove(0)
}

#[tokio::test]
async fn gated_and_ungated_calls_accept_the_same_text() {
    for (call, given) in table() {
        let free = one(&kit(), &call, &RunOptions::new()).await;
        assert_eq!(came(&free), given);
        let always = RunOptions::new().policy(ApprovalPolicy::always());
        for way in Way::ALL {
            let results = way.results(&kit(), &always, std::slice::from_ref(&call), ApprovalRequest::approve).await;
            assert_eq!(all_came(&results), [given.as_str()], "{way:?}");
        }
    }
    for refused in [minting("1e400"), minting("1e39"), minting("-1"), minting(&"9".repeat(40)), minting("0.5")] {
        let options = asking(ApprovalRequest::approve).policy(ApprovalPolicy::always());
        for options in [RunOptions::new(), options] {
            let result = one(&kit(), &refused, &options).await;
            assert_eq!(came(&result), "input_validation_error", "{}", refused.arguments);
        }
    }
}

#[tokio::test]
async fn an_approval_request_contains_the_exact_text() {
    for (call, _) in table() {
        let asked = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&asked);
        let options =
            RunOptions::new().policy(ApprovalPolicy::always()).approvals(move |request: ApprovalRequest, _: Cx| {
                seen.lock().unwrap().clone_from(&request.arguments);
                async move { request.approve() }
            });
        one(&kit(), &call, &options).await;
        assert_eq!(*asked.lock().unwrap(), call.arguments);
    }
}

#[tokio::test]
async fn a_policy_sees_the_exact_number_or_requires_approval() {
    let limit = 1_u128 << 64;
    let typed = ApprovalPolicy::when(move |mint: Mint, _| async move { mint.amount > limit });
    let other = ApprovalPolicy::when(|to: To, _| async move { to.to != "Ada" });
    let tree = ApprovalPolicy::when(|_: Value, _| async { false });
    let float = ApprovalPolicy::when(|_: Rounded, _| async { false });
    for amount in UNSIGNED {
        let exact: u128 = amount.parse().unwrap();
        let is_rounded = is_rounded(amount);
        for (policy, asks) in [(&typed, exact > limit), (&other, false), (&tree, is_rounded), (&float, is_rounded)] {
            let result = one(&kit(), &minting(amount), &RunOptions::new().policy(policy.clone())).await;
            assert_eq!(came(&result) == "denied", asks, "{amount} {}", came(&result));
            let single = Tool::new("mint").needs_approval(policy.clone());
            let single = single.handler(|mint: Mint, _cx| async move { mint.amount.to_string() }).unwrap();
            let call = minting(amount);
            let result = alone(&single).run_call(&call).await;
            assert_eq!(came(&result) == "denied", asks, "{amount} {}", came(&result));
        }
    }
}

#[derive(Deserialize)]
struct To {
    to: String,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "only read")]
struct Rounded {
    amount: f64,
}

/// A middleware that rejects every recipient but Ada.
async fn ada_only(request: Request, next: Next) -> Outcome {
    match request.arguments() {
        Ok(arguments) if arguments["to"] == "Ada" => next.run(request).await,
        Ok(_) => ToolFailure::new(FailureKind::PermissionDenied, "not yours").into(),
        Err(failure) => failure.into(),
    }
}

/// A middleware that continues when it can't read the arguments.
async fn careless(request: Request, next: Next) -> Outcome {
    match request.arguments() {
        Ok(arguments) if arguments["to"] != "Ada" => {
            ToolFailure::new(FailureKind::PermissionDenied, "not yours").into()
        }
        _ => next.run(request).await,
    }
}

/// A middleware that reads the arguments into a type.
async fn typed_guard(request: Request, next: Next) -> Outcome {
    match request.decode_arguments::<To>() {
        Ok(To { to }) if to == "Ada" => next.run(request).await,
        Ok(_) => ToolFailure::new(FailureKind::PermissionDenied, "not yours").into(),
        Err(failure) => failure.into(),
    }
}

#[tokio::test]
async fn no_guard_passes_a_call_whose_arguments_it_did_not_see() {
    for amount in UNSIGNED {
        let is_rounded = is_rounded(amount);
        for to in ["Ada", "Eve"] {
            let call = ToolCall::new("c1", "mint", format!(r#"{{"to":"{to}","amount":{amount}}}"#));
            let kits = [mint().wrap(ada_only), mint().wrap(careless), mint().wrap(typed_guard)];
            let [strict, loose, typed] = kits.map(|tool| Toolkit::from_iter([tool]));
            for kit in [strict, loose] {
                let result = one(&kit, &call, &RunOptions::new()).await;
                let expected = match (is_rounded, to) {
                    (true, _) => "input_validation_error".to_owned(),
                    (false, "Ada") => format!(r#""Ada {amount}""#),
                    (false, _) => "permission_denied".to_owned(),
                };
                assert_eq!(came(&result), expected, "{amount} for {to}");
            }
            let result = one(&typed, &call, &RunOptions::new()).await;
            let given = format!(r#""Ada {amount}""#);
            assert_eq!(came(&result), if to == "Ada" { &given } else { "permission_denied" }, "{amount} for {to}");
        }
    }
}

/// A schema without a 128-bit format, before a handler that reads 128 bits.
#[tokio::test]
async fn a_tree_never_rounds_what_the_handler_reads() {
    let number = Schema::json(json!({"type": "number"})).unwrap();
    for schema in [number, Schema::unknown()] {
        let tool =
            Tool::new("mint").handler(|n: u128, _cx| async move { n.to_string() }).unwrap().set_parameters(schema);
        let seen = Arc::new(Mutex::new(None));
        let seeing = Arc::clone(&seen);
        let tool = tool.wrap(move |request: Request, next: Next| {
            *seeing.lock().unwrap() = request.arguments().ok().map(ToString::to_string);
            next.run(request)
        });
        let kit = Toolkit::from_iter([tool]);
        for (amount, shown) in [("18446744073709551617", None), ("7", Some("7".to_owned()))] {
            let result = one(&kit, &ToolCall::new("c1", "mint", amount), &RunOptions::new()).await;
            assert_eq!(*seen.lock().unwrap(), shown);
            assert_eq!(result.is_ok(), shown.is_some());
        }
    }
}

/// A handler that itself reads a float: the float is the value that others see.
#[tokio::test]
async fn an_integer_that_the_handler_reads_as_a_float_is_seen_as_that_float() {
    let tool =
        Tool::new("mint").handler(|n: f64, _cx| async move { n }).unwrap().wrap(|request: Request, next: Next| {
            assert_eq!(request.arguments().unwrap().as_f64(), Some(1e20));
            next.run(request)
        });
    let result =
        one(&Toolkit::from_iter([tool]), &ToolCall::new("c1", "mint", "100000000000000000000"), &RunOptions::new())
            .await;
    assert_eq!(came(&result), "1e+20");
}

#[tokio::test]
async fn every_number_has_a_digest_of_its_own() {
    let mut digests = Vec::new();
    for amount in UNSIGNED {
        let plan = kit().plan_from_map(RunOptions::new().policy(ApprovalPolicy::always()), [], [minting(amount)]).await;
        let digest = plan.requests[0].digest.clone();
        assert!(!digest.is_empty() && !digests.contains(&digest), "{amount}");
        digests.push(digest);
    }
}

#[tokio::test]
async fn an_approval_of_one_number_does_not_apply_to_its_neighbour() {
    let options = RunOptions::new().policy(ApprovalPolicy::always());
    let plan = kit().plan_from_map(options.clone(), [], [minting("18446744073709551617")]).await;
    let approve = plan.requests[0].approve();
    let plan = kit().plan_from_map(options, [approve], [minting("18446744073709551618")]).await;
    assert!(plan.approved.is_empty());
    assert_eq!(plan.rejected_verdicts.len(), 1);
}

#[tokio::test]
async fn a_person_may_edit_a_number_beyond_64_bits() {
    let edit = |request: &ApprovalRequest| {
        request.edit(JsonText::parse(r#"{"to":"Bob","amount":18446744073709551619}"#).unwrap())
    };
    let options = RunOptions::new().policy(ApprovalPolicy::always());
    for way in Way::ALL {
        let results = way.results(&kit(), &options, &[minting("18446744073709551617")], edit).await;
        assert_eq!(all_came(&results), [r#""Bob 18446744073709551619""#], "{way:?}");
    }
}

/// Two invalid texts are not equal to each other.
#[tokio::test]
async fn approved_arguments_are_not_replaced_by_invalid_ones() {
    let spoiled = json!("not at all");
    for (before, after, is_ok) in [
        ("18446744073709551617", json!({"to": "Eve", "amount": 7}), false),
        ("7", json!({"amount": 7.0, "to": "Ada"}), true),
        ("7", json!({"amount": 8, "to": "Ada"}), false),
        ("18446744073709551617", spoiled, false),
    ] {
        let put = after.clone();
        let tool = mint().wrap(move |request: Request, next: Next| next.run(request.with_arguments(&put)));
        let options = asking(ApprovalRequest::approve).policy(ApprovalPolicy::always());
        let result = one(&Toolkit::from_iter([tool]), &minting(before), &options).await;
        assert_eq!(result.is_ok(), is_ok, "{before} became {after}");
        assert!(is_ok || came(&result) == "denied", "{}", came(&result));
    }
}

/// Text keeps what a tree would round, at the root and in a field, whatever the schema says about numbers.
#[tokio::test]
async fn handlers_that_take_text_receive_every_digit() {
    #[derive(Deserialize)]
    struct Field {
        body: JsonText,
    }
    let schema = || json!({"type": "object", "properties": {"body": {"properties": {"id": {"type": "integer"}}}}});
    let root = Tool::dynamic("root").params_json(schema());
    let root = root.handler(|text: JsonText, _cx| async move { text.to_string() }).unwrap();
    let field = Tool::dynamic("field").params_json(schema());
    let field = field.handler(|Field { body }: Field, _cx| async move { body.to_string() }).unwrap();
    let kit = Toolkit::new().with(root).unwrap().with(field).unwrap();
    let body = r#"{"id":123456789012345678901,"other":[123456789012345678901,0.10000000000000000000001],"n":1}"#;
    let text = format!(r#"{{"body":{body}}}"#);
    for (tool, expected) in [("root", &*text), ("field", body)] {
        let result = kit.run_call(&ToolCall::new("c", tool, &*text)).await;
        assert_eq!(result.value().unwrap().to_value(), expected, "{result:?}");
        let invalid = kit.run_call(&ToolCall::new("c", tool, r#"{"body":{"id":1.5}}"#)).await;
        assert!(!invalid.is_ok());
        let doubled = kit.run_call(&ToolCall::new("c", tool, r#"{"body":{"id":1,"id":2}}"#)).await;
        assert!(!doubled.is_ok());
        let whole = kit.run_call(&ToolCall::new("c", tool, r#"{"body":{"id":3.0}}"#)).await;
        assert!(whole.value().unwrap().to_value().as_str().unwrap().contains(r#"{"id":3}"#), "{whole:?}");
    }
}
