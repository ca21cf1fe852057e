//! The public API of haft-schema, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod bad_input;
mod hostile_input;
mod repairs;
mod schema_attack;
mod schema_attack_cost;
mod schema_decode;
mod schema_differential;
mod schema_encode;
mod schema_raw;
mod schema_regression;
mod secure_json;
mod seeded;
mod type_zoo;
