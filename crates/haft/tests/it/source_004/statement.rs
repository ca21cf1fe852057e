//! The statements of document 004.

use crate::source::{Statement, departs, not_tested, says, shown_by};

const KINDS: &str = "haft-tools::source_004::implementations_of_all_kinds_are_tools_with_input_and_output_schemas";
const MAPS: &str = "haft-tools::source_004::a_toolbox_is_a_map_of_simple_names_and_a_workspace_a_map_of_namespaces";
const FULL_NAMES: &str = "haft-tools::source_004::registry_data_is_keyed_by_fully_qualified_names";
const FOUR_ERRORS: &str = "haft-tools::source_004::there_are_four_errors_and_each_wraps_its_cause";
const INTERNAL: &str = "haft-tools::source_004::the_internal_toolbox_is_built_in_code_and_has_simple_names";
const SERVICES: &str = "haft-tools::source_004::step_4_dispatches_with_services";
const HTTP: &str = "haft-tools::source_004::step_4_dispatches_http_implementations_with_the_client";
const PERMISSION: &str = "haft-tools::source_004::step_2_checks_the_permission_before_the_input";
const FOLLOW: &str = "haft-tools::source_004::permissions_follow_nested_and_spawned_calls";

pub(super) const STATEMENTS: &[Statement] = &[
    says(
        "2 data structures",
        "a tool's definition has a simple name and a description that covers its parameters",
        shown_by(
            "haft-tools::source_004::a_definition_has_a_simple_name_and_a_description_that_includes_its_parameters",
        ),
    ),
    says("2 data structures", "a tool's implementation is one of several kinds", shown_by(KINDS)),
    says("2 data structures", "every implementation has an input schema and an output schema", shown_by(KINDS)),
    says(
        "2 data structures",
        "a function receives its input after validation",
        shown_by("haft-registry::executor::invalid_input_lists_all_issues_and_runs_nothing"),
    ),
    says(
        "2 data structures",
        "what a function returns must match its output schema",
        shown_by("haft-registry::executor::invalid_output_is_an_error_of_its_own"),
    ),
    says("2 data structures", "the executor provides the services that a function requires", shown_by(SERVICES)),
    says(
        "2 data structures",
        "an HTTP implementation maps its input to a request",
        shown_by("haft-tools::http::mapping::the_rest_goes_to_the_query_of_some_methods_and_to_a_json_body_of_others"),
    ),
    says(
        "2 data structures",
        "an HTTP implementation maps the response to its output",
        shown_by("haft-tools::http::response::the_type_of_the_body_decides"),
    ),
    says(
        "2 data structures",
        "an application can add implementations of its own kind",
        shown_by("haft-workspace::file::schema::kinds_of_others_are_part_of_it"),
    ),
    says("2 data structures", "a toolbox maps simple names to the tools of a namespace", shown_by(MAPS)),
    says("2 data structures", "a workspace maps namespaces to the toolboxes of a project", shown_by(MAPS)),
    says(
        "2 data structures",
        "the registry's tools have the names `tool`, `ns/tool` and `org/ns/tool`",
        shown_by(FULL_NAMES),
    ),
    says(
        "3 interfaces",
        "a standard toolbox, a project and organisations are the sources of tools",
        shown_by(FULL_NAMES),
    ),
    says(
        "3 interfaces",
        "the executor has one method that takes a name and an input and returns the output or any value",
        shown_by("haft-tools::source_004::the_executor_service_has_one_method_with_one_output_type_or_any"),
    ),
    says(
        "3 interfaces",
        "a tag provides the executor to other services",
        shown_by("haft-tools::source_004::the_service_is_a_source_of_tools_and_dispatches"),
    ),
    says("4 errors", "a name that no tool has is a `NotFound`", shown_by(FOUR_ERRORS)),
    says("4 errors", "an input that its schema rejects is an `InputValidation` with the cause", shown_by(FOUR_ERRORS)),
    says(
        "4 errors",
        "an output that its schema rejects is an `OutputValidation` with the cause",
        shown_by(FOUR_ERRORS),
    ),
    says(
        "4 errors",
        "a failure of the implementation is an `Execution` with the cause",
        shown_by("haft-registry::executor::failures_of_execution_keep_their_kind_and_their_cause"),
    ),
    says("5 registration", "the standard toolbox is built in code", shown_by(INTERNAL)),
    says(
        "5 registration",
        "an application provides its workspace as data",
        shown_by("haft-tools::source_004::layers_are_composed_and_replaced"),
    ),
    says("5 registration", "a tool's full name follows from its source", shown_by(FULL_NAMES)),
    says(
        "5 registration",
        "of equal full names a project's tool wins over an organisation's, and that over a standard one",
        departs(
            "the merged map applies precedence to equal full names",
            "haft-tools::source_004::precedence_is_project_then_organisation_then_internal",
        ),
    ),
    says(
        "5 registration",
        "a tool that another one hides is a warning",
        departs("an override is a warning", "haft-registry::live::each_tool_that_becomes_hidden_is_warned_about_once"),
    ),
    says(
        "5 registration",
        "a builder makes a workspace from toolboxes and tools",
        shown_by("haft-tools::source_004::the_builder_is_fluent_and_reports_all_faults"),
    ),
    says("6 execution", "common services are given once, for all tools", shown_by(SERVICES)),
    says(
        "6 execution",
        "a lookup that fails is a `NotFound`",
        shown_by("haft-tools::source_004::step_1_looks_the_tool_up"),
    ),
    says("6 execution", "the permission is checked before the input", shown_by(PERMISSION)),
    says(
        "6 execution",
        "the permissions are those of the current scope",
        shown_by("haft-tools::source_004::step_2_reads_the_permissions_of_the_current_scope"),
    ),
    says(
        "6 execution",
        "a rule may name a set of tools",
        shown_by("haft-tools::source_004::step_2_resolves_named_sets"),
    ),
    says("6 execution", "a tool that is not permitted is an `Execution` error", shown_by(PERMISSION)),
    says(
        "6 execution",
        "an input is decoded by the tool's schema",
        shown_by("haft-tools::source_004::step_3_validates_the_input"),
    ),
    says("6 execution", "a function gets the services that only it requires", shown_by(SERVICES)),
    says("6 execution", "an HTTP tool is dispatched with the executor's client", shown_by(HTTP)),
    says(
        "6 execution",
        "an error of HTTP or of the network is an `Execution` error",
        shown_by("haft-tools::http::response::every_other_status_is_a_failure_whose_body_can_be_shown"),
    ),
    says(
        "6 execution",
        "an output is decoded by the tool's schema",
        shown_by("haft-tools::source_004::step_5_validates_the_output"),
    ),
    says(
        "6 execution",
        "the validated output is returned",
        shown_by("haft-tools::source_004::step_6_returns_the_validated_output"),
    ),
    says(
        "7 patterns",
        "services share behaviour by composition and not by inheritance",
        not_tested("Rust has no inheritance; nothing to show"),
    ),
    says("7 patterns", "the kinds of implementations are a tagged union", shown_by(KINDS)),
    says(
        "7 patterns",
        "layers compose and can be replaced",
        shown_by("haft-tools::source_004::layers_are_composed_and_replaced"),
    ),
    says("7 patterns", "the context of a call carries its permissions implicitly", shown_by(FOLLOW)),
    says("7 patterns", "each failure has an error type of its own", shown_by(FOUR_ERRORS)),
];
