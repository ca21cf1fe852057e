//! Tests that need parts of `cargo xtask setup`.

mod aimock;
mod llama;
mod request;
mod sample;
