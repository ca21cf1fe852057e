//! The cases of the second library, by file.

use super::fault;
use crate::source::{Evidence, TestIndex, mistake, shown_by};

/// The files and the number of their cases.
const FILES: [(&str, usize); 5] =
    [("tool", 7), ("toolkit", 29), ("approval", 14), ("recipes", 6), ("not tested there", 8)];

const fn case(file: &'static str, text: &'static str, evidence: Evidence) -> (&'static str, &'static str, Evidence) {
    (file, text, evidence)
}

const DECODE: &str = "haft-executor::tools_and_toolkits::signals_and_interactions_are_decoded_and_acted_on";
const READING: &str = "haft-executor::tool_api::reading_rejects_bad_arguments_with_all_issues_and_calls_of_other_tools";
const UNION: &str = "haft-executor::toolkits_guide::service::one_state_serves_the_union_and_each_tool_gets_its_own";
const COLLIDE: &str =
    "haft-executor::toolkits_guide::composition::two_sources_of_one_name_collide_until_one_has_a_namespace";
const KEEPS: &str = "haft-executor::toolkits_guide::composition::a_namespace_keeps_failures_and_services";
const ONE_STEP: &str = "haft-executor::toolkits_guide::composition::tools_are_created_in_a_namespace_in_one_step_and_called_by_the_full_name";
const OUTCOMES: &str =
    "haft-executor::toolkits_guide::execution::names_kinds_inputs_and_crashes_each_have_their_outcome";
const CLOSED: &str = "haft::source_003::a_history_with_open_calls_is_closed_before_it_is_sent";
const SYNTHESIZED: &str = "haft-executor::toolkits_guide::outcome::calls_that_are_not_run_have_a_reason";
const TO_TEXT: &str =
    "haft-executor::toolkits_guide::outcome::the_model_reads_text_raw_unit_as_null_and_the_rest_as_json";

const CASES: [(&str, &str, Evidence); 64] = [
    case(
        "tool",
        "a schema that is complete is taken as it is",
        shown_by("haft-executor::dynamic_tools::raw_json_is_kept_unchanged"),
    ),
    case(
        "tool",
        "it is used to define a tool",
        shown_by("haft-executor::dynamic_tools::parameters_are_a_type_a_schema_or_raw_json"),
    ),
    case("tool", "half a schema does not compile", mistake("parameter_without_schema")),
    case("tool", "the output type is known", shown_by("haft::typed_calls::a_success_is_a_value_of_the_tools_type")),
    case("tool", "arguments are decoded", shown_by(DECODE)),
    case("tool", "invalid JSON is not decoded", shown_by(READING)),
    case("tool", "arguments of another schema are not decoded", shown_by(READING)),
    case(
        "toolkit",
        "a descriptor contains the schema",
        shown_by("haft-executor::toolkits_guide::definition::a_plain_tool_is_shown_run_and_never_streams"),
    ),
    case(
        "toolkit",
        "strict is there only when set",
        shown_by("haft-executor::tools_and_toolkits::strict_is_sent_only_when_set_and_does_not_change_the_schema"),
    ),
    case("toolkit", "requirements are a union", shown_by(UNION)),
    case("toolkit", "each tool gets its own service", shown_by(UNION)),
    case(
        "toolkit",
        "non-local calls are reported while local ones run, and a ghost is unknown",
        shown_by("haft-executor::toolkits_guide::kind::non_local_and_unknown_calls_fail_while_local_ones_run"),
    ),
    case(
        "toolkit",
        "tools without requirements need nothing",
        shown_by("haft-executor::toolkits_guide::service::tools_that_need_nothing_run_without_a_state"),
    ),
    case("toolkit", "a duplicate name does not compile", mistake("duplicate_name")),
    case("toolkit", "a collision names both toolkits", shown_by(COLLIDE)),
    case("toolkit", "a namespace avoids it", shown_by(COLLIDE)),
    case(
        "toolkit",
        "composing preserves requirements",
        shown_by("haft-executor::toolkit_composition::provision::one_state_serves_all_composed_toolkits"),
    ),
    case("toolkit", "a namespace prefixes the name", shown_by(ONE_STEP)),
    case("toolkit", "a namespace keeps failures and requirements", shown_by(KEEPS)),
    case("toolkit", "a run absorbs a failure that is text", shown_by(OUTCOMES)),
    case("toolkit", "a tool runs under its prefixed name", shown_by(ONE_STEP)),
    case(
        "toolkit",
        "a middleware adds requirements",
        shown_by("haft-executor::toolkits_guide::middleware::services_of_a_middleware_are_required_by_the_toolkit"),
    ),
    case(
        "toolkit",
        "a middleware leaves a signal as it is",
        shown_by(
            "haft-executor::toolkits_guide::middleware::middleware_does_not_apply_to_kinds_without_a_local_handler",
        ),
    ),
    case("toolkit", "text as a failure is `tool_failed`", shown_by(OUTCOMES)),
    case(
        "toolkit",
        "a tool may fail with its own kind",
        shown_by("haft-executor::toolkits_guide::outcome::a_user_defined_kind_is_passed_through"),
    ),
    case(
        "toolkit",
        "a failure may end a run with an error",
        shown_by("haft-executor::try_run::siblings_drain_before_the_one_error_and_every_event_is_emitted"),
    ),
    case(
        "toolkit",
        "a panic ends everything; here it fails its own call",
        shown_by("haft-executor::one_path::a_panic_is_the_failure_of_its_call"),
    ),
    case(
        "toolkit",
        "progress precedes the output",
        shown_by(
            "haft-executor::toolkits_guide::streaming::every_value_is_an_event_in_order_and_the_output_comes_last",
        ),
    ),
    case(
        "toolkit",
        "a rejection has a reason",
        shown_by("haft-executor::toolkits_guide::schema_form::a_rejection_names_every_position_and_reaches_the_model"),
    ),
    case(
        "toolkit",
        "blank arguments are the empty object",
        shown_by("haft-executor::toolkits_guide::execution::blank_arguments_are_an_empty_object"),
    ),
    case("toolkit", "invalid JSON is an `input_validation_error`", shown_by(OUTCOMES)),
    case(
        "toolkit",
        "`constructor` is unknown",
        shown_by("haft-executor::toolkits_guide::wiring::names_that_no_tool_has_are_unknown"),
    ),
    case("toolkit", "no output is `null`", shown_by(TO_TEXT)),
    case(
        "toolkit",
        "a concurrency of one keeps the order",
        shown_by("haft-executor::toolkits_guide::execution::one_at_a_time_is_the_order_of_the_calls"),
    ),
    case(
        "toolkit",
        "described failures do not end a run with an error",
        shown_by("haft-executor::try_run::without_a_matching_failure_the_stream_ends_without_an_error"),
    ),
    case(
        "toolkit",
        "a typed failure reaches the caller as its type",
        shown_by("haft::typed_calls::a_declared_failure_is_returned_as_its_type"),
    ),
    case(
        "approval",
        "a map approves everything",
        shown_by("haft-executor::approval::peers::a_map_that_approves_everything_runs_everything"),
    ),
    case("approval", "a map denies", shown_by("haft-executor::approval::peers::a_map_that_denies_reports_the_reason")),
    case(
        "approval",
        "a map lacks a call",
        shown_by("haft-executor::approval::peers::a_call_that_the_map_does_not_mention_is_cancelled"),
    ),
    case(
        "approval",
        "a map is mixed",
        shown_by("haft-executor::approval::peers::a_mixed_map_decides_each_call_separately"),
    ),
    case(
        "approval",
        "an unknown tool does not stop its siblings",
        shown_by("haft-executor::approval::peers::an_unknown_tool_does_not_stop_its_siblings"),
    ),
    case(
        "approval",
        "a queue approves and denies",
        shown_by("haft-executor::approval::peers::a_queue_accepts_an_approval_and_a_denial"),
    ),
    case("approval", "open calls are found", shown_by(CLOSED)),
    case("approval", "a history is reconciled or not", shown_by(CLOSED)),
    case("approval", "open calls are cancelled", shown_by(CLOSED)),
    case(
        "approval",
        "a follow-up closes open calls",
        shown_by("haft-core::history::answers_are_inserted_right_after_their_turn"),
    ),
    case("approval", "a success becomes an output", shown_by(TO_TEXT)),
    case("approval", "a failure with a reason becomes an output", shown_by(SYNTHESIZED)),
    case("approval", "a failure without a reason becomes an output", shown_by(SYNTHESIZED)),
    case(
        "approval",
        "a run without gates runs everything",
        shown_by("haft-executor::approval::peers::without_gates_everything_runs"),
    ),
    case(
        "recipes",
        "safe calls at once, gated ones on their verdict, a denial as a result",
        shown_by("haft-executor::approval::peers::safe_calls_do_not_wait_for_gated_ones"),
    ),
    case(
        "recipes",
        "gated calls wait for their verdict",
        shown_by("haft-executor::approval::peers::safe_calls_do_not_wait_for_gated_ones"),
    ),
    case(
        "recipes",
        "verdicts over HTTP: approve, deny, missing",
        shown_by("haft-executor::approval::peers::a_server_without_memory_gets_its_verdicts_with_a_request"),
    ),
    case(
        "recipes",
        "the deltas of a sub-agent are forwarded",
        shown_by("haft-executor::toolkits_guide::streaming::a_sub_agents_events_flow_through_and_fold_into_the_answer"),
    ),
    case(
        "recipes",
        "progress and a result",
        shown_by("haft::source_003::a_function_emits_progress_and_returns_one_output"),
    ),
    case(
        "recipes",
        "malformed arguments of a signal stop its interpretation",
        shown_by("haft::source_003::a_loop_advances_a_tier_when_the_model_escalates"),
    ),
    case(
        "not tested there",
        "a bounded emit buffer",
        shown_by(
            "haft-executor::toolkits_guide::streaming::a_handler_runs_ahead_of_its_reader_by_its_queue_and_no_further",
        ),
    ),
    case(
        "not tested there",
        "cancellation in the middle of a run",
        shown_by("haft-executor::continuation::a_cancelled_run_answers_every_call_and_is_not_continued"),
    ),
    case(
        "not tested there",
        "two calls of one id",
        shown_by("haft-executor::approval::peers::two_gated_calls_of_one_id_make_one_request"),
    ),
    case(
        "not tested there",
        "the end of a queue",
        shown_by("haft-executor::approval::peers::decisions_end_with_the_queue"),
    ),
    case(
        "not tested there",
        "a verdict for an unknown id",
        shown_by("haft-executor::approval::peers::a_verdict_for_an_unknown_id_is_reported_and_blocks_nothing"),
    ),
    case(
        "not tested there",
        "a concurrency limit above one",
        shown_by("haft-executor::toolkits_guide::execution::a_bound_is_used_up_and_never_exceeded"),
    ),
    case(
        "not tested there",
        "the order of middlewares",
        shown_by("haft-executor::toolkits_guide::middleware::the_last_one_applied_is_the_outermost"),
    ),
    case(
        "not tested there",
        "nested namespaces",
        shown_by("haft-executor::toolkit_composition::namespace::namespaces_nest_and_calls_use_the_full_name"),
    ),
];

#[test]
fn every_case_has_a_counterpart_or_a_reason() {
    let mut index = TestIndex::default();
    let mut faults = Vec::new();
    for (file, text, evidence) in CASES {
        faults.extend(fault(evidence, &mut index).map(|fault| format!("{file}, \"{text}\": {fault}")));
    }
    for (file, count) in FILES {
        let listed = CASES.iter().filter(|(of, ..)| *of == file).count();
        if listed != count {
            faults.push(format!("{file} has {listed} cases of {count}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
