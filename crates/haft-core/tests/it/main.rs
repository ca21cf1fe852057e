//! The public API of haft-core, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_audit;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_bench;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_binding;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_changed;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_edge;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_edit;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_invalid;
#[cfg(all(feature = "approval", feature = "validate"))]
mod approval_machine;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_map;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_memory;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_peers;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_plan;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_policy;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_queue;
#[cfg(all(feature = "approval", feature = "validate"))]
mod approval_regression;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_signing;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_stored;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_surfaced;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_suspend;
#[cfg(all(feature = "validate", feature = "approval"))]
mod approval_verdict;
mod argument_issue;
#[cfg(feature = "validate")]
mod bad_input;
#[cfg(all(feature = "validate", feature = "approval"))]
mod canonical_argument;
#[cfg(feature = "validate")]
mod continuation;
mod conversation_values;
#[cfg(feature = "validate")]
mod deep_results;
#[cfg(feature = "validate")]
mod dialect_codec;
#[cfg(feature = "validate")]
mod dispatch;
#[cfg(feature = "validate")]
mod dynamic_tools;
#[cfg(feature = "validate")]
mod events_serialise;
#[cfg(all(feature = "validate", feature = "approval"))]
mod exact_arguments;
#[cfg(feature = "validate")]
mod executing;
#[cfg(feature = "validate")]
mod executor_faults;
#[cfg(feature = "validate")]
mod executor_property;
mod flexible_parameters;
#[cfg(feature = "validate")]
mod forwarding;
#[cfg(all(feature = "validate", feature = "approval"))]
mod forwarding_steps;
#[cfg(feature = "validate")]
mod gatekeepers;
#[cfg(feature = "validate")]
mod handler_forms;
#[cfg(feature = "validate")]
mod handling;
mod history;
mod history_property;
#[cfg(feature = "validate")]
mod hostile_input;
#[cfg(all(feature = "validate", feature = "approval"))]
mod identity;
#[cfg(feature = "validate")]
mod isolated_drop;
mod kit_types;
mod macro_expansion;
#[cfg(feature = "validate")]
mod merged_options;
#[cfg(feature = "validate")]
mod middleware;
#[cfg(all(feature = "validate", feature = "approval"))]
mod one_path;
#[cfg(feature = "validate")]
mod option_composition;
#[cfg(feature = "validate")]
mod output_cap;
#[cfg(all(feature = "validate", feature = "approval"))]
mod permit_arguments;
#[cfg(all(feature = "validate", feature = "approval"))]
mod previous_version;
#[cfg(feature = "validate")]
mod provider_executed;
mod provider_results;
#[cfg(all(feature = "validate", feature = "approval"))]
mod refine;
mod repairs;
#[cfg(feature = "validate")]
mod result_privacy;
#[cfg(feature = "validate")]
mod run_options;
#[cfg(feature = "validate")]
mod run_services;
#[cfg(feature = "validate")]
mod run_spans;
mod running;
#[cfg(feature = "validate")]
mod schema_attack;
#[cfg(feature = "validate")]
mod schema_attack_cost;
#[cfg(feature = "validate")]
mod schema_decode;
#[cfg(feature = "validate")]
mod schema_differential;
#[cfg(feature = "validate")]
mod schema_encode;
#[cfg(feature = "validate")]
mod schema_raw;
#[cfg(feature = "validate")]
mod schema_regression;
mod secure_json;
mod seeded;
#[cfg(all(feature = "validate", feature = "approval"))]
mod stored_descriptor;
#[cfg(feature = "validate")]
mod tool_api;
#[cfg(feature = "validate")]
mod tool_combinators;
#[cfg(feature = "validate")]
mod tool_faults;
mod tool_permit;
#[cfg(feature = "validate")]
mod tool_service;
#[cfg(feature = "validate")]
mod tool_source;
mod toolkit_composition;
mod toolkit_values;
#[cfg(feature = "validate")]
mod toolkits_guide;
#[cfg(feature = "validate")]
mod tools_and_toolkits;
#[cfg(feature = "validate")]
mod try_run;
#[cfg(feature = "validate")]
mod type_zoo;
#[cfg(feature = "validate")]
mod typed_emissions;
mod typed_lookup;
#[cfg(feature = "validate")]
mod unknown_tool;
#[cfg(feature = "validate")]
mod whole_results;
