//! The tool service's architecture document, section by section: its data structures, interfaces, errors, registration,
//! a run's six steps, and its patterns.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{FailureKind, ToolCall};
use haft_executor::{Cx, Dispatch, RunOptions, Tool, ToolSource, Toolkit};
use haft_registry::{
    Entry, Executor, ExecutorBuilder, ExecutorError, FullName, ImplementationKind, LookupError, Namespace, OrgName,
    PermissionSettings, Permissions, Registry, SimpleName, ToolOrigin, ToolboxBuilder, Workspace,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{registry, tool, tool_saying};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

/// The standard toolbox of these tests.
fn internal() -> Toolkit {
    let calculator = Tool::new("calculator").describe("Adds two numbers.");
    Toolkit::from_iter([calculator.handler(|sum: Sum, _| async move { sum.a + sum.b }).unwrap()])
}

fn permitted(rules: &[&str]) -> Permissions {
    rules.iter().fold(PermissionSettings::new(), |settings, rule| settings.allow(*rule)).build().unwrap()
}

fn chain(error: &(dyn Error + 'static)) -> Vec<String> {
    std::iter::successors(Some(error), |error| (*error).source()).map(ToString::to_string).collect()
}

/// Section 2: core data structures.
mod data_structures {
    use super::*;

    #[test]
    fn a_definition_has_a_simple_name_and_a_description_that_includes_its_parameters() {
        let kit = internal();
        let calculator = kit.get("calculator").unwrap();
        assert!(calculator.name().parse::<SimpleName>().is_ok());
        let descriptor = calculator.descriptor();
        assert_eq!(descriptor.description.as_deref(), Some("Adds two numbers."));
        let schema = calculator.json_schema();
        assert_eq!(schema["properties"]["a"]["description"], "The first number.");
        for name in ["", "math/add", "a b", "é", "..", "-"] {
            assert!(name.parse::<SimpleName>().is_err(), "{name:?}");
        }
    }

    /// An implementation is an ordinary tool, whatever its kind, with an input and an output schema.
    #[tokio::test]
    async fn implementations_of_all_kinds_are_tools_with_input_and_output_schemas() {
        let function = internal();
        let function = function.get("calculator").unwrap();
        assert_eq!(function.success().as_json()["type"], "integer");

        let url = json!({"url": "https://api.example/items/{id}"});
        let http = haft_tools::http::HttpKind::new().build(Entry::new("item", url)).await.unwrap();
        let commands = json!({"command": ["echo", "{text}"]});
        let command = haft_tools::command::CommandKind::new().build(Entry::new("echo", commands)).await.unwrap();
        for (built, argument) in [(http, "id"), (command, "text")] {
            let [tool] = built.tools.as_slice() else { panic!("{built:?}") };
            assert_eq!(tool.json_schema()["required"], json!([argument]));
            assert!(tool.has_handler());
        }
    }

    #[test]
    fn a_toolbox_is_a_map_of_simple_names_and_a_workspace_a_map_of_namespaces() {
        let workspace = Workspace::builder().toolbox("math").tool(tool("add")).tool(tool("log")).done();
        let workspace = workspace.toolbox("text").tool(tool("add")).build().unwrap();
        let maps: BTreeMap<_, Vec<_>> = workspace
            .toolboxes()
            .iter()
            .map(|toolbox| (toolbox.namespace().unwrap().as_str(), toolbox.toolkit().names().collect()))
            .collect();
        assert_eq!(maps, BTreeMap::from([("math", vec!["add", "log"]), ("text", vec!["add"])]));
    }

    #[test]
    fn registry_data_is_keyed_by_fully_qualified_names() {
        let registry = registry(&["now"], &["math/add"], &[("acme", &["math/log"])]);
        let names: Vec<String> = registry.list().iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names, ["now", "math/add", "acme/math/log"]);
        let origins: Vec<_> = registry.list().iter().map(|tool| tool.origin().clone()).collect();
        let namespace: Namespace = "math".parse().unwrap();
        let org: OrgName = "acme".parse().unwrap();
        let expected = [ToolOrigin::Internal, ToolOrigin::Project(namespace.clone()), ToolOrigin::Org(org, namespace)];
        assert_eq!(origins, expected);
    }
}

/// Section 3: service interfaces. What the document provides by tags is provided by types here.
mod interfaces {
    use super::*;

    #[tokio::test]
    async fn the_executor_service_has_one_method_with_one_output_type_or_any() {
        let executor = Executor::new(Registry::builder().internal(internal()).build().unwrap());
        let any: Value = executor.run("calculator", json!({"a": 1, "b": 2})).await.unwrap();
        let typed: i64 = executor.run_as("calculator", json!({"a": 1, "b": 2})).await.unwrap();
        assert_eq!((any, typed), (json!(3), 3));
    }

    #[tokio::test]
    async fn the_service_is_a_source_of_tools_and_dispatches() {
        let executor = Executor::new(Registry::builder().internal(internal()).build().unwrap());
        let dispatch: &dyn Dispatch = &executor;
        assert_eq!(dispatch.list(&RunOptions::new())[0].name, "calculator");
        let calls = vec![ToolCall::new("c1", "calculator", r#"{"a": 1, "b": 2}"#).into()];
        assert!(dispatch.run_calls(calls, RunOptions::new()).collect_results().await[0].is_ok());
    }
}

/// Section 4: errors.
mod errors {
    use super::*;

    /// Each error is a separate type, can be matched, and wraps its cause.
    #[tokio::test]
    async fn there_are_four_errors_and_each_wraps_its_cause() {
        let wrong = Tool::dynamic("wrong").params_json(json!({"type": "object"})).success_json(json!({"type": "null"}));
        let wrong = wrong.handler(|_: Value, _| async { json!(1) }).unwrap();
        let broken = Tool::new("broken")
            .try_handler_opaque(|(), _| async { Err::<(), _>(std::io::Error::other("the disk is full")) });
        let tools = internal().with(wrong).unwrap().with(broken.unwrap()).unwrap();
        let executor = Executor::new(Registry::builder().internal(tools).build().unwrap());
        let mut seen = Vec::new();
        for (name, input) in
            [("none", json!({})), ("calculator", json!({"a": 1})), ("wrong", json!({})), ("broken", json!({}))]
        {
            let error = executor.run(name, input).await.unwrap_err();
            assert!(name == "none" || error.source().is_some(), "{error:?}");
            seen.push(match &error {
                ExecutorError::NotFound(LookupError::NotFound { name, .. }) => format!("not found: {name}"),
                ExecutorError::InputValidation { tool, .. } => format!("input of {tool}: {}", error.issues().len()),
                ExecutorError::OutputValidation { tool, .. } => format!("output of {tool}: {}", error.issues().len()),
                ExecutorError::Execution { tool, .. } => format!("{tool}: {}", chain(&error).last().unwrap()),
                other => panic!("{other:?}"),
            });
        }
        assert_eq!(
            seen,
            ["not found: none", "input of calculator: 1", "output of wrong: 1", "broken: the disk is full"]
        );
    }
}

/// Section 5: registration and merging.
mod registration {
    use super::*;

    #[tokio::test]
    async fn the_internal_toolbox_is_built_in_code_and_has_simple_names() {
        let registry = Registry::builder().internal(internal()).build().unwrap();
        assert_eq!(registry.find("calculator").unwrap().name.to_string(), "calculator");
    }

    /// The builder returns from a toolbox to its workspace, so that a chain can have several.
    #[test]
    fn the_builder_is_fluent_and_reports_all_faults() {
        let chain = Workspace::builder().toolbox("math").tool(tool("add")).done().toolbox("text").tool(tool("cut"));
        assert_eq!(chain.build().unwrap().toolboxes().len(), 2);
        let broken = Workspace::builder().toolbox("").tool(tool("a")).done().toolbox("b/c").tool(tool("d"));
        let error = broken.tool(tool("d")).build().unwrap_err();
        assert_eq!(error.faults.len(), 3, "{error}");
    }

    /// Project over organisation over internal. It applies where the names can be the same at all: names without the
    /// parts that tell the sources apart.
    #[tokio::test]
    async fn precedence_is_project_then_organisation_then_internal() {
        let saying = |namespace: &str, text: &'static str, org: Option<&str>| {
            let builder = org.map_or_else(Workspace::builder, Workspace::org_builder);
            builder.toolbox(namespace).exported(tool_saying("add", text)).build().unwrap()
        };
        let standard: Toolkit = [tool_saying("add", "internal")].into_iter().collect();
        let by_internal = Registry::builder().internal(standard);
        let run = async |registry: Registry| Executor::new(registry).run("add", json!({})).await.unwrap();
        assert_eq!(run(by_internal.build().unwrap()).await, "internal");

        let standard: Toolkit = [tool_saying("add", "internal")].into_iter().collect();
        let registry =
            Registry::builder().internal(standard).workspace(saying("m", "org", Some("acme"))).build().unwrap();
        assert_eq!(run(registry.clone()).await, "org");
        registry.set_workspace(saying("m", "project", None)).unwrap();
        assert_eq!(run(registry.clone()).await, "project");

        let listed = registry.list();
        let project = listed.iter().find(|tool| tool.name.to_string() == "m/add").unwrap();
        let hidden: Vec<String> = project.hides.iter().map(FullName::to_string).collect();
        assert_eq!(hidden, ["add", "acme/m/add"]);
        // Overridden tools stay addressable by their full names.
        let executor = Executor::new(registry);
        assert_eq!(executor.run("acme/m/add", json!({})).await.unwrap(), "org");
        assert_eq!(executor.run("/add", json!({})).await.unwrap(), "internal");
    }
}

/// Section 6: the execution service, step by step.
mod execution {
    use super::*;

    /// A tool that counts how often its handler was reached.
    fn counted() -> (Tool, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let tool =
            Tool::new("add").success_json(json!({"type": "integer", "maximum": 10})).handler(move |sum: Sum, _| {
                counter.fetch_add(1, Ordering::Relaxed);
                async move { sum.a + sum.b }
            });
        (tool.unwrap(), count)
    }

    fn executor(permissions: Option<Permissions>) -> (Executor, Arc<AtomicUsize>) {
        let (tool, count) = counted();
        let project = Workspace::builder().toolbox("math").tool(tool).build().unwrap();
        let registry = Registry::builder().workspace(project).build().unwrap();
        let builder = Executor::builder();
        let builder = permissions.into_iter().fold(builder, ExecutorBuilder::permissions);
        (builder.build(registry), count)
    }

    #[tokio::test]
    async fn step_1_looks_the_tool_up() {
        // Nothing else is looked at: neither the permission nor the input would be accepted.
        let (executor, _) = executor(Some(permitted(&[])));
        let error = executor.run("math/none", json!("no object")).await.unwrap_err();
        assert!(matches!(error, ExecutorError::NotFound(_)), "{error:?}");
    }

    #[tokio::test]
    async fn step_2_checks_the_permission_before_the_input() {
        let (executor, count) = executor(Some(permitted(&["text/*"])));
        let error = executor.run("math/add", json!("no object")).await.unwrap_err();
        assert!(matches!(error, ExecutorError::Execution { .. }), "{error:?}");
        assert_eq!(error.kind(), &FailureKind::PermissionDenied);
        assert!(chain(&error).iter().any(|text| text.contains("`default`")), "{:?}", chain(&error));
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    /// The current execution context's permissions are ambient, as in the document. Without any, the document denies;
    /// here permissions that are set deny by default.
    #[tokio::test]
    async fn step_2_reads_the_permissions_of_the_current_scope() {
        let (executor, count) = executor(None);
        let run = || executor.run("math/add", json!({"a": 1, "b": 2}));
        assert_eq!(run().await.unwrap(), 3);
        assert_eq!(permitted(&["math/*"]).scope(run()).await.unwrap(), 3);
        let denied = permitted(&["text/*"]).scope(run()).await.unwrap_err();
        assert_eq!(denied.kind(), &FailureKind::PermissionDenied);
        let nested = permitted(&["text/*"]).scope(async { permitted(&["math/*"]).scope(run()).await }).await;
        assert_eq!(nested.unwrap_err().kind(), &FailureKind::PermissionDenied);
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    /// Toolkits in permissions are named sets.
    #[tokio::test]
    async fn step_2_resolves_named_sets() {
        let set = haft_registry::RuleSetSettings::new().allow("math/*");
        let permissions = PermissionSettings::new().set("calculating", set).uses("calculating").build().unwrap();
        assert!(executor(Some(permissions)).0.run("math/add", json!({"a": 1, "b": 2})).await.is_ok());
    }

    #[tokio::test]
    async fn step_3_validates_the_input() {
        let (executor, count) = executor(Some(permitted(&["math/*"])));
        let error = executor.run("math/add", json!({"a": "1", "b": []})).await.unwrap_err();
        assert!(matches!(error, ExecutorError::InputValidation { .. }), "{error:?}");
        assert_eq!(error.issues().iter().map(|issue| issue.pointer.as_str()).collect::<Vec<_>>(), ["/a", "/b"]);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    /// An implementation receives the services that it needs, and only when it is dispatched.
    #[tokio::test]
    async fn step_4_dispatches_with_services() {
        struct Account(&'static str);

        let who = Tool::new("who").depends_on::<Account>();
        let who = who.handler(|(), cx: Cx| async move { cx.service::<Account>().map_or("", |account| account.0) });
        let project = Workspace::builder().toolbox("mail").tool(who.unwrap()).tool(tool("other")).build().unwrap();
        let registry = Registry::builder().workspace(project).build().unwrap();
        let without = Executor::new(registry.clone());
        let error = without.run("mail/who", json!({})).await.unwrap_err();
        assert!(chain(&error).iter().any(|text| text.contains("Account")), "{:?}", chain(&error));
        assert!(without.run("mail/other", json!({})).await.is_ok());
        let with = Executor::builder().service(Account("ana")).build(registry);
        assert_eq!(with.run("mail/who", json!({})).await.unwrap(), "ana");
    }

    /// The HTTP client is a common service; building the request, its errors and its response belong to the
    /// implementation.
    #[tokio::test]
    async fn step_4_dispatches_http_implementations_with_the_client() {
        let settings = json!({"url": "http://127.0.0.1:9/none"});
        let tools = haft_tools::http::HttpKind::new().build(Entry::new("get", settings)).await.unwrap().tools;
        let toolbox = Workspace::builder().toolbox("web");
        let project = tools.into_iter().fold(toolbox, ToolboxBuilder::tool).build().unwrap();
        let registry = Registry::builder().workspace(project).build().unwrap();
        let client = haft_http::HttpClient::builder().no_proxy().guarded(haft_http::AddressGuard::new()).unwrap();
        let executor = Executor::builder().service(client).build(registry);
        let error = executor.run("web/get", json!({})).await.unwrap_err();
        assert!(matches!(error, ExecutorError::Execution { .. }), "{error:?}");
        assert!(chain(&error).iter().any(|text| text.contains("loopback")), "{:?}", chain(&error));
    }

    #[tokio::test]
    async fn step_5_validates_the_output() {
        let (executor, count) = executor(Some(permitted(&["math/*"])));
        let error = executor.run("math/add", json!({"a": 7, "b": 8})).await.unwrap_err();
        assert!(matches!(error, ExecutorError::OutputValidation { .. }), "{error:?}");
        assert_eq!((error.issues().len(), count.load(Ordering::Relaxed)), (1, 1));
    }

    #[tokio::test]
    async fn step_6_returns_the_validated_output() {
        #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        struct Total {
            total: i64,
        }

        let total = Tool::new("total").handler(|sum: Sum, _| async move { Total { total: sum.a + sum.b } }).unwrap();
        let executor = Executor::new(Registry::builder().internal([total].into_iter().collect()).build().unwrap());
        let output: Total = executor.run_as("total", json!({"a": 1, "b": 2})).await.unwrap();
        assert_eq!(output, Total { total: 3 });
    }
}

/// Section 7: key patterns.
mod patterns {
    use super::*;

    /// Registries are composed of layers that can be replaced one by one, while runs keep what they began with.
    #[tokio::test]
    async fn layers_are_composed_and_replaced() {
        let registry = registry(&["now"], &["math/add"], &[("acme", &["math/log"])]);
        let executor = Executor::new(registry.clone());
        let before = executor.snapshot();
        registry
            .set_workspace(Workspace::org_builder("acme").toolbox("math").tool(tool("exp")).build().unwrap())
            .unwrap();
        assert!(executor.run("acme/math/log", json!({})).await.is_err());
        assert!(executor.run("acme/math/exp", json!({})).await.is_ok());
        let calls = vec![ToolCall::new("c1", "acme/math/log", "").into()];
        assert!(before.run_calls(calls, RunOptions::new()).collect_results().await[0].is_ok());
    }

    /// Execution-specific context is passed implicitly, also to calls that tools make themselves and to handlers that
    /// run in their own tasks.
    #[tokio::test]
    async fn permissions_follow_nested_and_spawned_calls() {
        let inner = Executor::new(registry(&[], &["math/add"], &[]));
        let outer = Tool::new("outer").handler(move |(), _| {
            let inner = inner.clone();
            async move { inner.run("math/add", json!({})).await.map_err(|error| error.kind().to_string()).is_ok() }
        });
        let executor =
            Executor::new(Registry::builder().internal([outer.unwrap()].into_iter().collect()).build().unwrap());
        for options in [RunOptions::new(), RunOptions::new().spawned()] {
            let run = || {
                let calls = vec![ToolCall::new("c1", "outer", "").into()];
                executor.run_calls(calls, options.clone()).collect_results()
            };
            assert_eq!(permitted(&["outer", "math/add"]).scope(run()).await[0].to_model_text(), "true");
            assert_eq!(permitted(&["/outer"]).scope(run()).await[0].to_model_text(), "false");
        }
    }
}
