//! Calls that pass, calls that wait and calls that are rejected.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::join_all;
use haft_core::{Annotations, ToolCall};
use haft_executor::{Cancellation, Next, RunOptions, Tool};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::queue::{Admission, Bucket, Pace};
use super::*;
use crate::tests::{Probe, brief, ms, run, run_call, run_in};

fn limited(probe: &Probe, limit: RateLimit) -> Tool {
    probe.tool(Annotations::new()).wrap(limit)
}

/// Runs a call as this caller.
async fn run_as(tool: &Tool, caller: &str) -> Value {
    brief(&run_in(tool, |options| options.caller(caller)).await)
}

fn rejected() -> Value {
    json!(["rate_limited", false])
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_burst_wait_one_interval_each() {
    // Calls, milliseconds, burst, and when each of three calls runs that come at once.
    let table: [(u32, u64, u32, [u128; 3]); 5] = [
        (1, 1_000, 1, [0, 1_000, 2_000]),
        (4, 1_000, 1, [0, 250, 500]),
        (4, 1_000, 2, [0, 0, 250]),
        (3, 1_000, 3, [0, 0, 0]),
        (3, 0, 1, [0, 0, 0]),
    ];
    for (calls, per, burst, times) in table {
        let probe = Probe::new([]);
        let tool = limited(&probe, RateLimit::new(calls, ms(per)).burst(burst));
        let (first, second, third) = tokio::join!(run(&tool), run(&tool), run(&tool));
        assert!(first.is_ok() && second.is_ok() && third.is_ok());
        assert_eq!(probe.times(), times, "{calls} in {per} ms, {burst} at once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_while_fills_the_bucket_and_no_more_than_that() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(2, ms(1_000)).reject());
    let mut passed = Vec::new();
    for pause in [0, 0, 0, 500, 0, 60_000, 0, 0] {
        sleep(ms(pause)).await;
        passed.push(run(&tool).await.is_ok());
    }
    assert_eq!(passed, [true, true, false, true, false, true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_pass_in_the_order_of_arrival() {
    let order: Mutex<Vec<u32>> = Mutex::default();
    let tool = limited(&Probe::new([]), RateLimit::new(1, ms(100)));
    let arrive = |number: u32, at: u64| {
        let (tool, order) = (&tool, &order);
        async move {
            sleep(ms(at)).await;
            run(tool).await;
            order.lock().unwrap().push(number);
        }
    };
    // The last one comes at the very moment at which a token is there, when others still wait for it.
    tokio::join!(arrive(1, 0), arrive(4, 30), arrive(2, 10), arrive(3, 20), arrive(5, 100));
    assert_eq!(*order.lock().unwrap(), [1, 2, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_stops_waiting_leaves_its_turn_to_the_next() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)));
    let cancellation = Cancellation::new();
    let cancelled = async {
        let result = run_in(&tool, |options| options.cancellation(cancellation.clone())).await;
        (brief(&result), Instant::now())
    };
    let began = Instant::now();
    let (_, (given_up, at), dropped, last, ()) =
        tokio::join!(run(&tool), cancelled, tokio::time::timeout(ms(700), run(&tool)), run(&tool), async {
            sleep(ms(300)).await;
            cancellation.cancel();
        });
    assert_eq!(given_up, json!(["cancelled", false]));
    assert_eq!(at - began, ms(300));
    assert!(dropped.is_err());
    assert!(last.is_ok());
    assert_eq!(probe.times(), [0, 1_000]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_left_the_queue_is_not_counted_as_waiting() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)).longest_wait(ms(1_000)));
    assert!(run(&tool).await.is_ok());
    assert!(tokio::time::timeout(ms(100), run(&tool)).await.is_err());
    assert!(run(&tool).await.is_ok());
    assert!(run(&tool).await.is_ok(), "calls that had their turn are not counted either");
    assert_eq!(probe.times(), [0, 1_000, 2_000]);
}

/// Polls once, and then no more for this long.
async fn neglected<F: Future>(work: F, pause: Duration) -> F::Output {
    let mut work = pin!(work);
    let first = poll_fn(|task| Poll::Ready(work.as_mut().poll(task))).await;
    sleep(pause).await;
    match first {
        Poll::Ready(output) => output,
        Poll::Pending => work.await,
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_polled_costs_the_others_no_more_than_its_own_turn() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)));
    run(&tool).await;
    let began = Instant::now();
    let (at, (), others) = tokio::join!(
        async {
            neglected(run(&tool), ms(10_500)).await;
            began.elapsed()
        },
        async {
            // Comes when the neglected one has missed its turn, and the token that it left is taken.
            sleep(ms(2_500)).await;
            run(&tool).await;
        },
        tokio::time::timeout(ms(5_000), async { tokio::join!(run(&tool), run(&tool)) }),
    );
    assert!(others.is_ok_and(|(one, other)| one.is_ok() && other.is_ok()));
    assert_eq!(probe.times(), [0, 2_000, 3_000, 4_000, 10_500]);
    assert_eq!(at, ms(10_500), "no other call came meanwhile");
}

#[tokio::test(start_paused = true)]
async fn one_that_missed_its_turn_takes_the_next_and_all_others_go_one_later() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)));
    run(&tool).await;
    let order: Mutex<Vec<u32>> = Mutex::default();
    let run_as = async |number| {
        run(&tool).await;
        order.lock().unwrap().push(number);
    };
    tokio::join!(neglected(run_as(1), ms(2_500)), run_as(2), run_as(3), run_as(4));
    assert_eq!(probe.times(), [0, 2_000, 3_000, 4_000, 5_000]);
    assert_eq!(*order.lock().unwrap(), [2, 1, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_a_little_late_finds_its_token_still_there() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)));
    run(&tool).await;
    // The middle one leaves when the first one's turn has come and it was not polled yet.
    let (late, left, last) =
        tokio::join!(neglected(run(&tool), ms(1_100)), tokio::time::timeout(ms(1_050), run(&tool)), run(&tool),);
    assert_eq!((brief(&late), left.is_err(), brief(&last)), (json!(1), true, json!(2)));
    assert_eq!(probe.times(), [0, 1_100, 2_100]);
}

#[tokio::test(start_paused = true)]
async fn a_released_turn_moves_all_later_ones_up() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)).longest_wait(ms(3_000)));
    run(&tool).await;
    let order: Mutex<Vec<u32>> = Mutex::default();
    let arrive = async |number, at| {
        sleep(ms(at)).await;
        assert!(run(&tool).await.is_ok(), "{number}");
        order.lock().unwrap().push(number);
    };
    let (given_up, ..) =
        tokio::join!(tokio::time::timeout(ms(500), run(&tool)), arrive(1, 0), arrive(2, 0), arrive(3, 600));
    assert!(given_up.is_err());
    assert_eq!(probe.times(), [0, 1_000, 2_000, 3_000]);
    assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_leaves_takes_nothing_with_it() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)).longest_wait(ms(2_000_000)));
    run(&tool).await;
    let crowd = (0..1_000).map(|_| run(&tool));
    assert!(tokio::time::timeout(ms(100), join_all(crowd)).await.is_err());
    assert!(run(&tool).await.is_ok());
    assert_eq!(probe.times(), [0, 1_000]);
}

#[tokio::test(start_paused = true)]
async fn in_a_long_queue_all_that_stay_move_up_when_others_leave() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)).longest_wait(ms(2_000_000)));
    run(&tool).await;
    let call = |number: u64| {
        let tool = &tool;
        // Every third leaves, at its own time, some right before their turns.
        async move {
            let patience = if number.is_multiple_of(3) { 10 + number * 400 } else { 2_000_000 };
            tokio::time::timeout(ms(patience), run(tool)).await.is_ok()
        }
    };
    let passed = join_all((0..100).map(call)).await.into_iter().filter(|passed| *passed).count();
    assert!(passed < 100, "no call left");
    let times: Vec<u128> = (0..=passed as u128).map(|second| second * 1_000).collect();
    assert_eq!(probe.times(), times, "a turn was lost");
}

/// One call's course: when it comes, how long it is not polled, and when it is dropped.
#[derive(Clone, Copy, Debug)]
struct Course {
    comes: u64,
    pause: u64,
    dropped_after: u64,
}

fn course() -> impl Strategy<Value = Course> {
    let pause = prop_oneof![3 => Just(0), 1 => 0..3_000u64];
    let dropped_after = prop_oneof![3 => Just(1_000_000), 1 => 0..3_000u64];
    (0..3_000u64, pause, dropped_after).prop_map(|(comes, pause, dropped_after)| Course { comes, pause, dropped_after })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_rate_is_never_exceeded_and_calls_that_stay_pass(
        calls in 1..12u32,
        burst in 1..5u32,
        courses in prop::collection::vec(course(), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (passed, stayed) = runtime.block_on(live(RateLimit::new(calls, ms(1_000)).burst(burst), &courses));
        prop_assert!(stayed, "a call that stayed did not pass");
        let interval = ms(1_000) / calls;
        for (first, earlier) in passed.iter().enumerate() {
            for (more, later) in (1..).zip(&passed[first + 1..]) {
                let least = interval * u32::saturating_sub(more + 1, burst);
                prop_assert!(*later - *earlier >= least, "{} calls in {:?}", more + 1, *later - *earlier);
            }
        }
    }
}

/// Runs calls and returns when they passed, and whether all passed that were not dropped.
async fn live(limit: RateLimit, courses: &[Course]) -> (Vec<Instant>, bool) {
    let passed: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let record = Arc::clone(&passed);
    let watch = move |request, next: Next| {
        record.lock().unwrap().push(Instant::now());
        next.run(request)
    };
    let tool = Probe::new([]).tool(Annotations::new());
    let tool = tool.wrap(watch).wrap(limit);
    let lives = courses.iter().map(async |fate| {
        sleep(ms(fate.comes)).await;
        let call = neglected(run(&tool), ms(fate.pause));
        let end = tokio::time::timeout(ms(fate.dropped_after), call).await;
        end.map_or(fate.dropped_after < 1_000_000, |result| result.is_ok())
    });
    let stayed = join_all(lives).await.into_iter().all(|fine| fine);
    let passed = passed.lock().unwrap().clone();
    (passed, stayed)
}

#[tokio::test(start_paused = true)]
async fn a_rejected_call_reports_when_to_try_again() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(4, ms(1_000)).burst(1).reject());
    run(&tool).await;
    sleep(ms(100)).await;
    let result = run(&tool).await;
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind.as_str(), RateLimit::KIND);
    assert_eq!(failure.retry_after, Some(ms(150)));
    assert_eq!(failure.message, "too many calls in a short time: try again in 150.0ms");
    assert!(failure.retryable && !failure.started);
    sleep(ms(150)).await;
    assert!(run(&tool).await.is_ok());
    assert_eq!(probe.times(), [0, 250]);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_turn_is_beyond_the_longest_wait_is_rejected_at_once() {
    let probe = Probe::new([]);
    let tool = limited(&probe, RateLimit::new(1, ms(1_000)).longest_wait(ms(2_000)));
    let began = Instant::now();
    let fourth = async {
        let result = run(&tool).await;
        assert_eq!(began.elapsed(), ms(0));
        result
    };
    let (a, b, c, d) = tokio::join!(run(&tool), run(&tool), run(&tool), fourth);
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(brief(&d), rejected());
    assert_eq!(d.failure().unwrap().retry_after, Some(ms(3_000)));
    assert_eq!(probe.times(), [0, 1_000, 2_000]);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_turn_is_not_before_the_deadline_is_rejected_at_once() {
    for (deadline, passes) in [(1_001, true), (1_000, false), (10, false)] {
        let tool = limited(&Probe::new([]), RateLimit::new(1, ms(1_000)));
        run(&tool).await;
        let began = Instant::now();
        let result = run_in(&tool, |options| options.deadline(began + ms(deadline))).await;
        assert_eq!(result.is_ok(), passes, "{deadline}");
        assert_eq!(began.elapsed(), if passes { ms(1_000) } else { ms(0) });
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_passes_a_limit_of_zero() {
    for limit in [RateLimit::new(0, ms(1_000)), RateLimit::new(5, ms(1_000)).burst(0)] {
        let result = run(&limited(&Probe::new([]), limit)).await;
        assert_eq!(brief(&result), rejected());
        assert!(!result.failure().unwrap().retryable);
    }
}

#[tokio::test(start_paused = true)]
async fn a_period_without_end_lets_the_burst_through_and_no_more() {
    let tool = limited(&Probe::new([]), RateLimit::new(2, Duration::MAX).reject());
    assert!(run(&tool).await.is_ok() && run(&tool).await.is_ok());
    sleep(Duration::from_secs(86_400)).await;
    assert_eq!(brief(&run(&tool).await), rejected());
    for limit in [RateLimit::new(1, Duration::MAX), RateLimit::new(1, Duration::MAX).longest_wait(Duration::MAX)] {
        let tool = limited(&Probe::new([]), limit);
        assert!(run(&tool).await.is_ok());
        let crowd = (0..50).map(|_| run(&tool));
        assert!(tokio::time::timeout(Duration::from_secs(86_400), join_all(crowd)).await.is_err());
    }
    let wide = limited(&Probe::new([]), RateLimit::new(1, Duration::MAX).burst(u32::MAX));
    assert!(run(&wide).await.is_ok() && run(&wide).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn clones_count_together_and_changed_copies_do_not() {
    let limit = RateLimit::new(1, ms(1_000)).reject();
    let one = limited(&Probe::new([]), limit.clone());
    let other = limited(&Probe::new([]), limit.clone());
    let apart = limited(&Probe::new([]), limit.burst(1));
    assert!(run(&one).await.is_ok());
    assert_eq!(brief(&run(&other).await), rejected());
    assert!(run(&apart).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn tools_and_callers_are_counted_separately_on_request() {
    let limit = || RateLimit::new(1, ms(1_000)).reject();
    // The calls that pass, in this order: Ada on the first tool, Bob on the first, Ada on the second, Bob on the
    // second, and twice without a caller on the first.
    let table = [
        (limit(), [true, false, false, false, false, false]),
        (limit().per_tool(), [true, false, true, false, false, false]),
        (limit().per_caller(), [true, true, false, false, true, false]),
        (limit().per_tool().per_caller(), [true, true, true, true, true, false]),
    ];
    for (limit, expected) in table {
        let shown = format!("{:?}", limit.grouping);
        let first = limited(&Probe::new([]), limit.clone());
        let second = Probe::new([]).tool(Annotations::new()).with_name("second").unwrap().wrap(limit);
        let second_as = async |caller: &str| {
            let call = ToolCall::new("c1", "second", "{}");
            brief(&run_call(&second, &call, &RunOptions::new().caller(caller)).await)
        };
        let results = [
            run_as(&first, "ada").await,
            run_as(&first, "bob").await,
            second_as("ada").await,
            second_as("bob").await,
            brief(&run(&first).await),
            brief(&run(&first).await),
        ];
        assert_eq!(results.map(|result| result != rejected()), expected, "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn unused_buckets_are_removed() {
    let limit = RateLimit::new(1, ms(1_000)).per_caller().reject();
    let tool = limited(&Probe::new([]), limit.clone());
    for round in 0..50 {
        for caller in 0..20 {
            run_as(&tool, &format!("{round}-{caller}")).await;
        }
        sleep(ms(2_000)).await;
    }
    assert!(limit.buckets.len() <= 128, "{} buckets for 1000 callers, 20 at a time", limit.buckets.len());
}

#[tokio::test(start_paused = true)]
async fn no_bucket_is_thrown_away_that_still_counts() {
    let limit = RateLimit::new(1, ms(60_000)).per_caller().reject();
    let tool = limited(&Probe::new([]), limit);
    for caller in 0..500 {
        run_as(&tool, &caller.to_string()).await;
    }
    for caller in 0..500 {
        assert_eq!(run_as(&tool, &caller.to_string()).await, rejected());
    }
}

/// Looks at a bucket from another thread when it is woken.
struct Looking {
    bucket: Arc<Bucket>,
    now: Instant,
    was_free: AtomicBool,
}

impl Wake for Looking {
    fn wake(self: Arc<Self>) {
        let (looked, has_looked) = mpsc::channel();
        let looking = Arc::clone(&self);
        std::thread::spawn(move || {
            looking.bucket.is_full(looking.now);
            let _ = looked.send(());
        });
        // Bounds how long the test hangs when it fails.
        self.was_free.store(has_looked.recv_timeout(Duration::from_secs(10)).is_ok(), Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn no_call_is_woken_while_the_bucket_is_locked() {
    let now = Instant::now();
    let bucket = Arc::new(Bucket::full(now));
    let pace = Pace { interval: ms(100), refill: ms(100) };
    assert!(matches!(bucket.arrive(pace, None), Admission::Admitted));
    let (Admission::Queued(first), Admission::Queued(second)) = (bucket.arrive(pace, None), bucket.arrive(pace, None))
    else {
        panic!("both wait")
    };
    let looking = Arc::new(Looking { bucket: Arc::clone(&bucket), now, was_free: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&looking));
    let mut turn = Box::pin(second.turn());
    assert!(turn.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(first);
    assert!(looking.was_free.load(Ordering::SeqCst));
}
