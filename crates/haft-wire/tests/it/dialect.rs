//! The dialects: what they render, what they lose, and the way back.

pub(crate) mod checker;
mod edge;
pub(crate) mod generated;
pub(crate) mod grammar;
mod instance;
mod loss;
mod round_trip;
mod rule;
mod typical;
