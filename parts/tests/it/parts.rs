//! Tests that need parts of `cargo xtask setup`.

mod aimock;
mod llama;
mod prism;
mod request;
mod sample;
