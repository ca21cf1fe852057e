//! The statements of document 000.

use crate::source::{Statement, departs, mistake, not_tested, says, shown_by};

const WITHOUT_SETTINGS: &str = "haft-executor::dynamic_tools::without_settings_any_value_is_accepted_and_returned";
const EVERY_OPTION: &str = "haft-executor::dynamic_tools::every_option_is_kept";
const THREE_FORMS: &str = "haft-executor::dynamic_tools::parameters_are_a_type_a_schema_or_raw_json";
const DERIVED: &str = "haft-executor::dynamic_tools::a_type_gives_a_derived_schema";
const UNCHANGED: &str = "haft-executor::dynamic_tools::raw_json_is_kept_unchanged";
const DECODED: &str = "haft-executor::dynamic_tools::a_typed_handler_gets_decoded_parameters";
const PASSED_ON: &str = "haft-executor::dynamic_tools::a_raw_schema_passes_the_json_to_the_handler";
const ENFORCED: &str = "haft-executor::dynamic_tools::raw_schemas_are_enforced_in_full_by_default";
const DISCOVERED: &str = "haft-executor::dynamic_tools::tools_discovered_at_run_time_make_a_toolkit";
const AS_SAFE: &str = "haft-executor::dynamic_tools::a_typed_dynamic_tool_is_as_safe_as_a_local_one";
const IS_DYNAMIC: &str = "haft-executor::dynamic_tools::a_dynamic_tool_is_dynamic_however_its_parameters_were_given";
const OTHER_KINDS: &str = "haft-executor::dynamic_tools::other_kinds_are_not_dynamic";
const TYPED_OUTPUT: &str = "haft-executor::dynamic_tools::an_unknown_input_can_have_a_typed_output";
const NOT_ENFORCED: &str = "haft-executor::dynamic_tools::a_raw_schema_can_be_sent_without_being_enforced";
const BY_FUNCTION: &str = "haft-executor::dynamic_tools::a_function_can_validate_in_place_of_the_schema_or_after_it";

pub(super) const STATEMENTS: &[Statement] = &[
    says("overview", "tools can be defined whose schema is not known at compile time", shown_by(THREE_FORMS)),
    says("overview", "tools that a server lists at run time are supported", shown_by(DISCOVERED)),
    says(
        "overview",
        "functions that come from outside the program are supported",
        shown_by("haft::source_000::a_configuration_file_defines_tools"),
    ),
    says("overview", "plugins are supported", shown_by("haft::source_000::plugins_register_their_tools")),
    says(
        "1 current system",
        "a tool of the application has typed parameters, success and failure",
        shown_by("haft::typed_calls::a_declared_failure_is_returned_as_its_type"),
    ),
    says(
        "1 current system",
        "a provider-defined tool is built into the provider",
        shown_by("haft-executor::tool_api::a_provider_defined_tool_keeps_its_three_names_and_its_arguments"),
    ),
    says("1 gap", "a tool needs no schema at compile time", shown_by(DISCOVERED)),
    says(
        "1 gap",
        "parameters may be described by a configuration",
        shown_by("haft::source_000::a_configuration_file_defines_tools"),
    ),
    says("1 gap", "a JSON Schema without a type is sufficient", shown_by(PASSED_ON)),
    says("1 use cases", "tools of a server are discovered at run time", shown_by(DISCOVERED)),
    says(
        "1 use cases",
        "functions are loaded from a configuration",
        shown_by("haft::source_000::a_configuration_file_defines_tools"),
    ),
    says("1 use cases", "plugins register tools", shown_by("haft::source_000::plugins_register_their_tools")),
    says(
        "1 use cases",
        "plugins register tools while the program runs",
        shown_by("haft::source_000::plugins_come_and_go_while_the_program_runs"),
    ),
    says("1 use cases", "a schema may be written as JSON Schema", shown_by(UNCHANGED)),
    says(
        "2.1",
        "a schema is a type, JSON Schema with a validation or JSON Schema without one",
        shown_by("haft-executor::toolkits_guide::schema_form::one_rule_in_every_form_is_described_and_checked_alike"),
    ),
    says("2.1", "a schema of any library is accepted as the JSON Schema that it renders", shown_by(UNCHANGED)),
    says(
        "2.1",
        "without a validation any value passes unchanged",
        shown_by("haft::source_000::without_validation_the_handler_gets_the_parsed_json"),
    ),
    says("2.1", "the schemas of a server only guide the model", departs("raw JSON Schema is not validated", ENFORCED)),
    says("2.2", "in typed mode parameters are typed and validated, as for a local tool", shown_by(AS_SAFE)),
    says("2.2", "in JSON mode the model sees the raw schema", shown_by(UNCHANGED)),
    says("2.2", "in JSON mode the handler gets a free-form value", shown_by(PASSED_ON)),
    says("3.1", "a dynamic tool is a tool", shown_by("haft::source_000::a_dynamic_tool_is_used_wherever_a_tool_is")),
    says("3.1", "it has parameters, success, failure and a failure mode", shown_by(EVERY_OPTION)),
    says(
        "3.1",
        "it may have requirements",
        shown_by("haft::source_000::a_dynamic_tool_declares_the_services_it_needs"),
    ),
    says("3.1", "a marker distinguishes it from other kinds", shown_by(IS_DYNAMIC)),
    says(
        "3.1",
        "its parameters can be read, and it is known in which form they were given",
        shown_by("haft::source_000::the_parameters_report_whether_they_were_given_as_json"),
    ),
    says("3.2", "one constructor takes a type or a JSON Schema", shown_by(THREE_FORMS)),
    says(
        "3.2",
        "a description, parameters, success, failure, failure mode and an approval policy may be set",
        shown_by(EVERY_OPTION),
    ),
    says(
        "3.2",
        "the approval policy of a dynamic tool takes any parameters",
        shown_by("haft::source_000::a_policy_of_a_dynamic_tool_reads_any_value"),
    ),
    says("3.2", "every option may be left out", shown_by(WITHOUT_SETTINGS)),
    says("3.2", "parameters of a type are typed and their JSON Schema is derived", shown_by(DERIVED)),
    says("3.2", "parameters as JSON Schema are untyped and used directly", shown_by(UNCHANGED)),
    says("3.2", "omitted parameters are empty", departs("omitted parameters mean `Void`", WITHOUT_SETTINGS)),
    says("3.2", "an omitted success accepts any value", shown_by(WITHOUT_SETTINGS)),
    says("3.2", "an omitted failure allows none", shown_by(WITHOUT_SETTINGS)),
    says("3.2", "an omitted failure mode is `error`", shown_by(WITHOUT_SETTINGS)),
    says(
        "3.2",
        "the two forms are distinguished at run time",
        shown_by("haft::source_000::the_parameters_report_whether_they_were_given_as_json"),
    ),
    says("3.3", "a guard recognises dynamic tools", shown_by(IS_DYNAMIC)),
    says("3.3", "a guard rejects all others", shown_by(OTHER_KINDS)),
    says("3.4", "one type stands for dynamic tools of any name and any schemas", shown_by(DISCOVERED)),
    says("4.1", "in typed mode the JSON Schema is derived", shown_by(DERIVED)),
    says("4.1", "in typed mode arguments are decoded and validated", shown_by(DECODED)),
    says("4.1", "in typed mode the handler gets the type", shown_by(DECODED)),
    says(
        "4.1",
        "an optional parameter may be absent",
        shown_by("haft::source_000::an_optional_parameter_may_be_left_out"),
    ),
    says(
        "4.1",
        "the success type is what the handler returns",
        shown_by("haft::source_000::an_optional_parameter_may_be_left_out"),
    ),
    says("4.2", "in JSON mode the schema is stored and used as it is", shown_by(UNCHANGED)),
    says("4.2", "validation in JSON mode is left open", departs("raw JSON Schema is not validated", ENFORCED)),
    says("4.2", "in JSON mode the handler gets any value", shown_by(PASSED_ON)),
    says("4.2", "in JSON mode the handler returns any value", shown_by(WITHOUT_SETTINGS)),
    says("5.1", "success is any value by default, encoded as JSON", shown_by(WITHOUT_SETTINGS)),
    says("5.1", "there are no typed failures by default", shown_by(WITHOUT_SETTINGS)),
    says(
        "5.1",
        "by default a failure is an error of the calling code",
        shown_by("haft-executor::handling::mode::in_mode_error_every_failure_is_an_error"),
    ),
    says("5.2", "with a success type the handler must return it", mistake("wrong_success_type")),
    says(
        "5.2",
        "with a success schema complex types are encoded by it",
        shown_by("haft::source_000::a_result_is_encoded_by_the_schema_of_its_encoded_form"),
    ),
    says(
        "5.2",
        "with a success schema the output is validated",
        shown_by("haft-executor::dynamic_tools::an_invalid_output_is_a_failure_with_a_pointer"),
    ),
    says("5.2", "nested results of an untyped input are typed", shown_by(TYPED_OUTPUT)),
    says(
        "5.3",
        "in mode `return` a failure is a result and no error",
        shown_by("haft::source_000::a_declared_failure_is_a_result_in_mode_return_and_an_error_otherwise"),
    ),
    says(
        "5.3",
        "a failure schema gives the result a typed failure",
        shown_by("haft-executor::dynamic_tools::declared_failures_have_their_schema"),
    ),
    says("6.1", "the JSON Schema of a type is derived", shown_by(DERIVED)),
    says("6.1", "a raw JSON Schema is returned directly", shown_by(UNCHANGED)),
    says("6.2", "a raw schema is stored as it is", shown_by(UNCHANGED)),
    says("6.2", "a raw schema decodes nothing", departs("raw JSON Schema is not validated", NOT_ENFORCED)),
    says(
        "6.2",
        "the handler of a raw schema gets the parsed JSON",
        shown_by("haft::source_000::without_validation_the_handler_gets_the_parsed_json"),
    ),
    says("6.2", "a type is decoded and validated as for a local tool", shown_by(AS_SAFE)),
    says("6.2", "the handler of a type gets typed, valid parameters", shown_by(DECODED)),
    says(
        "6.3",
        "providers treat local and dynamic tools alike",
        shown_by("haft::wires::every_wire_is_sent_local_and_dynamic_tools_alike"),
    ),
    says(
        "6.3",
        "a provider is sent the name, the description and the JSON Schema",
        shown_by("haft::wires::every_wire_is_sent_local_and_dynamic_tools_alike"),
    ),
    says("7", "option A: nothing is validated, the handler checks by itself", shown_by(NOT_ENFORCED)),
    says("7", "option B: a function validates", shown_by(BY_FUNCTION)),
    says(
        "7",
        "option B: the function may wait, and its result is what the handler gets",
        shown_by("haft::source_000::an_asynchronous_function_validates_and_transforms"),
    ),
    says("7", "option C: the JSON Schema is validated", shown_by(ENFORCED)),
    says("7", "option A is the default for now", departs("raw JSON Schema is not validated", ENFORCED)),
    says(
        "8.1",
        "a definition of a server is converted to a dynamic tool",
        shown_by("haft::source_000::the_tools_of_a_server_become_a_toolkit_that_forwards_to_it"),
    ),
    says("8.1", "a toolkit is made of a list of converted tools", shown_by(DISCOVERED)),
    says(
        "8.1",
        "the handler forwards the untyped arguments to the server",
        shown_by("haft::source_000::the_tools_of_a_server_become_a_toolkit_that_forwards_to_it"),
    ),
    says(
        "8.1",
        "a handler that forwards gets the whole call as the model wrote it",
        shown_by("haft-executor::forwarding::the_handler_gets_the_whole_call_with_its_text_unchanged"),
    ),
    says(
        "8.1",
        "each tool may have a handler of its own, by name",
        shown_by("haft::source_000::a_dynamic_tool_is_used_wherever_a_tool_is"),
    ),
    says("8.2", "the input may be untyped while the output is typed", shown_by(TYPED_OUTPUT)),
    says("8.3", "with a type everything is inferred as for a local tool", shown_by(AS_SAFE)),
    says("8.3", "an operation outside the listed literals is rejected", shown_by(AS_SAFE)),
    says(
        "9",
        "only a dynamic tool takes JSON Schema",
        departs("only dynamic tools take raw JSON Schema", "haft::source_000::a_local_tool_takes_a_raw_schema_too"),
    ),
    says("9", "the parameters of a type are inferred", shown_by(AS_SAFE)),
    says("9", "the parameters of JSON Schema are untyped", shown_by(PASSED_ON)),
    says("9", "the JSON Schema is derived, or used directly", shown_by(THREE_FORMS)),
    says("9", "a type is always validated", shown_by(DECODED)),
    says("9", "JSON Schema is never validated", departs("raw JSON Schema is not validated", ENFORCED)),
    says(
        "9",
        "a local tool returns nothing by default, a dynamic one anything",
        shown_by("haft::source_000::local_and_dynamic_tools_differ_in_their_default_success"),
    ),
    says(
        "9",
        "neither fails by default",
        shown_by("haft::source_000::local_and_dynamic_tools_differ_in_their_default_success"),
    ),
    says("9", "a schema known at compile time calls for a local tool, any other for a dynamic one", shown_by(AS_SAFE)),
    says("10", "dynamic tools, their guard, constructor and JSON Schema exist", shown_by(IS_DYNAMIC)),
    says("10", "handlers of dynamic tools are typed by their parameters", shown_by(DECODED)),
    says("10", "any value passes through a tool without schemas", shown_by(WITHOUT_SETTINGS)),
    says("10", "a toolkit is made of dynamic tools", shown_by(DISCOVERED)),
    says("11.1", "the guard holds for a type and for JSON Schema", shown_by(IS_DYNAMIC)),
    says("11.1", "the guard fails for local tools", shown_by(OTHER_KINDS)),
    says("11.1", "the guard fails for provider-defined tools", shown_by(OTHER_KINDS)),
    says("11.1", "the guard fails for values that are no tools", not_tested("a `Tool` is always a tool in Rust")),
    says("11.2", "a derived schema has its type, required keys and all properties", shown_by(DERIVED)),
    says("11.2", "a raw schema is returned with every keyword", shown_by(UNCHANGED)),
    says("11.2", "references, definitions and alternatives are preserved", shown_by(UNCHANGED)),
    says("11.3", "parameters of a type are decoded before the handler is called", shown_by(DECODED)),
    says("11.3", "parameters of JSON Schema reach the handler as they are", shown_by(PASSED_ON)),
    says(
        "11.3",
        "a tool is run by itself",
        departs(
            "a tool can be run without a toolkit",
            "haft-executor::dynamic_tools::a_raw_schema_passes_the_json_to_the_handler",
        ),
    ),
    says(
        "11.3",
        "the encoded result follows the success schema",
        shown_by("haft::source_000::a_result_is_encoded_by_the_schema_of_its_encoded_form"),
    ),
    says(
        "11.3",
        "the decoded result is available beside the encoded one",
        departs(
            "a handler's result exists decoded and encoded",
            "haft::source_000::a_result_is_read_as_its_type_beside_the_encoded_form",
        ),
    ),
];
