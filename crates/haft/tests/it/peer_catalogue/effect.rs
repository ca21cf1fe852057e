//! The numbered cases of the first library.

use super::{INCREMENTAL, MCP, NOT_IN_RUST, fault};
use crate::source::{Evidence, TestIndex, mistake, not_tested, shown_by};

/// The cases of the catalogue, without gaps.
const LAST: u16 = 181;

/// Behaviour of its newest version that it has no tests for.
const UNTESTED_THERE: [&str; 10] = [
    "interrupted results on an incomplete finish",
    "lookahead",
    "invalid parameters in mode `return`",
    "another rendering for the model",
    "a buffer of preliminary results",
    "the origin of a failure",
    "deferred validation",
    "replay of approvals",
    "the root of a raw schema at an MCP server",
    "a denial without a reason",
];

/// Consecutive cases with one counterpart.
struct Case {
    first: u16,
    last: u16,
    text: &'static str,
    evidence: Evidence,
}

const fn one(number: u16, text: &'static str, evidence: Evidence) -> Case {
    Case { first: number, last: number, text, evidence }
}

const fn to(first: u16, last: u16, text: &'static str, evidence: Evidence) -> Case {
    Case { first, last, text, evidence }
}

const SAME_IN_BOTH: &str = "haft-executor::handling::mode::a_success_is_the_same_in_both_modes";
const RETURNED: &str = "haft-executor::handling::mode::in_mode_return_every_failure_is_a_value_with_its_origin";
const ENCODED: &str = "haft-executor::handling::mode::a_returned_failure_is_encoded";
const RAISED: &str = "haft-executor::handling::mode::in_mode_error_every_failure_is_an_error";
const EARLY: &str =
    "haft-executor::handling::preliminary::preliminary_results_come_first_in_order_and_the_final_one_last";
const HOSTED: &str = "haft::peer_catalogue::results_of_the_provider_pass_through_a_loop";
const COMBINATORS: &str =
    "haft-executor::tool_combinators::every_combinator_keeps_kind_and_id_and_does_not_change_the_original";
const APPROVAL_SET: &str = "haft-executor::tool_api::approval_is_set_without_changing_the_original";
const ANNOTATIONS: &str = "haft-executor::tool_api::every_annotation_is_read_back_and_shown";
const PROVIDER_DEFAULTS: &str = "haft-executor::tool_api::a_provider_defined_tool_has_its_defaults";
const READ_FIRST: &str = "haft::peer_catalogue::calls_are_read_without_being_run_and_stay_encoded";
const APPROVED_FIRST: &str = "haft-model::turn_loop::approval::approved_calls_of_a_plain_history_are_run_first";
const STRIPPED: &str = "haft-model::turn_loop::approval::resolved_approvals_of_earlier_rounds_are_not_sent";
const REMOVED: &str = "haft-core::history::resolved_approvals_are_removed_and_returned";
const OPAQUE: &str = "haft-executor::handler_forms::an_opaque_error_is_kept_from_the_model";
const NOT_STARTED: &str =
    "haft-executor::handler_forms::nothing_of_a_handler_runs_before_its_arguments_are_checked_and_approved";
const TOOL_CHOICE: &str = "haft-core::tool_choice::is_serialised_as_a_word_or_an_object";
const EVENTS: &str = "haft-model::turn_loop::event::events_are_emitted_in_order";

const CASES: &[Case] = &[
    one(1, "a success is a result that is neither failed nor preliminary", shown_by(SAME_IN_BOTH)),
    to(2, 3, "in mode `return` a failure is a failed result", shown_by(ENCODED)),
    one(4, "in mode `error` a failure is an error", shown_by(RAISED)),
    one(5, "invalid parameters follow the mode", shown_by(RETURNED)),
    one(6, "an error of the system is a failed result in mode `return`", shown_by(ENCODED)),
    one(7, "an error of the system is an error in mode `error`", shown_by(RAISED)),
    one(
        8,
        "a caller of one result gets the final one",
        shown_by("haft-executor::handling::preliminary::a_caller_of_a_single_result_gets_the_final_one"),
    ),
    to(9, 10, "preliminary results come in order, then the final one", shown_by(EARLY)),
    one(
        11,
        "a preliminary result is delivered while the handler runs",
        shown_by("haft-executor::handling::preliminary::a_preliminary_result_is_delivered_while_the_handler_runs"),
    ),
    one(
        12,
        "preliminary results before a failure are delivered",
        shown_by("haft-executor::handling::preliminary::preliminary_results_before_a_failure_are_delivered"),
    ),
    one(
        13,
        "two calls interleave",
        shown_by("haft-executor::handling::preliminary::two_calls_emit_preliminary_results_at_once_and_end_separately"),
    ),
    to(14, 15, "a success and a failure of the provider pass through", shown_by(HOSTED)),
    one(
        16,
        "a provider-defined tool with a handler succeeds",
        shown_by("haft-executor::handling::provider::with_a_handler_a_success_is_returned_in_both_modes"),
    ),
    one(
        17,
        "it fails in mode `return`",
        shown_by("haft-executor::handling::provider::with_a_handler_a_failure_is_returned_in_mode_return"),
    ),
    one(
        18,
        "it fails in mode `error`",
        shown_by("haft-executor::handling::provider::with_a_handler_a_failure_is_raised_in_mode_error"),
    ),
    one(
        19,
        "it rejects invalid parameters",
        shown_by("haft-executor::handling::provider::with_a_handler_bad_parameters_are_rejected_by_the_mode"),
    ),
    to(20, 21, "an added dependency keeps kind and id", shown_by(COMBINATORS)),
    one(22, "strict mode of a provider-defined tool is unset", shown_by(PROVIDER_DEFAULTS)),
    one(23, "an annotation keeps the kind", shown_by(COMBINATORS)),
    to(24, 26, "approval is set, also by a function, and the original and the kind stay", shown_by(APPROVAL_SET)),
    to(
        27,
        28,
        "dynamic tools are dynamic",
        shown_by("haft-executor::dynamic_tools::a_dynamic_tool_is_dynamic_however_its_parameters_were_given"),
    ),
    to(29, 30, "other kinds are not", shown_by("haft-executor::dynamic_tools::other_kinds_are_not_dynamic")),
    one(31, "values that are no tools are not", not_tested(NOT_IN_RUST)),
    one(
        32,
        "empty and omitted parameters have one schema",
        shown_by("haft-executor::flexible_parameters::the_unit_type_is_the_closed_empty_object"),
    ),
    one(33, "the schema of a type is derived", shown_by("haft-executor::dynamic_tools::a_type_gives_a_derived_schema")),
    to(34, 35, "a raw schema is kept", shown_by("haft-executor::dynamic_tools::raw_json_is_kept_unchanged")),
    one(
        36,
        "a type is decoded before the handler",
        shown_by("haft-executor::dynamic_tools::a_typed_handler_gets_decoded_parameters"),
    ),
    one(
        37,
        "a raw schema gives the handler any value",
        shown_by("haft-executor::dynamic_tools::a_raw_schema_passes_the_json_to_the_handler"),
    ),
    one(
        38,
        "a success is encoded by its schema",
        shown_by("haft::source_000::a_result_is_encoded_by_the_schema_of_its_encoded_form"),
    ),
    to(39, 41, "strict mode has three states", shown_by(ANNOTATIONS)),
    one(
        42,
        "strict mode of a dynamic tool",
        shown_by("haft-executor::dynamic_tools::strict_mode_applies_to_dynamic_tools_too"),
    ),
    one(43, "strict mode of a provider-defined tool", shown_by(PROVIDER_DEFAULTS)),
    one(
        44,
        "a schema is that of the encoded side",
        shown_by("haft-executor::tool_api::schemas_are_of_the_encoded_side"),
    ),
    one(45, "a type may bring its own schema", shown_by("haft::peer_catalogue::a_type_may_bring_its_own_schema")),
    to(46, 49, "calls that are not run are validated, stay encoded and can be run later", shown_by(READ_FIRST)),
    one(
        50,
        "a call is announced before its handler runs",
        shown_by("haft-model::turn_loop::event::nothing_runs_ahead_of_the_reader"),
    ),
    one(51, "the end of a turn follows its results", shown_by(EVENTS)),
    one(
        52,
        "a concurrency of one is sequential",
        shown_by("haft-executor::toolkits_guide::execution::one_at_a_time_is_the_order_of_the_calls"),
    ),
    one(
        53,
        "calls overlap up to the bound",
        shown_by("haft-executor::toolkits_guide::execution::a_bound_is_used_up_and_never_exceeded"),
    ),
    one(54, "equal calls have distinct ids", shown_by("haft::peer_catalogue::equal_calls_have_their_own_ids")),
    one(
        55,
        "the evaluation of approvals and the bound",
        shown_by("haft::peer_catalogue::policies_are_evaluated_at_once_and_handlers_within_the_limit"),
    ),
    one(
        56,
        "an error of structured output has what the model answered",
        shown_by("haft-model::object::an_answer_that_stays_invalid_is_an_error_with_its_issues_and_the_usage"),
    ),
    one(
        57,
        "a reference at the root of a schema is rendered",
        shown_by("haft-wire::dialect::edge::a_root_that_refers_to_itself_is_rendered"),
    ),
    to(58, 64, "incremental requests", not_tested(INCREMENTAL)),
    one(65, "the provider sees a history without resolved approvals", shown_by(STRIPPED)),
    to(66, 67, "incremental requests of a stream", not_tested(INCREMENTAL)),
    one(68, "the provider sees a history without resolved approvals, in a stream", shown_by(STRIPPED)),
    one(69, "incremental requests without a loop", not_tested(INCREMENTAL)),
    one(
        70,
        "a gated call is a request and no result",
        shown_by("haft-executor::approval::peers::a_gated_call_results_in_a_request_and_no_result"),
    ),
    one(71, "an approved call runs before the model is asked", shown_by(APPROVED_FIRST)),
    one(
        72,
        "a denied call has a result with the reason",
        shown_by("haft-executor::approval::peers::verdicts_turn_into_results_before_the_next_turn"),
    ),
    to(73, 74, "resolved approvals are not sent", shown_by(STRIPPED)),
    one(75, "unresolved approvals stay", shown_by(REMOVED)),
    one(76, "resolved approvals are not sent, without a stream", shown_by(STRIPPED)),
    to(
        77,
        78,
        "a policy may depend on the arguments",
        shown_by("haft-executor::approval::peers::a_gate_may_depend_on_the_arguments"),
    ),
    one(
        79,
        "a call without a policy runs",
        shown_by("haft-executor::approval::peers::an_ungated_call_requests_no_approval"),
    ),
    to(80, 81, "approvals of earlier rounds are not sent", shown_by(STRIPPED)),
    one(
        82,
        "the result of an approved call is part of the stream",
        shown_by("haft::peer_catalogue::the_result_of_an_approved_call_is_an_event_before_the_next_turn"),
    ),
    one(83, "a turn without calls ends too", shown_by(EVENTS)),
    one(84, "approved calls run before the request is prepared", shown_by(APPROVED_FIRST)),
    one(
        85,
        "calls are the model's items, results the application's",
        shown_by("haft-core::item::author::every_type_of_item_has_an_author"),
    ),
    one(
        86,
        "results are in the order of the calls, whichever came first",
        shown_by("haft-executor::toolkits_guide::round_trip::results_join_the_history_in_the_order_of_the_calls"),
    ),
    one(87, "only the final result is kept", shown_by("haft::peer_catalogue::only_the_final_result_is_kept")),
    to(
        88,
        89,
        "results of the provider stay in its turn, with their metadata",
        shown_by("haft-executor::provider_executed::a_turn_with_results_of_the_provider_enters_the_history_unchanged"),
    ),
    to(90, 91, "incremental results", not_tested(INCREMENTAL)),
    one(
        92,
        "an unknown tool is retryable and names the tools there are",
        shown_by("haft::peer_catalogue::failures_about_tools_have_their_flags_and_messages"),
    ),
    one(
        93,
        "invalid parameters are retryable and say what is wrong",
        shown_by("haft::peer_catalogue::failures_about_tools_have_their_flags_and_messages"),
    ),
    one(
        94,
        "an invalid result is not retryable",
        shown_by("haft::peer_catalogue::failures_about_tools_have_their_flags_and_messages"),
    ),
    one(
        95,
        "a result that cannot be encoded is not retryable",
        shown_by("haft::peer_catalogue::failures_about_tools_have_their_flags_and_messages"),
    ),
    one(
        96,
        "invalid args of a provider-defined tool are an error of the definition",
        shown_by("haft-executor::tool_faults::provider_ids_and_arguments_are_checked"),
    ),
    one(
        97,
        "every failure survives a round trip",
        shown_by("haft-core::failure::every_kind_keeps_its_defaults_over_a_round_trip"),
    ),
    one(
        98,
        "an answer in a format is decoded from OpenAI",
        shown_by("haft-wire::wire::openai_responses::setting::an_answer_in_a_format_is_converted_back"),
    ),
    one(
        99,
        "an answer in a format is decoded from Anthropic",
        shown_by("haft-wire::wire::anthropic_messages::setting::an_answer_in_a_format_is_converted_back"),
    ),
    one(100, "an output schema is listed for objects", not_tested(MCP)),
    one(101, "invalid parameters do not reach the handler", shown_by(NOT_STARTED)),
    one(
        102,
        "optional parameters may be left out",
        shown_by("haft::source_000::an_optional_parameter_may_be_left_out"),
    ),
    one(103, "a void result is no error", shown_by("haft-executor::tool_api::a_success_without_content_is_null")),
    one(
        104,
        "of a declared failure its message is shown",
        shown_by("haft-executor::handler_forms::plain_text_is_a_declared_failure"),
    ),
    one(105, "an error of the system is not shown", shown_by(OPAQUE)),
    one(106, "a panic is not shown", shown_by(RETURNED)),
    one(
        107,
        "an unknown tool is reported by name",
        shown_by("haft-executor::unknown_tool::an_unknown_name_without_a_similar_one_lists_the_tools"),
    ),
    one(
        108,
        "omitted arguments",
        shown_by("haft-executor::toolkits_guide::execution::blank_arguments_are_an_empty_object"),
    ),
    to(109, 111, "capabilities", not_tested(MCP)),
    one(
        112,
        "all visible tools are listed",
        shown_by("haft-executor::dispatch::the_list_contains_the_tools_that_the_caller_may_see"),
    ),
    to(
        113,
        114,
        "names, descriptions and input schemas are preserved",
        shown_by("haft-executor::toolkits_guide::definition::a_plain_tool_is_shown_run_and_never_streams"),
    ),
    one(
        115,
        "a declared output schema is listed",
        shown_by("haft-executor::dynamic_tools::an_unknown_input_can_have_a_typed_output"),
    ),
    one(116, "a valid call works", shown_by("haft-executor::tool_service::a_good_call_passes_every_stage")),
    one(
        117,
        "an unknown name is an error",
        shown_by("haft-executor::toolkits_guide::wiring::names_that_no_tool_has_are_unknown"),
    ),
    one(118, "malformed parameters reach no handler", shown_by(NOT_STARTED)),
    one(119, "a schema mismatch follows the revision of the protocol", not_tested(MCP)),
    one(120, "a rejected call reaches no handler", shown_by(NOT_STARTED)),
    to(
        121,
        126,
        "every kind of content",
        shown_by("haft::peer_catalogue::a_result_has_content_of_every_kind_in_order"),
    ),
    one(
        127,
        "structured content",
        shown_by("haft-executor::toolkits_guide::outcome::the_model_reads_text_raw_unit_as_null_and_the_rest_as_json"),
    ),
    one(
        128,
        "a failed execution is an error for the model",
        shown_by("haft-core::conversation_values::model_output::a_failure_is_an_error_object"),
    ),
    one(129, "execution errors differ from protocol errors", not_tested(MCP)),
    one(130, "panics are not exposed", shown_by(RETURNED)),
    one(
        131,
        "a changed list is announced",
        shown_by("haft-executor::tool_source::wait::every_waiter_is_woken_and_a_dropped_one_changes_nothing"),
    ),
    to(132, 133, "sessions", not_tested(MCP)),
    one(
        134,
        "OpenAI gets a tool as a function",
        shown_by("haft-wire::wire::openai_responses::tool::a_tool_has_its_options"),
    ),
    one(
        135,
        "empty parameters have an empty list of properties",
        shown_by("haft-executor::flexible_parameters::the_unit_type_is_the_closed_empty_object"),
    ),
    one(
        136,
        "a dynamic tool is converted like a local one",
        shown_by("haft-executor::dynamic_tools::providers_see_dynamic_and_local_tools_alike"),
    ),
    to(137, 140, "the four tool choices", shown_by(TOOL_CHOICE)),
    to(
        141,
        143,
        "OpenAI's own tools are sent with their settings",
        shown_by("haft-wire::catalogue::render::every_constructor_renders"),
    ),
    one(
        144,
        "a call in the history is sent as OpenAI's item",
        shown_by("haft-wire::wire::openai_responses::request::a_rich_history_has_its_form"),
    ),
    one(
        145,
        "a result becomes an output",
        shown_by("haft-core::conversation_values::model_output::a_value_is_raw_text_null_or_json"),
    ),
    to(
        146,
        148,
        "a patch and both shells have outputs of their own type",
        shown_by("haft-wire::wire::openai_responses::result::an_output_has_the_type_that_belongs_to_its_call"),
    ),
    one(
        149,
        "arguments are parsed as JSON",
        shown_by("haft-executor::toolkits_guide::execution::names_kinds_inputs_and_crashes_each_have_their_outcome"),
    ),
    to(
        150,
        151,
        "calls and approval requests of a hosted MCP server have the tool's name",
        shown_by("haft-wire::catalogue::result::results_are_read_from_the_turn_of_a_wire"),
    ),
    to(
        152,
        153,
        "the same in a stream",
        shown_by("haft-wire::wire::openai_responses::stream::deltas_and_the_turn_contain_the_same"),
    ),
    one(
        154,
        "a turn of calls has its finish reason",
        shown_by("haft-core::finish::every_reason_has_its_name_and_cut_off_flag"),
    ),
    one(
        155,
        "streamed items of OpenAI's own tools are calls with JSON arguments",
        shown_by("haft-wire::wire::openai_responses::item::a_patch_has_its_items"),
    ),
    one(
        156,
        "a call is complete without its item's last event",
        shown_by("haft-wire::wire::openai_responses::stream::without_any_whole_item_the_deltas_are_the_turn"),
    ),
    one(
        157,
        "an item that arrives twice is one item",
        shown_by("haft-wire::wire::openai_responses::stream::an_item_that_is_done_twice_is_one_item"),
    ),
    one(
        158,
        "a denied approval of a provider is resolved without looking up a tool",
        shown_by(
            "haft-model::turn_loop::remote_approval::the_loop_waits_until_every_request_has_a_response_and_sends_them",
        ),
    ),
    to(
        159,
        160,
        "arguments that Anthropic streams are decoded, its own tools' too",
        shown_by("haft-wire::wire::anthropic_messages::stream::a_stream_has_its_deltas"),
    ),
    one(161, "raw schemas are rendered for Anthropic", shown_by("haft-wire::dialect::round_trip::anthropic_plain")),
    one(
        162,
        "provider-executed calls are replayed",
        shown_by("haft-executor::provider_executed::a_turn_with_results_of_the_provider_enters_the_history_unchanged"),
    ),
    one(
        163,
        "names of a provider are mapped",
        shown_by("haft::source_002::a_wire_knows_the_names_of_a_providers_tools_both_ways"),
    ),
    one(
        164,
        "the commands of Anthropic's memory tool are read by type",
        shown_by("haft-wire::catalogue::call::memory"),
    ),
    one(
        165,
        "every schema of the catalogue compiles",
        shown_by("haft-wire::catalogue::table::all_schemas_compile_and_settings_are_closed_objects"),
    ),
    one(
        166,
        "calls of the Chat API are read",
        shown_by("haft-wire::wire::saved_body::whole_and_streamed_responses_have_the_same_calls"),
    ),
    one(
        167,
        "arguments are decoded to the tool's own shape",
        shown_by("haft-wire::wire::openai_responses::response::arguments_are_kept_and_decoded"),
    ),
    one(
        168,
        "parallel calls are one group",
        shown_by("haft-core::history::layout::outputs_in_place_and_other_roles_end_groups"),
    ),
    to(
        169,
        171,
        "fragments of calls in a Chat stream are put together, whatever is missing",
        shown_by("haft-wire::wire::openai_chat::stream::calls_that_share_an_index_are_told_apart_by_their_ids"),
    ),
    one(
        172,
        "patches and local shells are mapped",
        shown_by("haft-wire::catalogue::item::arguments_are_the_members_of_the_item"),
    ),
    one(
        173,
        "a raw schema of a dynamic tool is sent",
        shown_by("haft-executor::dynamic_tools::raw_json_is_kept_unchanged"),
    ),
    one(
        174,
        "fragments of arguments are put together",
        shown_by("haft-wire::wire::gemini_content::stream::arguments_in_pieces_are_put_together"),
    ),
    one(
        175,
        "omitted parameters have a type",
        shown_by("haft::source_002::empty_parameters_are_explicit_or_omitted_and_accept_no_key"),
    ),
    one(
        176,
        "errors of the system are not part of the failure type",
        shown_by("haft::typed_calls::failures_of_a_handler_are_distinguished"),
    ),
    one(177, "dependencies are requirements in the type", mistake("missing_service")),
    one(
        178,
        "the requirements of a toolkit are a union",
        shown_by("haft-executor::toolkits_guide::service::one_state_serves_the_union_and_each_tool_gets_its_own"),
    ),
    one(179, "toolkits are generic", shown_by("haft::peer_catalogue::functions_are_generic_over_toolkits")),
    one(180, "no toolkit is an empty one", shown_by("haft::peer_catalogue::no_toolkit_is_an_empty_one")),
    one(181, "encoded parameters have a type", shown_by("haft::source_002::encoded_forms_are_text")),
];

/// The cases of [`UNTESTED_THERE`], in the same order.
const OURS: [Evidence; 10] = [
    shown_by("haft-model::turn_loop::turn::a_turn_that_was_cut_off_runs_nothing"),
    shown_by("haft-model::turn_loop::event::nothing_runs_ahead_of_the_reader"),
    shown_by(RETURNED),
    shown_by("haft-executor::handler_forms::the_model_may_see_another_rendering"),
    shown_by("haft::peer_catalogue::preliminary_results_wait_for_their_reader"),
    shown_by(RETURNED),
    shown_by("haft::peer_catalogue::unknown_names_and_unreadable_arguments_are_kept"),
    shown_by("haft-model::turn_loop::approval::a_verdict_is_used_once_wherever_the_loop_is_lost"),
    not_tested(MCP),
    shown_by("haft::peer_catalogue::a_denial_without_a_reason_is_a_result"),
];

#[test]
fn every_case_has_a_counterpart_or_a_reason() {
    let mut index = TestIndex::default();
    let mut faults = Vec::new();
    let mut next = 1;
    for case in CASES {
        if case.first != next || case.last < case.first {
            faults.push(format!("{} to {} does not follow {}", case.first, case.last, next - 1));
        }
        next = case.last + 1;
        if let Some(fault) = fault(case.evidence, &mut index) {
            faults.push(format!("{} \"{}\": {fault}", case.first, case.text));
        }
    }
    for (text, evidence) in UNTESTED_THERE.iter().zip(OURS) {
        faults.extend(fault(evidence, &mut index).map(|fault| format!("\"{text}\": {fault}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(next, LAST + 1);
}
