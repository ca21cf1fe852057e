//! `haft schema`: the schema that is published for editors.

use std::process::Command;

use serde_json::Value;

const PUBLISHED: &str = include_str!("../../../haft-workspace/haft.schema.json");

#[test]
fn the_schema_for_editors_is_the_published_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_haft")).arg("schema").current_dir(folder.path()).output().unwrap();
    assert!(output.status.success());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, serde_json::from_str::<Value>(PUBLISHED).unwrap());
}
