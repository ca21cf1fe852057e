//! Requests and answers that pass every type check and fail at a service: each group with the judge's rules, which reject
//! such requests, and with tests over HTTP against a server that answers as the service was reported to.
//!
//! The judge is in `parts/judge`, with the source of each rule; its own tests show that a rule rejects.

use crate::source::TestIndex;

/// A group of reports about services.
struct Reported {
    subject: &'static str,
    rules: Rules,
    /// The tests over HTTP.
    tests: &'static [&'static str],
}

/// The judge's part in a group.
enum Rules {
    /// Functions in `parts/judge`, and their tests.
    Judged(&'static [&'static str], &'static [&'static str]),
    /// There is no request to judge, for this reason.
    NoRequest(&'static str),
}

/// Answers are no requests.
const ANSWER: &str = "the service's answer deviates, and not the request";

const REPORTED: &[Reported] = &[
    Reported {
        subject: "reasoning at models that have none",
        rules: Rules::Judged(
            &["responses::_reasoning", "messages::_model"],
            &[
                "haft-parts::parts::request::responses::models_that_do_not_reason",
                "haft-parts::parts::request::anthropic::what_some_models_reject",
            ],
        ),
        tests: &[
            "haft-model::client::rejection::a_conversation_moves_to_a_model_that_does_not_reason",
            "haft-model::client::rejection::the_application_decides_about_encrypted_reasoning",
            "haft-model::client::rejection::reasoning_is_dropped_and_reported_by_every_wire_if_the_model_has_none",
        ],
    },
    Reported {
        subject: "tools that programs call, and namespaces",
        rules: Rules::Judged(
            &["messages::_programmatic", "responses::_function", "responses::_tools", "responses::_deferred"],
            &[
                "haft-parts::parts::request::anthropic::tools_that_programs_call",
                "haft-parts::parts::request::responses::namespaces_and_programs",
            ],
        ),
        tests: &[
            "haft-model::client::rejection::tools_that_programs_call_are_neither_strict_nor_called_one_by_one",
            "haft-model::client::rejection::a_namespace_of_a_registry_is_one_of_openai",
        ],
    },
    Reported {
        subject: "servers that speak Chat Completions",
        rules: Rules::Judged(
            &["server::rules", "server::_mistral", "server::_openrouter"],
            &[
                "haft-parts::parts::request::chat::mistral",
                "haft-parts::parts::request::chat::openrouter",
                "haft-parts::parts::request::chat::other_servers",
            ],
        ),
        tests: &[
            "haft-model::client::compatible::mistral_gets_nothing_that_it_rejects",
            "haft-model::client::compatible::openrouter_gets_its_reasoning_back_in_one_piece",
            "haft-model::client::compatible::a_choice_that_a_server_ignores_is_made_for_it",
        ],
    },
    Reported {
        subject: "DeepSeek's demands",
        rules: Rules::Judged(&["server::_deepseek"], &["haft-parts::parts::request::chat::deepseek"]),
        tests: &["haft-model::client::rejection::deepseek_gets_the_reasoning_and_the_instruction_that_it_demands"],
    },
    Reported {
        subject: "deferred tools, and tools that were found and are gone",
        rules: Rules::Judged(
            &["messages::_tools", "messages::_references", "responses::_deferred"],
            &[
                "haft-parts::parts::request::anthropic::deferred_tools",
                "haft-parts::parts::request::responses::namespaces_and_programs",
            ],
        ),
        tests: &[
            "haft-model::client::rejection::definitions_are_deferred_only_where_the_model_can_find_them",
            "haft-model::client::rejection::references_to_tools_that_are_gone_do_not_fail_the_conversation",
        ],
    },
    Reported {
        subject: "answers that are continued",
        rules: Rules::Judged(
            &["messages::_rules", "server::_mistral"],
            &[
                "haft-parts::parts::request::anthropic::what_some_models_reject",
                "haft-parts::parts::request::chat::mistral",
            ],
        ),
        tests: &["haft-model::client::rejection::an_answer_that_was_cut_off_is_continued"],
    },
    Reported {
        subject: "empty turns, and turns that are cut off",
        rules: Rules::NoRequest(ANSWER),
        tests: &[
            "haft-model::client::ending::an_empty_end_turn_after_a_tool_result_is_the_end",
            "haft-model::client::ending::a_refusal_without_content_is_a_refusal",
            "haft-model::client::ending::geminis_empty_stop_and_malformed_calls_are_retried",
            "haft-model::client::ending::an_answer_that_is_cut_off_is_no_answer",
        ],
    },
    Reported {
        subject: "retries",
        rules: Rules::NoRequest(ANSWER),
        tests: &[
            "haft-model::client::retry::a_conflict_is_retried",
            "haft-model::client::retry::the_provider_decides_about_a_retry_whatever_the_status_is",
            "haft-model::client::retry::a_wait_that_the_message_states_is_read",
            "haft-model::client::retry::an_error_of_the_key_inside_of_a_stream_is_not_retried",
            // The waits themselves need no server.
            "haft-model::turn_loop::model_fault::runs_that_fail_together_do_not_retry_together",
            "haft-model::turn_loop::model_fault::processes_that_start_together_do_not_retry_together",
            "haft-model::turn_loop::model_fault::a_provider_may_be_down_for_more_than_a_minute",
        ],
    },
    Reported {
        subject: "streams of Chat Completions that deviate",
        rules: Rules::NoRequest(ANSWER),
        tests: &["haft-model::client::compatible::streams_that_deviate_are_read"],
    },
    Reported {
        subject: "settings and content that a model rejects",
        rules: Rules::Judged(
            &[
                "rule::sampling",
                "rule::stops",
                "responses::_rules",
                "messages::_model",
                "messages::_thinking",
                "messages::_results",
                "gemini::_result_media",
            ],
            &[
                "haft-parts::parts::request::chat::models_that_reason_have_no_sampling",
                "haft-parts::parts::request::chat::settings_that_some_models_reject",
                "haft-parts::parts::request::responses::limits_of_the_answer",
                "haft-parts::parts::request::anthropic::what_some_models_reject",
                "haft-parts::parts::request::anthropic::thinking_and_tools",
                "haft-parts::parts::request::anthropic::calls_and_results",
                "haft-parts::parts::request::gemini::files_of_results",
            ],
        ),
        tests: &[
            "haft-model::client::rejection::settings_that_a_model_rejects_are_left_off",
            "haft-model::client::rejection::what_the_table_doubts_is_sent",
            "haft-model::client::rejection::images_that_a_tool_returns_do_not_fail_the_requests_to_gemini_2",
            "haft-model::client::rejection::what_a_failed_call_returned_besides_text_follows_its_result",
            "haft-model::client::rejection::settings_that_exclude_each_other_are_not_sent_together",
            "haft-model::client::rejection::sequences_and_limits_that_openai_rejects_are_left_off_or_raised",
            "haft-model::client::thinking::a_budget_of_thinking_is_below_the_limit_of_the_answer",
            "haft-model::client::thinking::a_turn_that_another_provider_began_ends_without_thinking",
        ],
    },
    Reported {
        subject: "streams of many parts, and huge errors: their cost is measured by `cargo xtask growth`",
        rules: Rules::NoRequest(ANSWER),
        tests: &[
            "haft-model::client::stream::bodies_and_events_have_a_limit",
            "haft-model::client::failure::long_messages_are_shortened",
        ],
    },
    Reported {
        subject: "secrets in settings",
        rules: Rules::Judged(
            &["rule::sealed_secrets", "messages::_mcp_servers"],
            &["haft-parts::parts::request::chat::sealed_secrets", "haft-parts::parts::request::anthropic::mcp_servers"],
        ),
        tests: &[
            "haft-model::client::planted_secret::nothing_that_is_printed_or_stored_contains_a_secret",
            "haft-model::client::planted_secret::the_provider_is_sent_every_secret_and_errors_that_quote_it_hide_it",
            "haft-model::client::planted_secret::a_loop_shows_no_secret_in_events_spans_reports_recordings_and_its_state",
        ],
    },
    Reported {
        subject: "calls that repeat",
        rules: Rules::NoRequest("every request is valid; the loop decides"),
        tests: &[
            "haft-model::client::repetition::tests_may_run_as_often_as_there_are_edits_between",
            "haft-model::client::repetition::a_model_that_repeats_itself_is_told_once_and_then_the_loop_ends",
        ],
    },
    Reported {
        subject: "tools that must be strict",
        rules: Rules::Judged(
            &["rule::strict_schema", "messages::_model"],
            &[
                "haft-parts::parts::request::responses::strict_schemas",
                "haft-parts::parts::request::chat::strict_schemas",
                "haft-parts::parts::request::anthropic::strict_schemas",
            ],
        ),
        tests: &["haft-model::client::rejection::a_tool_that_must_be_strict_is_sent_so_or_fails_the_request_by_name"],
    },
    Reported {
        subject: "what the service ran itself",
        rules: Rules::Judged(
            &["messages::_server_results"],
            &["haft-parts::parts::request::anthropic::calls_and_results"],
        ),
        tests: &[
            "haft-model::client::hosted::what_anthropic_ran_is_read_and_sent_back",
            "haft-model::client::hosted::what_openai_ran_is_read_and_sent_back",
            "haft-model::client::hosted::what_gemini_ran_is_read_and_sent_back",
        ],
    },
];

#[test]
fn every_report_has_its_rules_and_its_tests_over_http() {
    let mut index = TestIndex::default();
    let mut faults = Vec::new();
    for Reported { subject, rules, tests } in REPORTED {
        let mut named: Vec<&str> = tests.to_vec();
        match rules {
            Rules::Judged(functions, tests) => {
                faults.extend(functions.iter().filter_map(|function| index.fault_of_rule(function)));
                named.extend(*tests);
            }
            Rules::NoRequest(reason) => assert!(reason.len() > 20, "{subject}: {reason}"),
        }
        faults.extend(named.iter().filter_map(|test| index.fault_of_test(test)));
        if !tests.iter().any(|test| test.starts_with("haft-model::client::")) {
            faults.push(format!("{subject}: no test over HTTP"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
