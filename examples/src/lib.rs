//! Examples of haft: one small program per idea, beside this folder. Each runs as is and checks what it shows:
//! `cargo run --example quickstart`.
