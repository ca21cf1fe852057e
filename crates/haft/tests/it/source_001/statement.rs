//! The statements of document 001.

use crate::source::{Statement, departs, not_tested, says, shown_by};

const ANY_SHAPE: &str = "haft-executor::flexible_parameters::arrays_tuples_maps_and_primitives";
const UNION: &str = "haft-executor::flexible_parameters::an_untagged_union";
const STRUCT: &str = "haft-executor::flexible_parameters::a_struct";
const RENDERED: &str = "haft-executor::flexible_parameters::schemas_render_as_their_type";
const UNIT: &str = "haft-executor::flexible_parameters::the_unit_type_is_the_closed_empty_object";
const PROVIDER: &str =
    "haft-executor::flexible_parameters::provider_defined_tools_accept_any_type_for_arguments_and_parameters";
const POLICY: &str = "haft-executor::flexible_parameters::an_approval_policy_reads_any_type";
const REPLACED: &str = "haft-executor::flexible_parameters::replaced_parameters_may_be_of_any_shape";
const CALL: &str = "haft-executor::flexible_parameters::a_call_carries_arguments_of_any_shape";
const LOCAL_DEFAULTS: &str = "haft-executor::tool_api::a_local_tool_has_its_defaults";
const PROVIDER_DEFAULTS: &str = "haft-executor::tool_api::a_provider_defined_tool_has_its_defaults";
const OPTIONS: &str = "haft::source_001::every_option_of_a_local_tool_is_kept";
const CALL_FIELDS: &str = "haft::source_001::a_call_is_local_and_without_metadata_unless_it_says_otherwise";

pub(super) const STATEMENTS: &[Statement] = &[
    says("overview", "parameters may have any schema, as success and failure may", shown_by(ANY_SHAPE)),
    says("overview", "parameters may be a union", shown_by(UNION)),
    says("overview", "parameters may be an array or another type", shown_by(ANY_SHAPE)),
    says(
        "overview",
        "loose fields are no longer parameters",
        not_tested("migrates code of another library; parameters were always a type here"),
    ),
    says(
        "1.1",
        "success and failure may have any schema",
        shown_by("haft::source_001::successes_and_failures_are_of_any_type"),
    ),
    says("1.1", "parameters are not restricted to structs", shown_by(ANY_SHAPE)),
    says("1.2", "a provider-defined tool may have a union of inputs", shown_by(PROVIDER)),
    says(
        "2.1",
        "parameters are one whole schema, not a list of fields",
        shown_by("haft::source_001::the_parameters_of_a_tools_type_are_any_type"),
    ),
    says("2.2", "the JSON Schema of any type is generated", shown_by(RENDERED)),
    says("2.2", "only struct-like types without properties become the empty object", shown_by(RENDERED)),
    says(
        "2.3",
        "providers read the JSON Schema of a tool, whatever its shape",
        shown_by("haft::wires::every_wire_is_sent_parameters_of_any_shape"),
    ),
    says("2.3", "arguments of any schema are decoded for the handler", shown_by(ANY_SHAPE)),
    says("3.1 A", "the parameters of a tool are any schema", shown_by(ANY_SHAPE)),
    says("3.1 A", "the args of a provider-defined tool are any schema", shown_by(PROVIDER)),
    says("3.1 A", "the parameters of a provider-defined tool are any schema", shown_by(PROVIDER)),
    says("3.1 B", "one type stands for tools with parameters of any schema", shown_by(ANY_SHAPE)),
    says("3.1 B", "one type stands for provider-defined tools with any args", shown_by(PROVIDER)),
    says(
        "3.1 B",
        "the type of a tool names the type of its parameters",
        shown_by("haft::source_001::the_parameters_of_a_tools_type_are_any_type"),
    ),
    says("3.1 C", "an approval function gets decoded parameters of any type", shown_by(POLICY)),
    says(
        "3.1 C",
        "an approval function gets the context of the call",
        shown_by("haft-executor::approval::policy::a_policy_knows_the_call_the_caller_and_the_conversation"),
    ),
    says(
        "3.1 C",
        "an approval function may be asynchronous",
        shown_by("haft::source_001::a_policy_may_wait_before_it_decides_on_any_type"),
    ),
    says(
        "3.1 C",
        "an approval function may return a plain boolean",
        shown_by("haft::source_001::a_policy_may_return_a_plain_boolean"),
    ),
    says(
        "3.1 C",
        "an approval function does not fail",
        departs(
            "an approval function cannot fail",
            "haft-executor::approval::policy::a_policy_that_fails_requires_approval",
        ),
    ),
    says(
        "3.1 C",
        "approval is required always, never, or by a function",
        shown_by("haft-executor::tool_api::approval_is_set_without_changing_the_original"),
    ),
    says("3.1 E", "omitted parameters are void", departs("omitted parameters are `Void`", UNIT)),
    says("3.1 E", "an omitted success is void", shown_by(LOCAL_DEFAULTS)),
    says("3.1 E", "an omitted failure allows none", shown_by(LOCAL_DEFAULTS)),
    says("3.1 E", "the failure mode is `error` unless it is set", shown_by(LOCAL_DEFAULTS)),
    says(
        "3.1 E",
        "description, parameters, success, failure, failure mode, dependencies and approval may be set",
        shown_by(OPTIONS),
    ),
    says("3.1 E", "dependencies are declared with the tool", shown_by(OPTIONS)),
    says("3.1 F", "args and success of a provider-defined tool are void by default", shown_by(PROVIDER_DEFAULTS)),
    says(
        "3.1 F",
        "parameters of a provider-defined tool are void by default",
        departs("unset parameters of a provider-defined tool are `Void`", PROVIDER_DEFAULTS),
    ),
    says("3.1 F", "a provider-defined tool allows no failure by default", shown_by(PROVIDER_DEFAULTS)),
    says("3.1 F", "a provider-defined tool requires no handler by default", shown_by(PROVIDER_DEFAULTS)),
    says(
        "3.1 F",
        "a provider-defined tool has a custom name and a provider name",
        shown_by("haft-executor::tool_api::a_provider_defined_tool_keeps_its_three_names_and_its_arguments"),
    ),
    says("3.1 G", "parameters are replaced by any schema", shown_by(REPLACED)),
    says(
        "3.1 G",
        "replacing parameters keeps everything else",
        shown_by(
            "haft-executor::tool_combinators::every_combinator_keeps_kind_and_id_and_does_not_change_the_original",
        ),
    ),
    says("3.1 H", "a struct without properties is the closed empty object", shown_by(UNIT)),
    says(
        "3.1 H",
        "every object type without properties is the closed empty object",
        departs("an object type without properties is the closed empty object", RENDERED),
    ),
    says("3.1 H", "unions, arrays and primitives are rendered as they are", shown_by(RENDERED)),
    says(
        "3.1 H",
        "definitions are attached to the schema",
        shown_by("haft::source_001::definitions_of_shared_and_recursive_types_are_part_of_the_schema"),
    ),
    says("3.2 A", "the parameters of a call are not restricted to objects", shown_by(CALL)),
    says("3.2 A", "a call has an id, a name, parameters and a provider-executed mark", shown_by(CALL_FIELDS)),
    says("3.2 B", "the parameters of a call pass through unchanged", shown_by(CALL_FIELDS)),
    says("3.2 B", "a call without the mark is not provider-executed", shown_by(CALL_FIELDS)),
    says("3.2 B", "a call without metadata has none", shown_by(CALL_FIELDS)),
    says(
        "3.2 B",
        "a call has a type tag and a fixed form",
        shown_by("haft-core::conversation_values::form::calls_and_answers_as_items"),
    ),
    says(
        "3.2 C",
        "the calls of a set of tools are a union of typed calls",
        shown_by("haft::tool_calls_derive::a_turn_is_matched_whole"),
    ),
    says("3.3", "the code execution tool with a union of inputs can be defined", shown_by(PROVIDER)),
    says("5.1", "a tool takes one of two structs", shown_by(UNION)),
    says(
        "5.1",
        "a function takes one of two structs",
        shown_by("haft::source_001::a_function_has_parameters_of_a_union_or_a_struct"),
    ),
    says("5.2", "a tool takes a struct", shown_by(STRUCT)),
    says(
        "5.2",
        "a parameter is one of several literals",
        shown_by("haft::source_001::a_function_has_parameters_of_a_union_or_a_struct"),
    ),
];
