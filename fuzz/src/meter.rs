//! The cost of one operation: the memory it held at once, and the time its thread spent on it.
//!
//! Neither is reported by the code under test, so work that is not charged to its budget is measured too. Time is
//! compared with that of a plain check in the same process, so the bound is the same on a slow machine and in an
//! unoptimised build.

use std::sync::OnceLock;
use std::time::Duration;

use cpu_time::ThreadTime;
use haft_schema::Schema;
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The work that any input may take, and the work per byte of it, in visited nodes.
const WORK: (u64, u64) = (100_000, 16);
/// The memory that any input may take.
const MEMORY: u64 = 1 << 20;
/// The most that the slowest unit of work may take, in units of a plain check: a unit also covers some bytes of text
/// that are copied, hashed or compared, a lookup, or a message that is written.
const SLOWEST_UNIT: u32 = 3;
/// The factor of memory over the budget: the budget counts the contents of lists and maps, not their spare capacity or
/// the copies while they grow.
const OVERHEAD: u64 = 2;
/// The number of times that an operation is repeated before it counts as slow.
const REPEATS: usize = 4;

/// The input of an operation, by which its cost is bounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input {
    bytes: usize,
    /// The number of checks that the operation consists of.
    checks: u32,
    memory_per_byte: u64,
}

impl Input {
    /// A schema that is compiled, which takes two checks.
    pub(crate) fn schema(bytes: usize) -> Self {
        Self { bytes, checks: 2, memory_per_byte: 64 }
    }

    /// A value that is checked this many times.
    pub(crate) fn value(bytes: usize, checks: u32) -> Self {
        Self { bytes, checks, memory_per_byte: 16 }
    }
}

/// The cost of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// The most bytes that were allocated at once.
    pub(crate) memory: u64,
    time: Duration,
}

/// Runs an operation on an input, and panics when it takes more memory or work than that allows. The preparation of the
/// operation does not count.
pub(crate) fn bounded<I, T>(
    what: &str,
    Input { bytes, checks, memory_per_byte }: Input,
    prepare: impl Fn() -> I,
    operation: impl Fn(I) -> T,
) -> (T, Cost) {
    let (mut result, mut cost) = measured(prepare(), &operation);
    let allowed = OVERHEAD * (MEMORY + memory_per_byte * bytes as u64);
    let Cost { memory, .. } = cost;
    assert!(memory <= allowed, "{what} held {memory} bytes for {bytes} of input, and {allowed} are allowed");
    let allowed = plain_time(bytes) * checks * SLOWEST_UNIT;
    for _ in 0..REPEATS {
        if cost.time <= allowed {
            return (result, cost);
        }
        // Equal schemas share their compiled form: it must be dropped to be built again.
        drop(result);
        let again = measured(prepare(), &operation);
        result = again.0;
        cost.time = cost.time.min(again.1.time);
    }
    let time = cost.time;
    assert!(time <= allowed, "{what} took {time:?} for {bytes} bytes of input, and {allowed:?} are allowed");
    (result, cost)
}

fn measured<I, T>(input: I, operation: impl Fn(I) -> T) -> (T, Cost) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let start = ThreadTime::now();
    let result = operation(input);
    let time = start.elapsed();
    let memory = ALLOCATOR.peak_usage().saturating_sub(before) as u64;
    (result, Cost { memory, time })
}

/// Returns the time that the work allowed for this many bytes takes where each unit is a visited node and nothing
/// else.
fn plain_time(bytes: usize) -> Duration {
    /// The visited nodes of the plain check: two for each of its items.
    const NODES: u64 = 40_000;
    static PLAIN: OnceLock<Duration> = OnceLock::new();
    let plain = PLAIN.get_or_init(|| {
        let schema =
            Schema::json(json!({"items": {"type": "integer", "minimum": 1}})).unwrap_or_else(|_| Schema::unknown());
        let items: Value = vec![1; 20_000].into();
        let fastest = (0..10).map(|_| measured((), |()| schema.check(&items)).1.time).min();
        fastest.unwrap_or_default().max(Duration::from_micros(200))
    });
    let units = WORK.0 + WORK.1 * bytes as u64;
    *plain * u32::try_from(units / NODES + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::panic::catch_unwind;

    use cpu_time::ThreadTime;

    use super::{Input, SLOWEST_UNIT, bounded, plain_time};

    #[test]
    fn a_result_within_the_bounds_is_returned_with_its_cost() {
        let (length, cost) = bounded("it", Input::value(10, 1), || 100_000, |length| vec![1_u8; length].len());
        assert_eq!(length, 100_000);
        assert!(cost.memory >= 100_000, "{cost:?}");
    }

    #[test]
    fn too_much_memory_and_too_much_time_are_found() {
        let hoard = |length| black_box(vec![1_u8; length]).len();
        assert!(catch_unwind(|| bounded("it", Input::value(10, 1), || 10 << 20, hoard)).is_err());
        let long = plain_time(10) * SLOWEST_UNIT * 2;
        let loiter = |start: ThreadTime| while start.elapsed() < long {};
        assert!(catch_unwind(|| bounded("it", Input::value(10, 1), ThreadTime::now, loiter)).is_err());
    }
}
