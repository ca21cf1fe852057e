//! Tests of the built command.

mod cmd;
