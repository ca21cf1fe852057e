//! The statements of document 002.

use crate::source::{Section, Statement, departs, normative, not_tested, says, shown_by};

pub(super) const SECTIONS: &[Section] = &[
    normative("overview"),
    normative("Destructive"),
    normative("Idempotent"),
    normative("Meta"),
    normative("OpenWorld"),
    normative("Readonly"),
    normative("Strict"),
    normative("Title"),
    normative("dynamic"),
    normative("make"),
    normative("providerDefined"),
    normative("getJsonSchemaFromSchema"),
    normative("getDescription"),
    normative("getJsonSchema"),
    normative("getStrictMode"),
    normative("isDynamic"),
    normative("isProviderDefined"),
    normative("isUserDefined"),
    normative("Dynamic"),
    normative("FailureMode"),
    normative("Handler"),
    normative("HandlerOutput"),
    normative("HandlerResult"),
    normative("NameMapper"),
    normative("NeedsApproval"),
    normative("NeedsApprovalContext"),
    normative("NeedsApprovalFunction"),
    normative("ProviderDefined"),
    normative("Tool"),
    normative("EmptyParams"),
    normative("DynamicTypeId"),
    normative("ProviderDefinedTypeId"),
    normative("TypeId"),
    normative("unsafeSecureJsonParse"),
    normative("Any, AnyDynamic, AnyProviderDefined"),
    normative("Failure, FailureEncoded"),
    normative("FailureResult, FailureResultEncoded"),
    normative("HandlerError"),
    normative("HandlerServices"),
    normative("HandlersFor"),
    normative("Name"),
    normative("Parameters, ParametersEncoded, ParametersSchema"),
    normative("RequiresHandler"),
    normative("Result, ResultEncoded"),
    normative("ResultDecodingServices, ResultEncodingServices"),
    normative("Success, SuccessEncoded, SuccessSchema"),
];

const ANNOTATIONS: &str = "haft-executor::tool_api::every_annotation_is_read_back_and_shown";
const HINTS: &str = "haft-executor::tool_api::the_four_hints_are_always_shown_with_their_defaults";
const EXAMPLES: &str = "haft::source_002::every_annotation_is_an_argument_of_the_macro_and_a_combinator";
const GUARDS: &str = "haft-executor::tool_api::each_kind_matches_only_its_own_guard";
const AS_SAFE: &str = "haft-executor::dynamic_tools::a_typed_dynamic_tool_is_as_safe_as_a_local_one";
const PASSED_ON: &str = "haft-executor::dynamic_tools::a_raw_schema_passes_the_json_to_the_handler";
const UNCHANGED: &str = "haft-executor::dynamic_tools::raw_json_is_kept_unchanged";
const ENFORCED: &str = "haft-executor::dynamic_tools::raw_schemas_are_enforced_in_full_by_default";
const WITHOUT_SETTINGS: &str = "haft-executor::dynamic_tools::without_settings_any_value_is_accepted_and_returned";
const RAW_OR_NOT: &str = "haft::source_000::the_parameters_report_whether_they_were_given_as_json";
const LOCAL_DEFAULTS: &str = "haft-executor::tool_api::a_local_tool_has_its_defaults";
const OPTIONS: &str = "haft::source_001::every_option_of_a_local_tool_is_kept";
const PROVIDER: &str = "haft-executor::tool_api::a_provider_defined_tool_keeps_its_three_names_and_its_arguments";
const PROVIDER_DEFAULTS: &str = "haft-executor::tool_api::a_provider_defined_tool_has_its_defaults";
const PROVIDER_HANDLER: &str = "haft::source_002::a_handler_processes_what_the_provider_generated";
const PROVIDER_EXECUTES: &str = "haft-executor::handling::provider::without_a_handler_a_call_is_skipped";
const DESCRIPTION: &str = "haft-executor::tool_api::an_explicit_description_wins_over_the_parameters_own";
const DIALECT: &str = "haft-executor::tool_api::a_dialect_renders_the_parameters_and_reports_what_it_lost";
const DEFINITIONS: &str = "haft::source_001::definitions_of_shared_and_recursive_types_are_part_of_the_schema";
const MODES: &str = "haft::source_002::the_failure_mode_decides_between_an_error_and_a_value";
const PRELIMINARY: &str =
    "haft-executor::handling::preliminary::preliminary_results_come_first_in_order_and_the_final_one_last";
const NAMES: &str = "haft::source_002::a_wire_knows_the_names_of_a_providers_tools_both_ways";
const POLICY: &str = "haft::source_002::an_approval_function_gets_parameters_call_and_conversation";
const COMBINATORS: &str =
    "haft-executor::tool_combinators::every_combinator_keeps_kind_and_id_and_does_not_change_the_original";
const EMPTY: &str = "haft::source_002::empty_parameters_are_explicit_or_omitted_and_accept_no_key";
const UNTRUSTED: &str = "haft::source_002::untrusted_json_is_parsed_or_rejected";
const TYPES: &str = "haft::source_002::the_type_of_a_tool_names_all_its_types";
const ENCODED: &str = "haft::source_002::encoded_forms_are_text";
const RETURNED: &str = "haft-executor::handling::mode::in_mode_return_every_failure_is_a_value_with_its_origin";

pub(super) const STATEMENTS: &[Statement] = &[
    says("overview", "a tool has a name and parameters, and declares its success and its failure", shown_by(OPTIONS)),
    says(
        "overview",
        "a tool may require approval before it is executed",
        shown_by("haft-executor::tool_api::a_gated_call_is_denied_without_an_approver"),
    ),
    says("overview", "there are tools of the application, of the provider, and dynamic ones", shown_by(GUARDS)),
    says(
        "overview",
        "requests to models, handlers and provider integrations share these types",
        shown_by("haft::source_002::an_encoded_result_enters_the_next_request"),
    ),
    // annotations
    says("Destructive", "it is emitted as a hint", shown_by(ANNOTATIONS)),
    says("Destructive", "a tool without it is destructive", shown_by(HINTS)),
    says("Destructive", "false marks a tool as safe", shown_by(EXAMPLES)),
    says("Idempotent", "it is emitted as a hint", shown_by(ANNOTATIONS)),
    says("Idempotent", "a tool without it is not idempotent", shown_by(HINTS)),
    says("Idempotent", "true marks a tool as repeatable", shown_by(EXAMPLES)),
    says("Meta", "metadata for clients is kept and emitted", shown_by(EXAMPLES)),
    says("OpenWorld", "it is emitted as a hint", shown_by(ANNOTATIONS)),
    says("OpenWorld", "a tool without it may reach external systems", shown_by(HINTS)),
    says("OpenWorld", "false marks a tool as closed", shown_by(EXAMPLES)),
    says("Readonly", "it is emitted as a hint", shown_by(ANNOTATIONS)),
    says("Readonly", "a tool without it may change things", shown_by(HINTS)),
    says("Readonly", "true marks a tool as read-only", shown_by(EXAMPLES)),
    says("Strict", "true, false and unset are three states", shown_by(ANNOTATIONS)),
    says("Strict", "a tool without it leaves the decision to the provider's configuration", shown_by(HINTS)),
    says("Strict", "false disables it for one tool", shown_by(EXAMPLES)),
    says(
        "Strict",
        "a provider that supports it sends the flag, or its own configuration where it is unset",
        shown_by("haft-wire::profile::a_tool_states_its_mode_and_the_profile_decides_for_the_others"),
    ),
    says("Title", "a title for people is kept and emitted", shown_by(EXAMPLES)),
    // constructors
    says("dynamic", "parameters of a type are typed and validated", shown_by(AS_SAFE)),
    says("dynamic", "parameters as JSON Schema reach the handler as any value", shown_by(PASSED_ON)),
    says(
        "dynamic",
        "parameters as JSON Schema are not validated",
        departs("raw JSON Schema is not validated", ENFORCED),
    ),
    says(
        "dynamic",
        "a description, schemas, failure mode and approval may be set",
        shown_by("haft-executor::dynamic_tools::every_option_is_kept"),
    ),
    says("dynamic", "omitted parameters and success accept any value", shown_by(WITHOUT_SETTINGS)),
    says("dynamic", "no failure and the mode `error` are the defaults", shown_by(WITHOUT_SETTINGS)),
    says("make", "description, schemas, failure mode, dependencies and approval may be set", shown_by(OPTIONS)),
    says("make", "omitted parameters are the empty object", shown_by(EMPTY)),
    says("make", "an omitted success is void, an omitted failure impossible", shown_by(LOCAL_DEFAULTS)),
    says("make", "the mode `error` is the default", shown_by(LOCAL_DEFAULTS)),
    says(
        "make",
        "parameters are validated",
        shown_by("haft-executor::tools_and_toolkits::one_schema_describes_and_checks_the_arguments"),
    ),
    says("make", "the services of a tool are part of its type", shown_by(TYPES)),
    says("providerDefined", "a provider-defined tool is executed by the provider", shown_by(PROVIDER_EXECUTES)),
    says("providerDefined", "it may require a handler for what the provider generated", shown_by(PROVIDER_HANDLER)),
    says("providerDefined", "it has an id, a custom name and a name at the provider", shown_by(PROVIDER)),
    says(
        "providerDefined",
        "the id consists of two parts joined by a dot",
        shown_by("haft-executor::tool_faults::provider_ids_and_arguments_are_checked"),
    ),
    says(
        "providerDefined",
        "the constructor returns a function that takes the args",
        shown_by("haft-executor::tool_api::one_factory_makes_many_tools"),
    ),
    says(
        "providerDefined",
        "args are given in encoded form",
        shown_by("haft::source_002::the_arguments_of_a_provider_defined_tool_are_checked"),
    ),
    says(
        "providerDefined",
        "a failure mode can be chosen only if there is a handler",
        shown_by("haft-executor::handling::provider::without_a_handler_there_is_no_mode_to_choose"),
    ),
    says("providerDefined", "omitted args and success are void", shown_by(PROVIDER_DEFAULTS)),
    says(
        "providerDefined",
        "omitted parameters are void",
        departs("unset parameters of a provider-defined tool are `Void`", PROVIDER_DEFAULTS),
    ),
    says("providerDefined", "an omitted failure is impossible", shown_by(PROVIDER_DEFAULTS)),
    says("providerDefined", "no handler is required by default", shown_by(PROVIDER_DEFAULTS)),
    // converting
    says(
        "getJsonSchemaFromSchema",
        "the JSON Schema of a type is generated",
        shown_by("haft::source_002::a_schema_is_converted_to_json_without_a_tool"),
    ),
    says("getJsonSchemaFromSchema", "with a transformer the transformed schema is returned", shown_by(DIALECT)),
    says("getJsonSchemaFromSchema", "definitions are attached", shown_by(DEFINITIONS)),
    // getters
    says("getDescription", "an explicit description is returned", shown_by(DESCRIPTION)),
    says("getDescription", "otherwise the description of the parameters is", shown_by(DESCRIPTION)),
    says("getDescription", "a tool without either has none", shown_by(DESCRIPTION)),
    says(
        "getJsonSchema",
        "it describes the parameters of a call to a model",
        shown_by("haft::source_002::the_schema_of_the_weather_tool_is_that_of_the_document"),
    ),
    says("getJsonSchema", "a transformer adapts it to a provider", shown_by(DIALECT)),
    says("getStrictMode", "the setting of a tool is returned", shown_by(ANNOTATIONS)),
    says("getStrictMode", "unset is distinct from false", shown_by(ANNOTATIONS)),
    // guards
    says("isDynamic", "it holds for dynamic tools only", shown_by(GUARDS)),
    says("isProviderDefined", "it holds for provider-defined tools only", shown_by(GUARDS)),
    says("isUserDefined", "it holds for tools of the application only", shown_by(GUARDS)),
    says("isUserDefined", "values that are no tools are rejected", not_tested("a `Tool` is always a tool in Rust")),
    // models
    says("Dynamic", "typed mode is as safe as a local tool", shown_by(AS_SAFE)),
    says("Dynamic", "in JSON mode the model sees the raw schema", shown_by(UNCHANGED)),
    says("Dynamic", "in JSON mode the handler gets any value", shown_by(PASSED_ON)),
    says("Dynamic", "the raw schema is available if and only if one was given", shown_by(RAW_OR_NOT)),
    says(
        "Dynamic",
        "a dynamic tool is a tool",
        shown_by("haft::source_000::a_dynamic_tool_is_used_wherever_a_tool_is"),
    ),
    says("FailureMode", "in mode `error` failures are errors of the calling code", shown_by(MODES)),
    says(
        "FailureMode",
        "in mode `error` failures end what called the tools",
        departs("in failure mode `error`, failures go to the error channel", MODES),
    ),
    says("FailureMode", "in mode `return` failures are part of the result", shown_by(MODES)),
    says("FailureMode", "`error` is the default", shown_by(LOCAL_DEFAULTS)),
    says(
        "Handler",
        "a handler is bound to the name of its tool",
        shown_by("haft-executor::handler_forms::a_value_handles_the_calls_of_its_type"),
    ),
    says(
        "Handler",
        "a handler keeps the services of the place where it was defined",
        shown_by("haft-executor::toolkit_composition::provision::each_tool_keeps_the_services_of_its_own_toolkit"),
    ),
    says(
        "Handler",
        "a handler gets the parameters and a context",
        shown_by("haft-executor::handler_forms::a_handler_knows_its_call_and_emits"),
    ),
    says(
        "HandlerOutput",
        "values of a stream are tagged as preliminary or final",
        shown_by("haft-executor::handler_forms::tagged_outputs_end_at_the_final_one"),
    ),
    says(
        "HandlerOutput",
        "the final value is the last one and the result",
        shown_by("haft-executor::handling::preliminary::a_caller_of_a_single_result_gets_the_final_one"),
    ),
    says(
        "HandlerResult",
        "it has the result and its encoded form",
        shown_by("haft::source_002::an_encoded_result_enters_the_next_request"),
    ),
    says(
        "HandlerResult",
        "the result has the type of the tool",
        departs(
            "a handler's result exists decoded and encoded",
            "haft::source_000::a_result_is_read_as_its_type_beside_the_encoded_form",
        ),
    ),
    says(
        "HandlerResult",
        "the encoded result can be part of the next request",
        shown_by("haft::source_002::an_encoded_result_enters_the_next_request"),
    ),
    says("HandlerResult", "it reports whether the call failed", shown_by(MODES)),
    says("HandlerResult", "it reports whether it is preliminary", shown_by(PRELIMINARY)),
    says(
        "HandlerResult",
        "only the final result counts",
        shown_by("haft-executor::handling::preliminary::a_caller_of_a_single_result_gets_the_final_one"),
    ),
    says("NameMapper", "it maps between names of the provider and custom names", shown_by(NAMES)),
    says("NameMapper", "tools of several providers with one provider name coexist", shown_by(NAMES)),
    says("NameMapper", "an unknown provider name is returned unchanged", shown_by(NAMES)),
    says("NameMapper", "an unknown custom name is returned unchanged", shown_by(NAMES)),
    says(
        "NeedsApproval",
        "approval is required statically or by a function",
        shown_by("haft-executor::tool_api::approval_is_set_without_changing_the_original"),
    ),
    says("NeedsApprovalContext", "it has the id of the call", shown_by(POLICY)),
    says("NeedsApprovalContext", "it has the conversation up to the call", shown_by(POLICY)),
    says("NeedsApprovalFunction", "it gets the decoded parameters and the context", shown_by(POLICY)),
    says(
        "NeedsApprovalFunction",
        "it may be asynchronous",
        shown_by("haft::source_001::a_policy_may_wait_before_it_decides_on_any_type"),
    ),
    says(
        "NeedsApprovalFunction",
        "it may return a plain boolean",
        shown_by("haft::source_001::a_policy_may_return_a_plain_boolean"),
    ),
    says(
        "NeedsApprovalFunction",
        "it does not fail",
        departs(
            "an approval function cannot fail",
            "haft-executor::approval::policy::a_policy_that_fails_requires_approval",
        ),
    ),
    says("ProviderDefined", "it is executed by the provider", shown_by(PROVIDER_EXECUTES)),
    says("ProviderDefined", "it may require a handler", shown_by(PROVIDER_HANDLER)),
    says("ProviderDefined", "its id is unique and consists of two parts", shown_by(PROVIDER)),
    says("ProviderDefined", "its args can be read", shown_by(PROVIDER)),
    says(
        "ProviderDefined",
        "the schema of its args can be read",
        shown_by("haft-executor::provider_results::the_settings_keep_their_schema_and_their_type"),
    ),
    says(
        "ProviderDefined",
        "its args can be read as their type",
        shown_by("haft-executor::provider_results::the_settings_keep_their_schema_and_their_type"),
    ),
    says("ProviderDefined", "its name at the provider can be read", shown_by(PROVIDER)),
    says(
        "ProviderDefined",
        "a toolkit with one that requires a handler is incomplete without it",
        shown_by(
            "haft-executor::handling::provider::a_required_handler_that_is_missing_is_reported_before_and_at_the_call",
        ),
    ),
    says(
        "ProviderDefined",
        "the result that the provider sends has the type of its success or failure",
        shown_by("haft::kinds::results_of_a_provider_are_read_as_the_declared_types"),
    ),
    says("Tool", "an id identifies the tool", shown_by(LOCAL_DEFAULTS)),
    says("Tool", "it has a name and an optional description", shown_by(OPTIONS)),
    says("Tool", "it has a failure mode, `error` by default", shown_by(LOCAL_DEFAULTS)),
    says("Tool", "its schemas for parameters, success and failure can be read", shown_by(OPTIONS)),
    says(
        "Tool",
        "calls must satisfy the parameters",
        shown_by("haft-executor::tools_and_toolkits::one_schema_describes_and_checks_the_arguments"),
    ),
    says(
        "Tool",
        "a success must satisfy its schema",
        shown_by("haft-executor::dynamic_tools::an_invalid_output_is_a_failure_with_a_pointer"),
    ),
    says(
        "Tool",
        "a failure must satisfy its schema",
        shown_by("haft-executor::handler_forms::a_failure_that_breaks_its_schema_is_a_fault_of_the_tool"),
    ),
    says(
        "Tool",
        "annotations store metadata of any type",
        shown_by("haft-executor::tool_api::users_annotate_with_their_own_types"),
    ),
    says(
        "Tool",
        "without an approval policy, or with one that never applies, it runs at once",
        shown_by("haft-executor::approval::peers::an_ungated_call_requests_no_approval"),
    ),
    says(
        "Tool",
        "with the policy `always` each call requires approval",
        shown_by("haft-executor::approval::peers::a_gated_call_results_in_a_request_and_no_result"),
    ),
    says("Tool", "with a function the parameters and the context decide", shown_by(POLICY)),
    says(
        "Tool",
        "an added dependency must be provided by each request",
        shown_by("haft::source_002::an_added_dependency_is_required_of_each_run"),
    ),
    says("Tool", "success, failure and parameters can be replaced", shown_by(COMBINATORS)),
    says(
        "Tool",
        "replaced parameters validate the call",
        shown_by("haft-executor::tool_combinators::replaced_parameters_are_enforced_before_the_handlers_type"),
    ),
    says(
        "Tool",
        "a replaced success or failure validates the result",
        shown_by("haft-executor::tool_combinators::replaced_results_are_enforced_and_drop_what_the_model_saw"),
    ),
    says("Tool", "an annotation can be added", shown_by(COMBINATORS)),
    says(
        "Tool",
        "many annotations can be added",
        shown_by("haft::source_002::many_annotations_are_merged_and_the_later_ones_win"),
    ),
    says("Tool", "every combinator returns a new tool", shown_by(COMBINATORS)),
    // schemas
    says("EmptyParams", "it is the schema of tools without parameters", shown_by(EMPTY)),
    says("EmptyParams", "it is an object that accepts no key", shown_by(EMPTY)),
    says("EmptyParams", "omitted parameters mean the same", shown_by(EMPTY)),
    // type IDs
    says("DynamicTypeId", "a marker distinguishes dynamic tools", shown_by(GUARDS)),
    says("ProviderDefinedTypeId", "a marker distinguishes provider-defined tools", shown_by(GUARDS)),
    says(
        "TypeId",
        "a marker distinguishes tools from other values",
        not_tested("a `Tool` is known by its type in Rust"),
    ),
    // unsafe
    says("unsafeSecureJsonParse", "valid JSON is parsed", shown_by(UNTRUSTED)),
    says("unsafeSecureJsonParse", "invalid JSON is an error", shown_by(UNTRUSTED)),
    says(
        "unsafeSecureJsonParse",
        "an own `__proto__` is an error at any depth",
        shown_by("haft-schema::secure_json::the_prototype_is_out_of_reach_however_it_is_spelt"),
    ),
    says("unsafeSecureJsonParse", "a `constructor` with a `prototype` is an error", shown_by(UNTRUSTED)),
    // utility types
    says("Any, AnyDynamic, AnyProviderDefined", "one type stands for any tool, of any kind", shown_by(GUARDS)),
    says("Failure, FailureEncoded", "the failure of a tool's type is a type", shown_by(TYPES)),
    says("Failure, FailureEncoded", "the encoded failure has a type", shown_by(ENCODED)),
    says(
        "FailureResult, FailureResultEncoded",
        "a failed result is the declared failure or a fault of the system",
        shown_by(TYPES),
    ),
    says("FailureResult, FailureResultEncoded", "in mode `return` both are values", shown_by(RETURNED)),
    says(
        "FailureResult, FailureResultEncoded",
        "both have an encoded form",
        shown_by("haft-executor::handling::mode::a_returned_failure_is_encoded"),
    ),
    says(
        "HandlerError",
        "in mode `error` a call raises the declared failure or a fault of the system",
        shown_by("haft-executor::handling::mode::in_mode_error_every_failure_is_an_error"),
    ),
    says("HandlerError", "in mode `return` a call raises nothing", shown_by(RETURNED)),
    says("HandlerServices", "the services of a handler are part of the type of its tool", shown_by(TYPES)),
    says(
        "HandlersFor",
        "the handlers that a set of tools requires are known",
        shown_by("haft::source_002::a_toolkit_lists_the_handlers_it_requires"),
    ),
    says("Name", "the name of a tool's type is a constant", shown_by(TYPES)),
    says(
        "Parameters, ParametersEncoded, ParametersSchema",
        "the parameters of a tool's type are a type",
        shown_by(TYPES),
    ),
    says("Parameters, ParametersEncoded, ParametersSchema", "the encoded parameters have a type", shown_by(ENCODED)),
    says(
        "Parameters, ParametersEncoded, ParametersSchema",
        "the schema of the parameters can be read",
        shown_by(OPTIONS),
    ),
    says(
        "RequiresHandler",
        "every tool but a provider-defined one requires a handler, and those that say so",
        shown_by("haft::source_002::a_toolkit_lists_the_handlers_it_requires"),
    ),
    says("Result, ResultEncoded", "a result is a success or a failure", shown_by(TYPES)),
    says("Result, ResultEncoded", "in mode `return` it may be a fault of the system", shown_by(RETURNED)),
    says("Result, ResultEncoded", "the encoded result has a type", shown_by(ENCODED)),
    says(
        "ResultDecodingServices, ResultEncodingServices",
        "decoding and encoding may require services",
        not_tested("serde decodes and encodes without services"),
    ),
    says("Success, SuccessEncoded, SuccessSchema", "the success of a tool's type is a type", shown_by(TYPES)),
    says(
        "Success, SuccessEncoded, SuccessSchema",
        "the encoded success has a type",
        shown_by("haft::source_002::an_encoded_result_enters_the_next_request"),
    ),
    says("Success, SuccessEncoded, SuccessSchema", "the schema of the success can be read", shown_by(OPTIONS)),
];
