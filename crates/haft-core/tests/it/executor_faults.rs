//! What goes wrong while calls run, and that nothing worse comes of it.
//!
//! [`table`] has a row per fault: a call, and the one answer it must get. Every row is held four ways, alone and in the
//! middle of 64 healthy siblings, in the reading task and spawned ([`way`]). [`case`] is the language of the rows and
//! [`record`] what holds for every run whatever happens in it. The rest are stories that one row can't tell.

mod broken;
mod budget;
mod case;
mod clock;
mod leak;
mod place;
mod reader;
pub(crate) mod record;
mod regression;
mod stale_waker;
mod table;
mod thread;
mod trace;
pub(crate) mod way;
