//! The command against programs that others wrote.

mod chat;
mod run;
