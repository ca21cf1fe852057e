//! `#[tools]`: methods as tools.

use std::sync::{Arc, Mutex};

use haft::run::{RunOptions, ToolCall, ToolFailure};
use haft::tool::{Cx, HandlerOutput, Outputs, StaticTool, ToolType};
use haft::toolkit::{KitType, Services, Toolkit};
use haft::{JsonSchema, compose, tool, toolkit, tools};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::running::{run_in, value};

#[derive(Default)]
struct Desk {
    tickets: Mutex<Vec<String>>,
}

struct Clock(u64);

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Receipt {
    number: usize,
}

#[tools]
impl Desk {
    const LIMIT: usize = 3;

    /// Opens a ticket.
    #[tool(destructive = false, timeout = "5s")]
    async fn open_ticket(
        &self,
        /// One line.
        #[schemars(length(min = 1))]
        title: String,
        #[service] clock: &Clock,
        cx: &Cx,
    ) -> Result<Receipt, String> {
        tokio::task::yield_now().await;
        let number = self.add(format!("{} {title} {}", clock.0, cx.call_id()));
        if number > Self::LIMIT { Err("the desk is full".to_owned()) } else { Ok(Receipt { number }) }
    }

    #[haft::tool(name = "count", type = CountTickets, readonly)]
    pub(crate) fn count(&self) -> usize {
        self.tickets.lock().unwrap().len()
    }

    #[tool(blocking)]
    fn find(&self, #[params] words: Vec<String>) -> std::io::Result<Vec<String>> {
        let tickets = self.tickets.lock().map_err(|_| std::io::Error::other("poisoned"))?;
        Ok(tickets.iter().filter(|ticket| words.iter().all(|word| ticket.contains(word))).cloned().collect())
    }

    #[tool]
    fn watch(&self) -> Outputs<usize> {
        Outputs::new(futures_util::stream::iter([HandlerOutput::Final(self.count())]))
    }

    /// Needs no desk.
    #[tool]
    fn limit() -> usize {
        Self::LIMIT
    }

    fn add(&self, ticket: String) -> usize {
        let mut tickets = self.tickets.lock().unwrap();
        tickets.push(ticket);
        tickets.len()
    }
}

#[derive(Services)]
struct App {
    desk: Arc<Desk>,
    clock: Clock,
}

fn served() -> (Arc<Desk>, Toolkit) {
    let desk = Arc::new(Desk::default());
    let app = App { desk: Arc::clone(&desk), clock: Clock(7) };
    (desk, Desk::toolkit().provide(app))
}

#[tokio::test]
async fn methods_run_on_the_service_of_their_type() {
    let (desk, kit) = served();
    kit.ensure_runnable().unwrap();
    assert_eq!(kit.names().collect::<Vec<_>>(), ["open_ticket", "count", "find", "watch", "limit"]);
    assert_eq!(kit.names().collect::<Vec<_>>(), Desk::TOOLS);
    let call = ToolCall::new("c9", "open_ticket", r#"{"title": "no light"}"#);
    assert_eq!(kit.run_call(&call).await.decode::<Receipt>().unwrap(), Receipt { number: 1 });
    assert_eq!(*desk.tickets.lock().unwrap(), ["7 no light c9"], "the desk is shared, not copied");
    assert_eq!(value(&run_in(&kit, "count", json!({})).await), json!(1));
    assert_eq!(value(&run_in(&kit, "find", json!(["light"])).await), json!(["7 no light c9"]));
    assert_eq!(value(&run_in(&kit, "watch", json!({})).await), json!(1));
    assert_eq!(value(&run_in(&kit, "limit", json!({})).await), json!(3));
}

#[tokio::test]
async fn methods_are_checked_described_and_called_as_functions_are() {
    let (desk, kit) = served();
    let tool = OpenTicket::tool().unwrap();
    assert_eq!((tool.description(), OpenTicket::NAME), (Some("Opens a ticket."), "open_ticket"));
    assert_eq!(tool.json_schema()["properties"]["title"]["description"], "One line.");
    assert_eq!(tool.dependencies().len(), 2);
    assert!(Limit::tool().unwrap().dependencies().is_empty());
    let rejected = run_in(&kit, "open_ticket", json!({"title": "", "x": 1})).await;
    assert_eq!(rejected.failure().map(|failure| failure.issues.len()), Some(2));
    for _ in 0..3 {
        kit.call(OpenTicket { title: "a".to_owned() }).await.unwrap();
    }
    let full: ToolFailure = run_in(&kit, "open_ticket", json!({"title": "b"})).await.failure().unwrap().clone();
    assert_eq!((full.kind.as_str(), full.message.as_str()), ("tool_failed", "the desk is full"));
    // The methods stay methods.
    assert_eq!((desk.count(), Desk::limit()), (4, 3));
}

#[tokio::test]
async fn a_type_is_its_own_state() {
    let kit: Toolkit = toolkit![CountTickets, Limit].provide(Desk::default());
    assert_eq!(value(&run_in(&kit, "count", json!({})).await), json!(0));
    let desk = Arc::new(Desk::default());
    let shared: Toolkit = toolkit![CountTickets].provide(Arc::clone(&desk));
    desk.add("x".to_owned());
    assert_eq!(value(&run_in(&shared, "count", json!({})).await), json!(1));
}

/// The tenant on whose behalf a run acts.
struct Tenant(&'static str);

#[tools(run)]
impl Tenant {
    /// Lists the tenant's orders.
    #[tool]
    fn orders(&self, #[service] clock: &Clock) -> String {
        format!("{} at {}", self.0, clock.0)
    }
}

#[tokio::test]
async fn a_receiver_may_belong_to_the_run() {
    let kit = Tenant::toolkit().provide(App { desk: Arc::default(), clock: Clock(3) });
    let call = ToolCall::new("c1", "orders", "");
    let of = |tenant| RunOptions::new().service(Tenant(tenant));
    assert_eq!(kit.run_call_with(&call, of("ana")).await.to_model_text(), "ana at 3");
    assert_eq!(kit.run_call_with(&call, of("bob")).await.to_model_text(), "bob at 3");
    let missing = kit.ensure_runnable_with(RunOptions::new()).unwrap_err().missing_services;
    assert_eq!((missing.len(), missing[0].tool.as_str()), (1, "orders"));
}

/// The sum of two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a.saturating_add(b)
}

#[tool(signal)]
struct Done;

toolkit! {
    /// Arithmetic, and its end.
    struct Numbers = [Add, Done];
}

#[tokio::test]
async fn kits_compose_and_keep_their_services() {
    let app = App { desk: Arc::default(), clock: Clock(1) };
    let kit = compose![Numbers, Desk].provide(app);
    kit.ensure_runnable().unwrap();
    assert_eq!(kit.len(), Numbers::TOOLS.len() + Desk::TOOLS.len());
    assert_eq!(kit.call(OpenTicket { title: "t".to_owned() }).await.unwrap(), Receipt { number: 1 });
    assert_eq!(kit.call(Add { a: 1, b: 2 }).await.unwrap(), 3);
    let alone: Toolkit = compose![Numbers];
    let none: Toolkit = compose![];
    assert_eq!((alone.len(), none.len()), (2, 0));
    // At run time a kit is known by its name.
    let error = Toolkit::compose([Numbers::toolkit(), alone.label("alone")]).map(|_: Toolkit| ()).unwrap_err();
    assert_eq!(error.collisions[0].sources, ["Numbers", "alone"]);
}

#[tokio::test]
async fn a_tool_in_a_namespace_is_called_by_its_type() {
    let kit: Toolkit = toolkit![Add].namespace("math").unwrap();
    assert_eq!(kit.call(Add { a: 1, b: 2 }).await.unwrap(), 3);
    let twice = Toolkit::compose([kit, toolkit![Add].namespace("other").unwrap()]).unwrap();
    let error = twice.call(Add { a: 1, b: 2 }).await.unwrap_err();
    assert!(error.to_string().contains("`math__add`, `other__add`"), "{error}");
}
