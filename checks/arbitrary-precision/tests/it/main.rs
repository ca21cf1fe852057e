//! The schema tests of haft-schema, with numbers that keep all their digits.

#[path = "../../../../crates/haft-schema/tests/it/bad_input.rs"]
mod bad_input;
#[path = "../../../../crates/haft-schema/tests/it/hostile_input.rs"]
mod hostile_input;
#[path = "../../../../crates/haft-schema/tests/it/repairs.rs"]
mod repairs;
#[path = "../../../../crates/haft-schema/tests/it/schema_decode.rs"]
mod schema_decode;
#[path = "../../../../crates/haft-schema/tests/it/schema_encode.rs"]
mod schema_encode;
#[path = "../../../../crates/haft-schema/tests/it/schema_raw.rs"]
mod schema_raw;
#[path = "../../../../crates/haft-schema/tests/it/schema_regression.rs"]
mod schema_regression;
#[path = "../../../../crates/haft-schema/tests/it/secure_json.rs"]
mod secure_json;
#[path = "../../../../crates/haft-schema/tests/it/seeded.rs"]
mod seeded;
#[path = "../../../../crates/haft-schema/tests/it/type_zoo.rs"]
mod type_zoo;

/// Without the feature, the rest would repeat the same tests.
#[test]
fn the_feature_is_on() {
    let digits = "1.00000000000000000000000000000000001";
    assert_eq!(serde_json::from_str::<serde_json::Value>(digits).unwrap().to_string(), digits);
}
