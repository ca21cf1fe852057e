//! Tests against servers: hostile ones of ours, and real ones.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what helps a test may stop it")]

mod asking;
mod discovery;
mod exchange;
#[cfg(target_os = "linux")]
mod faults;
mod hostile;
mod http;
#[cfg(feature = "oauth")]
mod oauth;
#[cfg(target_os = "linux")]
mod parts;
#[cfg(unix)]
mod process;
mod secrecy;
#[cfg(feature = "server")]
mod serve;
mod servers;
mod web;
