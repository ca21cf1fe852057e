//! The calls that share a cached answer, and calls from inside cached calls.

mod nesting;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{Idempotent, Item, Readonly, ToolCall};
use haft_executor::{Cx, Next, Request, RunOptions, Services, Tool, Toolkit};
use haft_middleware::Cache;

#[derive(Clone, Copy)]
struct Tenant(&'static str);

/// The source from which the handler knows the tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    KitService,
    RunService,
    RunExtension,
    Middleware,
    Conversation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    SameCaller,
    Everyone,
}

const SOURCES: [Source; 5] =
    [Source::KitService, Source::RunService, Source::RunExtension, Source::Middleware, Source::Conversation];
const CALLERS: [Option<&str>; 2] = [None, Some("ana")];

/// A tool behind a cache that returns the tenant of its answer.
struct Bench {
    tool: Tool,
    runs: Arc<AtomicUsize>,
    /// The value that the middleware outside of the cache attaches.
    attached: Arc<Mutex<Option<Tenant>>>,
    source: Source,
    caller: Option<&'static str>,
}

impl Bench {
    fn new(source: Source, caller: Option<&'static str>, sharing: Sharing) -> Self {
        let runs = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&runs);
        let whose = move |(), cx: Cx| {
            counted.fetch_add(1, Ordering::SeqCst);
            let service = cx.service::<Tenant>().ok().copied();
            let tenant = service.or_else(|| cx.extension().copied()).map(|Tenant(name)| name.to_owned());
            let heard = || match cx.messages().first() {
                Some(Item::Message(message)) => message.content[0].as_text().map(str::to_owned),
                _ => None,
            };
            let whose = tenant.or_else(heard).unwrap_or_default();
            async move { whose }
        };
        let cache = Cache::new(Duration::from_secs(60));
        let cache = if sharing == Sharing::Everyone { cache.shared_between_callers() } else { cache };
        let attached = Arc::<Mutex<Option<Tenant>>>::default();
        let attaches = Arc::clone(&attached);
        let tool = Tool::new("whose").annotate(Readonly(true)).annotate(Idempotent(true)).handler(whose).unwrap();
        let tool = tool.wrap(cache).wrap(move |request: Request, next: Next| {
            let attached = *attaches.lock().unwrap();
            next.run(match attached {
                Some(tenant) => request.with_extension(tenant),
                None => request,
            })
        });
        Self { tool, runs, attached, source, caller }
    }

    /// Returns the toolkit and the options of a tenant.
    fn tenant(&self, name: &'static str) -> (Toolkit, RunOptions) {
        let (tenant, services) = (Tenant(name), Services::new().with(Tenant(name)));
        let kit: Toolkit = Toolkit::from_iter([self.tool.clone()]);
        let options = RunOptions::new();
        let (kit, options) = match self.source {
            Source::KitService => (kit.with_services(services), options),
            Source::RunService => (kit, options.services(services)),
            Source::RunExtension => (kit, options.extension(tenant)),
            Source::Middleware => (kit, options),
            Source::Conversation => (kit, options.messages(vec![Item::user(name)])),
        };
        (kit, self.caller.iter().fold(options, |options, caller| options.caller(*caller)))
    }

    /// Returns the result for a tenant, in a run or as a single call.
    async fn ask(&self, (kit, options): &(Toolkit, RunOptions), name: &'static str, alone: bool) -> String {
        *self.attached.lock().unwrap() = (self.source == Source::Middleware).then_some(Tenant(name));
        let call = ToolCall::new("c1", "whose", "");
        let result = if alone {
            kit.run_call_with(&call, options).await
        } else {
            kit.run_with([call], options.clone()).collect_results().await.remove(0)
        };
        result.value().unwrap().to_value().as_str().unwrap().to_owned()
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

/// Returns every row: the tenant's source, the caller, the sharing, and whether the call is a separate run.
fn rows() -> impl Iterator<Item = (Source, Option<&'static str>, Sharing, bool)> {
    let sharings = [Sharing::SameCaller, Sharing::Everyone];
    SOURCES.into_iter().flat_map(move |source| {
        let callers = CALLERS.into_iter().flat_map(move |caller| sharings.map(|sharing| (caller, sharing)));
        callers.flat_map(move |(caller, sharing)| [false, true].map(|alone| (source, caller, sharing, alone)))
    })
}

#[tokio::test(start_paused = true)]
async fn a_cached_result_reaches_no_other_tenant() {
    for (source, caller, sharing, alone) in rows() {
        let bench = Bench::new(source, caller, sharing);
        let (one, other) = (bench.tenant("one"), bench.tenant("other"));
        let answers = [
            bench.ask(&one, "one", alone).await,
            bench.ask(&other, "other", alone).await,
            bench.ask(&one, "one", alone).await,
        ];
        let is_shared = match (sharing, source) {
            (Sharing::Everyone, source) => source != Source::KitService,
            // The caller identifies its conversations.
            (Sharing::SameCaller, Source::Conversation) => caller.is_some(),
            (Sharing::SameCaller, _) => false,
        };
        let expected = if is_shared { ["one", "one", "one"] } else { ["one", "other", "one"] };
        assert_eq!(answers, expected, "{source:?}, {caller:?}, {sharing:?}, {alone}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_with_the_same_services_and_extensions_is_answered_from_the_cache() {
    for (source, caller, sharing, alone) in rows() {
        let bench = Bench::new(source, caller, sharing);
        let tenant = bench.tenant("one");
        for _ in 0..3 {
            assert_eq!(bench.ask(&tenant, "one", alone).await, "one");
        }
        let is_kept = match (sharing, source) {
            (Sharing::Everyone, _) | (_, Source::KitService | Source::RunService | Source::RunExtension) => true,
            (Sharing::SameCaller, Source::Conversation) => caller.is_some(),
            // The middleware attaches another value to each request.
            (Sharing::SameCaller, Source::Middleware) => false,
        };
        assert_eq!(bench.runs(), if is_kept { 1 } else { 3 }, "{source:?}, {caller:?}, {sharing:?}, {alone}");
    }
}

/// Integers beyond 64 bits have no exact tree, so their calls have no key.
#[tokio::test]
async fn a_cache_never_takes_one_wide_integer_for_another() {
    let amounts =
        ["7", "18446744073709551615", "18446744073709551616", "18446744073709551617", "100000000000000000000"];
    let tool = Tool::new("mint").annotate(Readonly(true)).annotate(Idempotent(true));
    let tool = tool.handler(|amount: u128, _cx| async move { amount.to_string() }).unwrap();
    let kit: Toolkit = Toolkit::from_iter([tool.wrap(Cache::new(Duration::from_secs(60)))]);
    for amount in amounts.into_iter().chain(amounts) {
        let result = kit.run_call(&ToolCall::new("c1", "mint", amount)).await;
        assert_eq!(result.to_model_text(), amount);
    }
}
