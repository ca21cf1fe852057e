//! Dates, times and time zones.
//!
//! Every tool reads times in the same way (`reading`) and returns them in the same shape (`moment`). Time zone rules
//! come from the program's built-in IANA database: a call's result never depends on the machine, whose time zone is
//! never read. The current time comes from one clock, which tests replace.

mod arithmetic;
mod convert;
mod fault;
mod moment;
mod reading;
mod zones;

use std::sync::Arc;
use std::time::SystemTime;

use haft_executor::{DefinitionError, Tool};

/// The source of the current time.
pub(super) type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The time notations, as every description explains them.
macro_rules! time_help {
    () => {
        "Times are RFC 3339 (2024-05-01T12:00:00Z or +02:00), optionally with a zone (2024-05-01T12:00[Europe/Paris]), \
         a local date or date-time without offset (2024-05-01, 2024-05-01T12:00), which is read in `zone`, RFC 2822 \
         (Wed, 1 May 2024 12:00:00 +0200), Unix seconds after an @ (@1714557600), or the word now. \
         Zones are IANA names such as America/New_York, UTC, or an offset such as +05:30; without `zone`, local times are UTC."
    };
}
use time_help;

/// Creates the tools.
pub(super) fn tools(clock: &WallClock) -> [Result<Tool, DefinitionError>; 6] {
    [
        convert::now(clock),
        convert::parse(clock),
        convert::format(clock),
        arithmetic::add(clock),
        arithmetic::diff(clock),
        zones::tool(clock),
    ]
}
