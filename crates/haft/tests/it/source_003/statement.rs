//! The statements of document 003.

use crate::source::{Statement, departs, mistake, not_tested, says, shown_by};

const NON_LOCAL: &str = "haft-executor::toolkits_guide::kind::non_local_and_unknown_calls_fail_while_local_ones_run";
const OUTCOMES: &str =
    "haft-executor::toolkits_guide::execution::names_kinds_inputs_and_crashes_each_have_their_outcome";
const PLAIN: &str = "haft-executor::toolkits_guide::definition::a_plain_tool_is_shown_run_and_never_streams";
const EMITS: &str =
    "haft-executor::toolkits_guide::streaming::every_value_is_an_event_in_order_and_the_output_comes_last";
const FOLDS: &str =
    "haft-executor::toolkits_guide::streaming::a_sub_agents_events_flow_through_and_fold_into_the_answer";
const BUFFER: &str =
    "haft-executor::toolkits_guide::streaming::a_handler_runs_ahead_of_its_reader_by_its_queue_and_no_further";
const STRICT: &str = "haft-executor::tools_and_toolkits::strict_is_sent_only_when_set_and_does_not_change_the_schema";
const ONE_SCHEMA: &str = "haft-executor::tools_and_toolkits::one_schema_describes_and_checks_the_arguments";
const DECODE: &str = "haft-executor::tools_and_toolkits::signals_and_interactions_are_decoded_and_acted_on";
const COLLIDE: &str =
    "haft-executor::toolkits_guide::composition::two_sources_of_one_name_collide_until_one_has_a_namespace";
const UNTOUCHED: &str =
    "haft-executor::toolkits_guide::middleware::middleware_does_not_apply_to_kinds_without_a_local_handler";
const DRY_RUN: &str =
    "haft-executor::toolkits_guide::middleware::a_dry_run_keeps_descriptors_and_middleware_and_replaces_handlers";
const UNION: &str = "haft-executor::toolkits_guide::service::one_state_serves_the_union_and_each_tool_gets_its_own";
const SYNTHESIZED: &str = "haft-executor::toolkits_guide::outcome::calls_that_are_not_run_have_a_reason";
const TO_TEXT: &str =
    "haft-executor::toolkits_guide::outcome::the_model_reads_text_raw_unit_as_null_and_the_rest_as_json";
const LOOP: &str = "haft::source_003::the_loop_of_the_document_ends_with_an_answer";
const MAP: &str = "haft::source_003::a_map_splits_calls_into_approved_and_rejected_ones";
const QUEUE: &str = "haft::source_003::a_queue_returns_safe_calls_requests_and_decisions";
const CLOSED: &str = "haft::source_003::a_history_with_open_calls_is_closed_before_it_is_sent";

pub(super) const STATEMENTS: &[Statement] = &[
    says("introduction", "the loop decides which calls run; tools are no hidden callbacks", shown_by(LOOP)),
    says(
        "introduction",
        "the loop inspects the calls of a turn and applies its policy before it runs them",
        shown_by("haft::source_003::a_loop_advances_a_tier_when_the_model_escalates"),
    ),
    says(
        "introduction",
        "the executor renders schemas, validates arguments, runs tools and returns structured results",
        shown_by(OUTCOMES),
    ),
    says("introduction", "most tools have a local function that computes the output", shown_by(PLAIN)),
    says(
        "introduction",
        "the function may emit events for the consumer in real time",
        shown_by("haft-executor::toolkits_guide::streaming::events_are_emitted_while_the_handler_runs"),
    ),
    says("introduction", "a plain tool ignores that", shown_by(PLAIN)),
    says("introduction", "some tools have no local function", shown_by(NON_LOCAL)),
    says(
        "introduction",
        "a call of such a tool is reported as `non_local_tool` and no fake handler runs",
        departs(
            "`run` answers signals and interactions with `non_local_tool`",
            "haft-executor::approval::surfaced::a_signal_or_interaction_that_is_approved_surfaces_unrun",
        ),
    ),
    says(
        "defining a tool",
        "a tool is a name, a description, an input schema and a function",
        shown_by("haft-executor::tools_and_toolkits::a_tool_is_a_name_a_description_a_schema_and_a_function"),
    ),
    says("defining a tool", "the size of the emit buffer may be set", shown_by(BUFFER)),
    says("defining a tool", "the function gets the input and a way to emit", shown_by(EMITS)),
    says(
        "defining a tool",
        "the function may fail with anything",
        shown_by("haft-executor::handler_forms::opaque_errors_come_in_any_form"),
    ),
    says("defining a tool", "the requirements of the function reach the executor", shown_by(UNION)),
    says(
        "defining a tool",
        "the function is attached by a verb of its own",
        departs(
            "`run` and `with_run` attach handlers",
            "haft-executor::tools_and_toolkits::a_tool_is_a_name_a_description_a_schema_and_a_function",
        ),
    ),
    says("defining a tool", "strict mode is on by default", departs("`strict` defaults to true", STRICT)),
    says(
        "defining a tool",
        "strict mode is a flag for the provider",
        shown_by("haft-wire::profile::a_tool_states_its_mode_and_the_profile_decides_for_the_others"),
    ),
    says("defining a tool", "strict mode does not change a schema", shown_by(STRICT)),
    says(
        "defining a tool",
        "no schema is ever rewritten",
        departs(
            "schemas are never rewritten",
            "haft-executor::tool_api::a_dialect_renders_the_parameters_and_reports_what_it_lost",
        ),
    ),
    says(
        "defining a tool",
        "a schema that a provider's strict mode does not support is an error",
        shown_by("haft-wire::profile::a_demand_for_strict_mode_that_cannot_be_met_is_a_fault_and_the_tool_stays"),
    ),
    says(
        "kinds",
        "every kind is visible to the model",
        shown_by("haft-executor::toolkits_guide::kind::every_kind_is_described_to_the_model"),
    ),
    says("kinds", "only local tools are executed here", shown_by(NON_LOCAL)),
    says("kinds", "a tag distinguishes the kinds", shown_by("haft::source_003::a_tag_distinguishes_the_kinds")),
    says(
        "kinds",
        "a provider tool is executed by the provider",
        shown_by("haft-executor::toolkits_guide::kind::calls_that_the_provider_ran_are_not_run_again"),
    ),
    says(
        "kinds",
        "a signal is interpreted by the loop",
        shown_by("haft-model::turn_loop::signal::signals_are_read_answered_and_closed"),
    ),
    says(
        "kinds",
        "an interaction stops the loop, which resumes later",
        shown_by("haft-model::turn_loop::interaction::the_loop_waits_and_everything_else_is_done"),
    ),
    says(
        "kinds",
        "the answer to an interaction continues the loop",
        shown_by("haft-model::turn_loop::interaction::answers_are_added_after_their_calls"),
    ),
    says(
        "kinds",
        "signals and interactions have a name, a description and a schema, and no function",
        shown_by("haft-executor::tool_faults::a_handler_where_none_runs_is_a_fault"),
    ),
    says("kinds", "a signal with a function is rejected by the compiler", mistake("signal_with_handler")),
    says("kinds", "their arguments are decoded where the loop interprets the call", shown_by(DECODE)),
    says("kinds", "arguments that do not satisfy the schema are not decoded", shown_by(DECODE)),
    says(
        "kinds",
        "a loop finds the signal among the calls of a turn and changes its state",
        shown_by("haft::source_003::a_loop_advances_a_tier_when_the_model_escalates"),
    ),
    says("kinds", "a non-local call that is run anyway is a failure and no crash", shown_by(NON_LOCAL)),
    says("kinds", "that failure is distinct from the one of an unknown tool", shown_by(NON_LOCAL)),
    says(
        "kinds",
        "a provider tool carries its provider and its configuration",
        shown_by("haft-executor::toolkits_guide::kind::a_provider_tool_carries_its_provider_and_its_settings"),
    ),
    says(
        "kinds",
        "an adapter renders a provider tool natively",
        shown_by("haft-wire::wire::anthropic_messages::tool::tools_of_the_provider_are_sent_natively"),
    ),
    says(
        "streaming",
        "each emitted event reaches the consumer as progress in real time",
        shown_by("haft-executor::toolkits_guide::streaming::events_are_emitted_while_the_handler_runs"),
    ),
    says(
        "streaming",
        "the function still returns the one output that the model sees",
        shown_by("haft::source_003::a_function_emits_progress_and_returns_one_output"),
    ),
    says("streaming", "emitting waits where the reader is slow", shown_by(BUFFER)),
    says("streaming", "a stream is forwarded and folded into the output in one pass", shown_by(FOLDS)),
    says(
        "streaming",
        "a sub-agent's events are progress of the tool that runs it",
        shown_by("haft-model::turn_loop::sub_agent::an_inner_loop_emits_its_events_as_progress"),
    ),
    says("streaming", "a size bounds the queue of a tool", shown_by(BUFFER)),
    says("streaming", "the queue is unbounded by default", departs("the emit queue is unbounded by default", BUFFER)),
    says(
        "streaming",
        "events have a type of their own",
        shown_by("haft::tool_calls_derive::emitted_values_are_described_and_read_as_their_type"),
    ),
    says(
        "streaming",
        "a stream may end in its result",
        shown_by("haft-executor::handler_forms::the_last_of_plain_values_is_final"),
    ),
    says(
        "input schema",
        "schemas of several libraries are accepted by one interface",
        shown_by("haft-executor::toolkits_guide::schema_form::one_rule_in_every_form_is_described_and_checked_alike"),
    ),
    says(
        "input schema",
        "an adapter gives a type its JSON Schema",
        shown_by("haft-executor::dynamic_tools::parameters_are_a_type_a_schema_or_raw_json"),
    ),
    says(
        "input schema",
        "the type of the input is known where the tool is defined",
        shown_by("haft-executor::handler_forms::parameters_given_first_give_the_closure_its_type"),
    ),
    says("input schema", "a type without a schema is rejected by the compiler", mistake("parameter_without_schema")),
    says("input schema", "one schema is rendered and validates", shown_by(ONE_SCHEMA)),
    says(
        "input schema",
        "schemas are rendered in draft 2020-12",
        shown_by("haft::source_003::schemas_are_rendered_in_draft_2020_12"),
    ),
    says(
        "input schema",
        "arguments are parsed and validated, and the function gets the parsed value",
        shown_by("haft-executor::dynamic_tools::a_typed_handler_gets_decoded_parameters"),
    ),
    says("input schema", "other arguments are an `input_validation_error`", shown_by(ONE_SCHEMA)),
    says(
        "wiring",
        "tools are grouped in a toolkit, by name",
        shown_by("haft::toolkit_macro::tools_keep_their_order_and_run"),
    ),
    says(
        "wiring",
        "a request takes the toolkit and renders the descriptors",
        shown_by("haft::wires::every_wire_is_sent_the_tools_of_a_toolkit_that_can_not_run_yet"),
    ),
    says(
        "wiring",
        "the descriptors of a toolkit are available by themselves",
        shown_by("haft-executor::toolkits_guide::kind::every_kind_is_described_to_the_model"),
    ),
    says("wiring", "a name that appears twice is rejected by the compiler", mistake("duplicate_name")),
    says("wiring", "so is one that appears in two kinds", mistake("two_kinds_of_one_name")),
    says(
        "wiring",
        "of tools collected at run time the last one of a name wins",
        shown_by("haft-executor::toolkits_guide::wiring::collected_at_run_time_the_last_tool_of_a_name_runs"),
    ),
    says(
        "wiring",
        "descriptors do not depend on a provider",
        shown_by("haft-executor::tool_api::a_descriptor_is_made_once_and_survives_a_round_trip"),
    ),
    says(
        "wiring",
        "each provider has its own field for the schema",
        shown_by("haft-wire::profile::every_profile_lists_json"),
    ),
    says("composing", "toolkits from different sources are composed", shown_by(COLLIDE)),
    says("composing", "a name in two of them is an error that names both", shown_by(COLLIDE)),
    says(
        "composing",
        "nothing is overwritten silently",
        shown_by("haft-executor::toolkit_composition::compose::all_collisions_are_reported_each_with_all_its_sources"),
    ),
    says(
        "composing",
        "collisions that are known at compile time are rejected by the compiler",
        mistake("colliding_kits"),
    ),
    says("composing", "a namespace prefixes every name with two underscores", shown_by(COLLIDE)),
    says("composing", "prefixed toolkits compose", shown_by(COLLIDE)),
    says(
        "composing",
        "tools are created in a namespace in one step",
        shown_by(
            "haft-executor::toolkits_guide::composition::tools_are_created_in_a_namespace_in_one_step_and_called_by_the_full_name",
        ),
    ),
    says(
        "middleware",
        "a middleware transforms a toolkit before it runs",
        shown_by("haft::source_003::a_middleware_sees_the_name_the_input_and_the_outcome_of_every_local_call"),
    ),
    says("middleware", "it applies to every local tool", shown_by(UNTOUCHED)),
    says("middleware", "it leaves all other kinds as they are", shown_by(UNTOUCHED)),
    says(
        "middleware",
        "the services of a middleware are required by the toolkit",
        shown_by("haft-executor::toolkits_guide::middleware::services_of_a_middleware_are_required_by_the_toolkit"),
    ),
    says(
        "middleware",
        "it gets the function, the name and the input",
        shown_by("haft::source_003::a_middleware_sees_the_name_the_input_and_the_outcome_of_every_local_call"),
    ),
    says(
        "middleware",
        "it sees what is emitted",
        shown_by("haft-executor::middleware::emission::every_value_passes_the_innermost_function_first"),
    ),
    says(
        "middleware",
        "several are applied one after the other",
        shown_by("haft-executor::toolkits_guide::middleware::the_last_one_applied_is_the_outermost"),
    ),
    says(
        "middleware",
        "logging, retries, authorisation and metrics can be written as one",
        shown_by("haft-executor::toolkits_guide::middleware::a_middleware_can_answer_retry_and_time_out"),
    ),
    says("middleware", "the function of one tool can be replaced", shown_by(DRY_RUN)),
    says("middleware", "the descriptor of that tool stays the same", shown_by(DRY_RUN)),
    says("services", "a tool declares the services it needs", shown_by("haft::tool_macro::the_services_are_declared")),
    says("services", "each tool keeps its own requirements", shown_by(UNION)),
    says("services", "the caller provides the union of all", shown_by(UNION)),
    says(
        "services",
        "several services are provided at once",
        shown_by("haft::services_derive::every_field_is_a_service_by_its_type"),
    ),
    says("services", "the compiler rejects a state that lacks a service", mistake("missing_service")),
    says("services", "the compiler rejects a run before the state is provided", mistake("not_runnable_until_provided")),
    says(
        "services",
        "tools that need nothing run without services",
        shown_by("haft-executor::toolkits_guide::service::tools_that_need_nothing_run_without_a_state"),
    ),
    says(
        "executor",
        "calls are dispatched by name",
        shown_by("haft-executor::toolkits_guide::wiring::names_that_no_tool_has_are_unknown"),
    ),
    says(
        "executor",
        "a dispatch takes constant time",
        not_tested("measured by `cargo xtask growth`, not asserted by a test"),
    ),
    says(
        "executor",
        "all calls run concurrently",
        shown_by("haft-executor::toolkits_guide::execution::all_calls_run_at_once_by_default"),
    ),
    says(
        "executor",
        "events come in real time",
        shown_by("haft-executor::toolkits_guide::execution::events_of_different_calls_come_in_real_time"),
    ),
    says("executor", "there is one progress event for each emitted value", shown_by(EMITS)),
    says("executor", "a tool that emits nothing has no progress events", shown_by(PLAIN)),
    says(
        "executor",
        "there is one output for each call, as its last event",
        shown_by("haft-executor::executor_property::every_call_is_answered_once_and_no_limit_is_exceeded"),
    ),
    says(
        "executor",
        "an approval request is an event",
        shown_by("haft-executor::gatekeepers::the_request_and_the_verdict_are_events_of_the_call"),
    ),
    says("executor", "an invented name fails its own call only", shown_by(OUTCOMES)),
    says("executor", "a non-local kind fails its own call only", shown_by(NON_LOCAL)),
    says("executor", "invalid input is an `input_validation_error`", shown_by(OUTCOMES)),
    says("executor", "a crash is an `execution_error`", shown_by(OUTCOMES)),
    says(
        "executor",
        "concurrency is unbounded by default",
        shown_by("haft-executor::toolkits_guide::execution::all_calls_run_at_once_by_default"),
    ),
    says(
        "executor",
        "concurrency can be bounded",
        shown_by("haft-executor::toolkits_guide::execution::a_bound_is_used_up_and_never_exceeded"),
    ),
    says(
        "results",
        "results are structured and can be inspected, redacted, audited or rerouted",
        shown_by("haft::source_003::results_are_audited_and_rerouted_before_they_are_converted"),
    ),
    says(
        "results",
        "nothing has to be parsed and written again for that",
        shown_by(
            "haft-executor::toolkits_guide::outcome::results_can_be_inspected_and_redacted_before_the_model_reads_them",
        ),
    ),
    says(
        "results",
        "a result has the id of the call, the name of the tool and a value or a failure",
        shown_by("haft-core::conversation_values::form::results"),
    ),
    says("results", "a failure has a kind, and a reason that may be left out", shown_by(SYNTHESIZED)),
    says(
        "results",
        "results are created for denied, cancelled, failed and non-local calls",
        shown_by("haft-executor::tools_and_toolkits::results_are_created_for_calls_that_never_ran"),
    ),
    says("results", "a failure may have any kind", shown_by(SYNTHESIZED)),
    says(
        "results",
        "the executor does not interpret the kind",
        shown_by("haft-executor::toolkits_guide::outcome::a_user_defined_kind_is_passed_through"),
    ),
    says("wire conversion", "events have structured values, the history has text", shown_by(LOOP)),
    says("wire conversion", "one explicit function converts", shown_by(TO_TEXT)),
    says("round trip", "a turn without calls ends the conversation", shown_by(LOOP)),
    says(
        "round trip",
        "a run is continued with its results",
        shown_by("haft-executor::continuation::events_pass_through_unchanged_and_one_value_follows"),
    ),
    says(
        "round trip",
        "the items of the turn are appended, then the outputs of its calls",
        shown_by("haft-core::history::a_turn_is_followed_by_its_outputs_in_call_order"),
    ),
    says("round trip", "the history needs both the calls and their outputs", shown_by(LOOP)),
    says(
        "approval",
        "the run stays the only executor",
        shown_by("haft-executor::approval::map::planning_runs_nothing"),
    ),
    says("approval", "a plan is data: approved calls and rejected results", shown_by(MAP)),
    says(
        "approval",
        "a predicate decides which calls are gated",
        departs("one predicate decides which calls require approval", MAP),
    ),
    says("approval", "given verdicts split the calls up front", shown_by(MAP)),
    says(
        "approval",
        "approved calls run, and rejected ones are outputs of the same stream",
        shown_by("haft-executor::approval::map::the_events_of_a_plan_contain_its_verdicts_and_no_requests"),
    ),
    says(
        "approval",
        "a server without memory gets the verdicts with a request",
        shown_by("haft-executor::approval::peers::a_server_without_memory_gets_its_verdicts_with_a_request"),
    ),
    says("approval", "a queue returns safe calls up front", shown_by(QUEUE)),
    says("approval", "a queue returns the approval requests", shown_by(QUEUE)),
    says(
        "approval",
        "decisions follow as verdicts arrive",
        shown_by("haft-executor::approval::queue::decisions_come_in_the_order_of_the_verdicts"),
    ),
    says(
        "approval",
        "each decision is run by itself",
        departs(
            "`decision_to_events` runs each decision",
            "haft-executor::approval::plan::a_queue_plan_runs_with_the_limits_services_and_indexes_of_one_run",
        ),
    ),
    says(
        "approval",
        "every call of the model has a result in the history",
        shown_by("haft-executor::approval::peers::a_mixed_map_decides_each_call_separately"),
    ),
    says(
        "reconciliation",
        "providers reject a call without an output",
        shown_by("haft-wire::wire::openai_responses::placement::a_history_that_the_provider_would_reject_is_rejected"),
    ),
    says(
        "reconciliation",
        "a conversation that was stopped anywhere can be continued",
        shown_by("haft-model::turn_loop::property::every_call_has_one_output_wherever_the_loop_is_stopped"),
    ),
    says("reconciliation", "open calls are found", shown_by(CLOSED)),
    says("reconciliation", "a history is known to be reconciled or not", shown_by(CLOSED)),
    says("reconciliation", "all open calls are cancelled with a reason", shown_by(CLOSED)),
    says(
        "reconciliation",
        "closing is explicit, at a point that the application chooses",
        shown_by("haft-model::turn_loop::history::an_inconsistent_history_is_an_error_that_names_the_calls"),
    ),
    says(
        "not built in",
        "there are no retries",
        departs(
            "no retry policies and no timeout per tool",
            "haft-middleware::own::attempts_time_out_and_are_repeated_only_where_that_is_safe",
        ),
    ),
    says(
        "not built in",
        "there is no timeout per tool",
        departs(
            "no retry policies and no timeout per tool",
            "haft-executor::run_options::the_earlier_of_the_runs_deadline_and_the_tools_timeout_applies",
        ),
    ),
    says(
        "not built in",
        "no history is repaired unless it is asked for",
        shown_by("haft-model::turn_loop::history::an_inconsistent_history_is_an_error_that_names_the_calls"),
    ),
    says("not built in", "policies are the application's", shown_by(MAP)),
];
