//! The schema tests of haft-core, with numbers that keep all their digits.

#[path = "../../../../crates/haft-core/tests/it/bad_input.rs"]
mod bad_input;
#[path = "../../../../crates/haft-core/tests/it/hostile_input.rs"]
mod hostile_input;
#[path = "../../../../crates/haft-core/tests/it/repairs.rs"]
mod repairs;
#[path = "../../../../crates/haft-core/tests/it/schema_decode.rs"]
mod schema_decode;
#[path = "../../../../crates/haft-core/tests/it/schema_encode.rs"]
mod schema_encode;
#[path = "../../../../crates/haft-core/tests/it/schema_raw.rs"]
mod schema_raw;
#[path = "../../../../crates/haft-core/tests/it/schema_regression.rs"]
mod schema_regression;
#[path = "../../../../crates/haft-core/tests/it/secure_json.rs"]
mod secure_json;
#[path = "../../../../crates/haft-core/tests/it/seeded.rs"]
mod seeded;
#[path = "../../../../crates/haft-core/tests/it/type_zoo.rs"]
mod type_zoo;

/// Without the feature, the rest would repeat the same tests.
#[test]
fn the_feature_is_on() {
    let digits = "1.00000000000000000000000000000000001";
    assert_eq!(serde_json::from_str::<serde_json::Value>(digits).unwrap().to_string(), digits);
}
