//! The examples that the command for all of them can't run, because they need a provider.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

mod agent;
mod chat_service;
