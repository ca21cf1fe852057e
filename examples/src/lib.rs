//! Examples of haft: one small program per idea, beside this folder. Each runs without arguments and checks its own
//! output: `cargo run --example quickstart`.
