//! The code in the sentences and tables of the README and of the facade's modules, which no doc test sees.
//!
//! Fenced blocks are doc tests of the crate, and names in brackets are links that rustdoc resolves. The rest is code
//! between backticks: each piece of it has to occur in the functions below, word for word, where it is compiled.

use std::path::Path;

use haft::approval::Verdict;
use haft::approval::{ApprovalPolicy, ApprovalScope, Suspend, Suspended, VerdictQueue};
use haft::conversation::Turn;
use haft::middleware::Trace;
use haft::model::Cassette;
use haft::model::LoopState;
use haft::prelude::*;
use haft::run::Dispatch;
use haft::run::FailureClass;
use haft::serde_json::{Value, json};
use haft::tool::StaticTool;

const README: &str = include_str!("../../README.md");
const MODULES: [&str; 12] = [
    include_str!("../../src/tool.rs"),
    include_str!("../../src/toolkit.rs"),
    include_str!("../../src/run.rs"),
    include_str!("../../src/approval.rs"),
    include_str!("../../src/schema.rs"),
    include_str!("../../src/conversation.rs"),
    include_str!("../../src/middleware.rs"),
    include_str!("../../src/model.rs"),
    include_str!("../../src/model/adapter.rs"),
    include_str!("../../src/wire.rs"),
    include_str!("../../src/http.rs"),
    include_str!("../../src/registry.rs"),
];
const AGENT: &str = include_str!("../../../../examples/agent.rs");
const COMPILED: &str = include_str!("readme.rs");

/// The weather.
#[tool(blocking)]
fn get_weather(city: String) -> String {
    city
}

/// Counts the tenant's orders.
#[tool(to_model = |count: &usize| [haft::conversation::ContentPart::text(format!("{count} orders"))])]
fn count_orders(#[service(run)] _key: &Key) -> usize {
    0
}

/// Squares a number.
#[tool(refine = |square: Square, _cx: Cx| async move { Ok::<_, haft::schema::Issue>(square) })]
fn square(number: u32) -> u32 {
    number * number
}

/// Closed and gated.
#[tool(approval = "always")]
fn pay(order: Order) -> u64 {
    order.cents
}

#[derive(haft::serde::Deserialize, haft::serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    cents: u64,
}

struct Key;

#[derive(Services)]
struct App {
    key: Key,
}

/// Returns the length of the key.
#[tool]
fn whoami(#[service] _key: &Key) -> usize {
    0
}

/// Hand over to a person.
#[tool(signal)]
struct Escalate {}

/// Asks the user.
#[tool(interaction)]
struct AskUser {}

/// Searches.
#[tool(provider = "vendor.tool")]
struct Search {}

toolkit! { struct Name = [Escalate, AskUser, Search]; }

type Done = Result<(), Box<dyn std::error::Error>>;

#[expect(dead_code, reason = "it is enough that it compiles")]
async fn running(calls: &[ToolCall], options: RunOptions, definitions: Vec<Tool>) -> Done {
    let kit: Toolkit = toolkit![GetWeather, Pay, CountOrders, Square];
    kit.ensure_runnable()?;
    let (listed, all) = (Dispatch::list(&kit, &options), kit.descriptors());
    assert!(listed.len() <= all.len());
    let call = calls[0].clone();
    let _ = (kit.run_call(&call).await, kit.try_run_call(&call, RunOptions::new()).await);
    let _ = kit.call(GetWeather { city: "Rome".into() }).await;
    let result = kit.run_call(&call).await;
    let _ = (GetWeather::decode(&call)?, GetWeather::read(&result)?);
    let _ = kit.run(calls).collect_results().await;
    let _ = kit.run(calls).continue_with_results(|results| results.len());
    let _ = kit.run(calls).fail_on([FailureClass::Internal]);
    let (_sender, queue) = VerdictQueue::new();
    let plan = kit.plan_from_queue(&options, &queue, calls).await;
    let _ = plan.into_run();
    let plan = kit.plan_from_map(&options, [], calls).await;
    let _ = kit.run(plan);
    let discovered: Toolkit =
        Toolkit::dynamic(definitions).handler(|_: Tool, value: Value, _cx| async move { value })?;
    let _ = discovered.wrap(Trace::new().with_content());
    let _ = kit.run(calls);
    let tenant = |request: Request, next: Next| async move { next.run(request).await };
    let _: Toolkit = Toolkit::new().with(Whoami::tool()?.wrap(tenant))?;
    let _ = toolkit![Whoami].provide(App { key: Key });
    Ok(())
}

#[expect(dead_code, reason = "it is enough that it compiles")]
async fn asking(calls: &[ToolCall], suspended: Suspended, request: ApprovalRequest) -> Done {
    let policy = ApprovalPolicy::always();
    let tool = Tool::new("gated").needs_approval(policy).handler(|(), _cx| async {})?;
    assert!(tool.annotations().may_destroy());
    let kit: Toolkit = [tool].into_iter().collect();
    let (reason, arguments, value) = ("no", json!({}), json!(null));
    let verdict = request.approve().scope(ApprovalScope::ThisTool);
    let _ = [request.deny(reason), request.edit(arguments), request.answer(value)];
    let policy = ApprovalPolicy::always();
    let _ = kit.run_with(
        calls,
        RunOptions::new()
            .policy(policy)
            .approvals(|request: ApprovalRequest, _cx: Cx| async move { request.approve() }),
    );
    let (sender, queue) = VerdictQueue::new();
    let _ = kit.run_with(calls, RunOptions::new().approvals(queue));
    sender.send(verdict)?;
    let _ = kit.run_with(calls, RunOptions::new().approvals(Suspend));
    let (policy, verdicts) = (ApprovalPolicy::always(), vec![request.approve()]);
    let _ = kit.plan_from_map(policy, verdicts, calls).await;
    let verdicts = vec![request.approve()];
    let _ = kit.resume(suspended, verdicts);
    kit.check_verdict(&RunOptions::new(), &request, &request.approve())?;
    let _ = kit.run_with(
        calls,
        RunOptions::new().approvals(|request: ApprovalRequest, cx: Cx| async move {
            if cx.rejected_verdict().is_some() { request.deny("no") } else { request.approve() }
        }),
    );
    Ok(())
}

#[expect(dead_code, reason = "it is enough that it compiles")]
fn turning(mut state: LoopState, turn: Turn, results: Vec<ToolResult>, verdict: Verdict) -> Done {
    let (path, model) = (Path::new("a"), ScriptedModel::default());
    let agent = TurnLoop::new(Cassette::auto(path, model)?, Toolkit::new())
        .options(RunOptions::new().approvals(Suspend))
        .decide(|after| async move { if README.is_empty() { after.stop() } else { after.next() } });
    let (call_id, value, mut history) = ("c1", json!(null), Vec::new());
    agent.answer(&mut state, call_id, value)?;
    let value = json!(null);
    state.answer(call_id, value)?;
    agent.verdict(&mut state, verdict)?;
    turn.append_to_history(&mut history, results)?;
    Ok(())
}

#[cfg(feature = "clients")]
#[expect(dead_code, reason = "it is enough that it compiles")]
async fn asking_providers(request: TurnRequest, provider: &'static str, url: &str) -> Done {
    use haft::model::{Anthropic, Gemini, OpenAi};

    let models: (OpenAi, _, _) = (OpenAi::from_env()?, Anthropic::from_env()?, Gemini::from_env()?);
    let model = OpenAi::compatible(provider, url).on_report(|report| assert_eq!(report.dropped, []));
    let _ = (models.0.chat(), model.object::<Order>(request).await?);
    let _ = TurnLoop::new(model, Toolkit::new()).finish_as::<Order>()?;
    Ok(())
}

/// Returns the code between backticks, outside of fences and of links.
fn code_in_prose(page: &str) -> Vec<String> {
    let prose = page.split("```").step_by(2).collect::<String>();
    let mut pieces = Vec::new();
    for (index, code) in prose.split('`').enumerate() {
        let before = prose.split('`').nth(index.wrapping_sub(1)).unwrap_or_default();
        if index % 2 == 1 && !before.ends_with('[') {
            pieces.push(code.replace("\\|", "|"));
        }
    }
    pieces
}

/// Returns the README and the documentation of every module.
fn pages() -> impl Iterator<Item = String> {
    let module =
        |source: &str| source.lines().filter_map(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join("\n");
    [README.to_owned()].into_iter().chain(MODULES.map(module))
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn every_expression_in_prose_is_compiled() {
    let compiled = without_spaces(COMPILED);
    let is_compiled = |code: &str| code.split('…').all(|piece| compiled.contains(&without_spaces(piece)));
    let (known, unknown): (Vec<_>, Vec<_>) = pages()
        .flat_map(|page| code_in_prose(&page))
        .filter(|code| code.contains(['(', '!']))
        .partition(|code| is_compiled(code));
    assert_eq!(unknown, Vec::<String>::new(), "compiled nowhere");
    assert!(known.len() > 20, "too few were found: {known:?}");
}

/// A name of ours that is no link would not be checked at all.
#[test]
fn every_type_in_prose_is_a_link() {
    let is_type = |code: &String| {
        code.starts_with(char::is_uppercase)
            && code.chars().all(|c| c.is_alphanumeric() || c == ':')
            // A type of std, and a type parameter.
            && !["Result", "S"].contains(&code.as_str())
    };
    let unlinked: Vec<_> = pages().flat_map(|page| code_in_prose(&page)).filter(is_type).collect();
    assert_eq!(unlinked, Vec::<String>::new(), "no links");
}

#[test]
fn the_second_example_is_a_program_of_the_examples() {
    let (about, program) = AGENT.split_once('\n').unwrap();
    assert!(about.starts_with("//! "), "{about}");
    assert!(README.contains(&format!("```rust,no_run\n{program}```")), "the README differs from examples/agent.rs");
}

#[test]
fn links_and_fences_are_not_code_in_prose() {
    let page = "a `b(…)` [`C`] \n```rust\nlet `x` = 1;\n```\n `D::e` [`#[f]`](g) `h\\|i`";
    assert_eq!(code_in_prose(page), ["b(…)", "D::e", "h|i"]);
}

/// The workspace file of the README is loaded without faults, with a document for its import.
#[cfg(feature = "workspace")]
#[tokio::test]
async fn the_workspace_file_of_the_readme_is_valid() {
    use haft::registry::PermissionOutcome;
    use haft::run::FailureKind;
    use haft::serde_json::json;
    use haft::workspace::{LoadOptions, Trust, load};

    let toml = README.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("docs")).unwrap();
    write("haft.toml", toml);
    write(
        "shop.yaml",
        "openapi: 3.1.0\ninfo: {title: Shop, version: '1'}\nservers: [{url: 'https://shop.example'}]\npaths:\n  /refunds:\n    \
         post:\n      operationId: refund\n      requestBody:\n        content:\n          application/json:\n            schema: \
         {type: object, properties: {cents: {type: integer}}}\n      responses: {}\n    get: {operationId: list, responses: \
         {}}\n",
    );
    let options = LoadOptions::new(haft::tools::kinds()).unwrap().trust(Trust::Always);
    let loaded = load(folder.path().join("haft.toml"), &options).await.unwrap();
    assert!(loaded.remarks.is_empty(), "{:?}", loaded.remarks);
    let registry = loaded.registry().unwrap().build().unwrap();
    for name in ["calculate", "file_read", "github/issues", "shop/refund"] {
        assert!(registry.find(name).is_ok(), "{name}");
    }
    let names: Vec<_> = registry.list().iter().map(|tool| tool.name.clone()).collect();
    let permissions = loaded.permissions.as_ref().unwrap();
    assert!(permissions.unmatched_rules(&names).is_empty());
    assert!(loaded.ask_rules.unmatched_rules(&names).is_empty());
    for (name, expected) in [
        ("file_read", PermissionOutcome::Allowed),
        ("github/issues", PermissionOutcome::Allowed),
        ("shop/list", PermissionOutcome::Denied { rule: "default".to_owned() }),
    ] {
        let tool = registry.find(name).unwrap();
        assert_eq!(permissions.explain(&tool.name, tool.tool.annotations()).outcome, expected, "{name}");
    }
    // Nothing is sent: one call is not permitted, and nobody approves the other.
    let executor = loaded.executor().build(registry);
    for (cents, expected) in [(6000, FailureKind::PermissionDenied), (5000, FailureKind::Denied)] {
        let error = executor.run("shop/refund", json!({"body": {"cents": cents}})).await.unwrap_err();
        assert_eq!(error.kind(), &expected, "{cents}: {error}");
    }
}
