//! Every exported name of document 002, and its counterpart.
//!
//! A counterpart is a type or an expression that must compile; a name without one has a reason. Members of an export
//! are listed after it, with a dot. The number of exports in each category is that of the document.

use std::collections::HashSet;

use haft::approval::{ApprovalCx, ApprovalPolicy};
use haft::conversation::Item;
use haft::run::{CallError, HandlerResult, ToolFailure, ToolResult};
use haft::schema::{Dialect, JsonText, Schema, secure_json};
use haft::tool::{
    Annotations, Cx, Destructive, EmptyParams, FailureMode, Handle, HandlerOutput, Idempotent, Meta, OpenWorld,
    ProviderDefinition, ProviderTool, Readonly, Strict, Title, Tool, ToolKind, ToolType,
};
use haft::toolkit::{NotRunnable, Toolkit};
use haft::wire::RenderedTools;
use serde_json::Value;

use crate::source::fault_of_reason;

/// The categories of the document and the number of their exports; names that are both a value and a type count twice.
const CATEGORIES: [(&str, usize); 10] = [
    ("annotations", 7),
    ("constructors", 3),
    ("converting", 1),
    ("getters", 3),
    ("guards", 3),
    ("models", 11),
    ("schemas", 2),
    ("type IDs", 6),
    ("unsafe", 1),
    ("utility types", 22),
];

/// The form of the document that lists its utility types by name.
const UTILITY_TYPES: [&str; 22] = [
    "Any",
    "AnyDynamic",
    "AnyProviderDefined",
    "Failure",
    "FailureEncoded",
    "FailureResult",
    "FailureResultEncoded",
    "HandlerError",
    "HandlerServices",
    "HandlersFor",
    "Name",
    "Parameters",
    "ParametersEncoded",
    "ParametersSchema",
    "RequiresHandler",
    "Result",
    "ResultDecodingServices",
    "ResultEncoded",
    "ResultEncodingServices",
    "Success",
    "SuccessEncoded",
    "SuccessSchema",
];

enum Counterpart {
    /// There is one: the type or expression compiled.
    Here,
    /// The reason that there is none.
    None(&'static str),
}

struct Row {
    category: &'static str,
    name: &'static str,
    counterpart: Counterpart,
}

/// Creates the rows of one category. A counterpart is `type T`, `value E`, or `none "reason"`.
macro_rules! rows {
    ($rows:ident, $category:literal: $($name:literal => $form:ident $part:tt;)+) => {
        $($rows.push(Row { category: $category, name: $name, counterpart: counterpart!($form $part) });)+
    };
}

macro_rules! counterpart {
    (type [$part:ty]) => {{
        let _: Option<fn($part)> = None;
        Counterpart::Here
    }};
    (value [$part:expr]) => {{
        let _ = $part;
        Counterpart::Here
    }};
    (none [$reason:literal]) => {
        Counterpart::None($reason)
    };
}

/// Creates the rows of all categories, in the order of the document.
fn rows<T: Handle>() -> Vec<Row> {
    let mut rows = Vec::new();
    functions(&mut rows);
    models::<T>(&mut rows);
    constants(&mut rows);
    utility_types::<T>(&mut rows);
    rows
}

fn functions(rows: &mut Vec<Row>) {
    rows! { rows, "annotations":
        "Destructive" => type [Destructive];
        "Idempotent" => type [Idempotent];
        "Meta" => type [Meta];
        "OpenWorld" => type [OpenWorld];
        "Readonly" => type [Readonly];
        "Strict" => type [Strict];
        "Title" => type [Title];
    }
    rows! { rows, "constructors":
        "dynamic" => value [|| Tool::dynamic("name")];
        "make" => value [|| Tool::new("name")];
        "providerDefined" => value [|| Tool::provider("vendor.tool")];
    }
    rows! { rows, "converting":
        "getJsonSchemaFromSchema" => value [|schema: &Schema| -> Value { schema.as_json().clone() }];
    }
    rows! { rows, "getters":
        "getDescription" => value [|tool: &Tool| -> Option<String> { tool.description().map(str::to_owned) }];
        "getJsonSchema" => value [|tool: &Tool, dialect: &dyn Dialect| (tool.json_schema().clone(), tool.json_schema_for(dialect))];
        "getStrictMode" => value [|tool: &Tool| -> Option<bool> { tool.strict() }];
    }
    rows! { rows, "guards":
        "isDynamic" => value [Tool::is_dynamic];
        "isProviderDefined" => value [Tool::is_provider_defined];
        "isUserDefined" => value [Tool::is_user_defined];
    }
}

fn models<T: Handle>(rows: &mut Vec<Row>) {
    rows! { rows, "models":
        "Dynamic" => value [ToolKind::Dynamic];
        "Dynamic.jsonSchema" => value [|tool: &Tool| tool.parameters().is_raw().then(|| tool.json_schema().clone())];
        "FailureMode" => type [FailureMode];
        "Handler" => value [|handler: T| Tool::from_handler(handler)];
        "Handler.name" => value [<T as ToolType>::NAME];
        "Handler.context" => value [|kit: &Toolkit| kit.services_of("name").cloned()];
        "Handler.handler" => value [|tool: &Tool| tool.has_handler()];
        "HandlerOutput" => type [HandlerOutput<<T as ToolType>::Success>];
        "HandlerResult" => type [HandlerResult];
        "HandlerResult.result" => value [|result: HandlerResult| -> ToolResult { result.result }];
        "HandlerResult.encodedResult" => value [|result: HandlerResult| -> JsonText { result.encoded }];
        "HandlerResult.isFailure" => value [|result: HandlerResult| -> bool { result.is_failure }];
        "HandlerResult.preliminary" => value [|result: HandlerResult| -> bool { result.preliminary }];
        "NameMapper" => type [RenderedTools];
        "NameMapper.getCustomName" => value [|tools: &RenderedTools, name: &str| tools.tool_name(name).into_owned()];
        "NameMapper.getProviderName" => value [|tools: &RenderedTools, name: &str| tools.wire_name(name).into_owned()];
        "NameMapper.#customToProvider" => none ["a private field of the class"];
        "NameMapper.#providerToCustom" => none ["a private field of the class"];
        "NeedsApproval" => type [ApprovalPolicy];
        "NeedsApprovalContext" => type [ApprovalCx];
        "NeedsApprovalContext.toolCallId" => value [|cx: ApprovalCx| -> haft::run::CallId { cx.call_id }];
        "NeedsApprovalContext.messages" => value [|cx: ApprovalCx| -> Vec<Item> { cx.messages.to_vec() }];
        "NeedsApprovalFunction" => value [|| ApprovalPolicy::when(|_: Value, _: ApprovalCx| async { true })];
        "ProviderDefined" => type [ProviderTool];
        "ProviderDefined.id" => value [ProviderDefinition::id];
        "ProviderDefined.args" => value [ProviderDefinition::args];
        "ProviderDefined.argsSchema" => value [ProviderDefinition::args_schema];
        "ProviderDefined.providerName" => value [ProviderDefinition::provider_name];
        "ProviderDefined.requiresHandler" => value [ProviderDefinition::requires_handler];
        "Tool" => type [Tool];
        "Tool.id" => value [Tool::id];
        "Tool.name" => value [Tool::name];
        "Tool.description" => value [Tool::description];
        "Tool.failureMode" => value [Tool::failure_mode];
        "Tool.parametersSchema" => value [Tool::parameters];
        "Tool.successSchema" => value [Tool::success];
        "Tool.failureSchema" => value [Tool::failure];
        "Tool.annotations" => value [Tool::annotations];
        "Tool.needsApproval" => value [Tool::approval];
        "Tool.addDependency" => value [Tool::add_run_dependency::<Cx>];
        "Tool.setSuccess" => value [Tool::set_success];
        "Tool.setFailure" => value [Tool::set_failure];
        "Tool.setParameters" => value [Tool::set_parameters];
        "Tool.annotate" => value [|tool: &Tool| tool.annotate(Readonly(true))];
        "Tool.annotateMerge" => value [|tool: &Tool, more: Annotations| tool.annotate_merge(more)];
    }
}

fn constants(rows: &mut Vec<Row>) {
    rows! { rows, "schemas":
        "EmptyParams" => value [Schema::empty];
        "EmptyParams (type)" => type [EmptyParams];
    }
    rows! { rows, "type IDs":
        "DynamicTypeId" => none ["kinds are the enum ToolKind, not markers on objects"];
        "DynamicTypeId (type)" => none ["kinds are the enum ToolKind, not markers on objects"];
        "ProviderDefinedTypeId" => none ["kinds are the enum ToolKind, not markers on objects"];
        "ProviderDefinedTypeId (type)" => none ["kinds are the enum ToolKind, not markers on objects"];
        "TypeId" => none ["a tool is known by its type, not by a marker"];
        "TypeId (type)" => none ["a tool is known by its type, not by a marker"];
    }
    rows! { rows, "unsafe":
        "unsafeSecureJsonParse" => value [|text: &str| secure_json::parse(text)];
    }
}

fn utility_types<T: ToolType>(rows: &mut Vec<Row>) {
    rows! { rows, "utility types":
        "Any" => type [Tool];
        "AnyDynamic" => value [Tool::is_dynamic];
        "AnyProviderDefined" => value [Tool::is_provider_defined];
        "Failure" => type [<T as ToolType>::Failure];
        "FailureEncoded" => value [|failure: &ToolFailure| -> Option<JsonText> { failure.details.as_deref().cloned() }];
        "FailureResult" => type [CallError<<T as ToolType>::Failure>];
        "FailureResultEncoded" => value [|result: &HandlerResult| -> JsonText { result.encoded.clone() }];
        "HandlerError" => type [haft::tool::HandlerError<<T as ToolType>::Failure>];
        "HandlerServices" => type [<T as ToolType>::Services];
        "HandlersFor" => value [|missing: &NotRunnable| missing.missing_handlers.len()];
        "Name" => value [<T as ToolType>::NAME];
        "Parameters" => type [<T as ToolType>::Params];
        "ParametersEncoded" => value [|call: &haft::run::ToolCall| -> String { call.arguments.clone() }];
        "ParametersSchema" => value [|tool: &Tool| -> Schema { tool.parameters().clone() }];
        "RequiresHandler" => value [Tool::requires_handler];
        "Result" => type [Result<<T as ToolType>::Success, CallError<<T as ToolType>::Failure>>];
        "ResultDecodingServices" => none ["decoding is serde's and needs no services"];
        "ResultEncoded" => value [|result: &HandlerResult| -> JsonText { result.encoded.clone() }];
        "ResultEncodingServices" => none ["encoding is serde's and needs no services"];
        "Success" => type [<T as ToolType>::Success];
        "SuccessEncoded" => value [|result: &ToolResult| -> Option<JsonText> { result.value().cloned() }];
        "SuccessSchema" => value [|tool: &Tool| -> Schema { tool.success().clone() }];
    }
}

/// A tool whose types stand for those of any.
struct Sample;

impl ToolType for Sample {
    const NAME: &'static str = "sample";
    type Params = u8;
    type Success = u8;
    type Failure = String;
    type Services = ();
}

impl Handle for Sample {
    async fn handle(&self, number: u8, _cx: &Cx) -> Result<u8, haft::tool::HandlerError<String>> {
        Ok(number)
    }
}

#[test]
fn every_name_has_a_counterpart_or_a_reason() {
    let rows = rows::<Sample>();
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    for Row { category, name, counterpart } in &rows {
        if !seen.insert((*category, *name)) {
            faults.push(format!("{category}: {name} is there twice"));
        }
        if let Counterpart::None(reason) = counterpart {
            faults.extend(fault_of_reason(reason));
        }
    }
    for (category, count) in CATEGORIES {
        let exports = rows.iter().filter(|row| row.category == category && !row.name.contains('.')).count();
        if exports != count {
            faults.push(format!("{category} has {exports} exports of {count}"));
        }
    }
    let unknown = rows.iter().filter(|row| !CATEGORIES.iter().any(|(category, _)| *category == row.category));
    faults.extend(unknown.map(|row| format!("{} is no category", row.category)));
    let utilities: Vec<_> = rows.iter().filter(|row| row.category == "utility types").map(|row| row.name).collect();
    assert_eq!(utilities, UTILITY_TYPES, "in the order of the document's overview");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(CATEGORIES.iter().map(|(_, count)| count).sum::<usize>(), 59);
}

/// Members belong to an export that is listed before them.
#[test]
fn members_follow_their_export() {
    let rows = rows::<Sample>();
    let mut export = "";
    for row in &rows {
        match row.name.split_once('.') {
            Some((owner, _)) => assert_eq!(owner, export, "{}", row.name),
            None => export = row.name,
        }
    }
    assert!(rows.iter().filter(|row| row.name.contains('.')).count() > 30);
}

/// Few names lack a counterpart, and all of them for a reason of the language.
#[test]
fn names_without_a_counterpart_are_few() {
    let without: Vec<_> =
        rows::<Sample>().into_iter().filter(|row| matches!(row.counterpart, Counterpart::None(_))).collect();
    let names: Vec<_> = without.iter().map(|row| row.name).collect();
    assert!(names.len() <= 10, "{names:?}");
}
