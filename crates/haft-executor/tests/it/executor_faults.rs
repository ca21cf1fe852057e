//! Faults while calls run, each with the limited damage it may do.
//!
//! [`table`] has a row per fault: a call, and the one result it must get. Every row is checked ([`hold`]) four ways,
//! alone and in the middle of 64 healthy siblings, in the reading task and spawned ([`way`]). [`case`] is the language
//! of the rows and [`record`] has the invariants of every run. The other modules are scenarios that a row can't
//! express. The facade's tests check the same rows with the tools in another process.

mod broken;
mod budget;
mod case;
mod clock;
mod hold;
mod leak;
mod reader;
pub(crate) mod record;
mod regression;
mod slot;
mod stale_waker;
mod table;
mod thread;
mod trace;
pub(crate) mod way;
