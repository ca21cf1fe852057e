//! The command's output, case by case: `tests/cmd/<command>/<case>.trycmd`.
//!
//! A folder `<case>.in` is its case's working folder. `TRYCMD=overwrite` writes the expected output anew.

use std::path::Path;

#[test]
fn the_output_of_every_command_is_as_recorded() {
    let state = tempfile::tempdir().unwrap();
    trycmd::TestCases::new()
        .default_bin_path(env!("CARGO_BIN_EXE_haft"))
        .register_bin("haft", Path::new(env!("CARGO_BIN_EXE_haft")))
        .env("HAFT_STATE_DIR", state.path().display().to_string())
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .case("tests/cmd/**/*.trycmd");
}
