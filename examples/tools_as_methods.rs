//! Tools as methods: the receiver is a service, so the tools share the state of their type. A kit of them is composed
//! with another one, and names are compared at compile time.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::{Arc, Mutex, PoisonError};

use haft::prelude::*;
use haft::{compose, tools};
use serde::{Deserialize, Serialize};

/// A desk with tickets, used by the application and by the model.
#[derive(Default)]
struct Desk {
    tickets: Mutex<Vec<Ticket>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Ticket {
    number: usize,
    title: String,
}

/// A service beside the desk.
struct Limit(usize);

#[tools]
impl Desk {
    /// Opens a ticket.
    #[tool]
    fn open_ticket(
        &self,
        /// One line.
        #[schemars(length(min = 1, max = 80))]
        title: String,
        #[service] limit: &Limit,
    ) -> Result<Ticket, String> {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        if tickets.len() == limit.0 {
            return Err("the desk is full".to_owned());
        }
        let ticket = Ticket { number: tickets.len() + 1, title };
        tickets.push(ticket.clone());
        Ok(ticket)
    }

    /// Lists all tickets.
    #[tool(readonly)]
    fn list_tickets(&self) -> Vec<Ticket> {
        self.tickets()
    }

    // A method without `#[tool]` stays a method.
    fn tickets(&self) -> Vec<Ticket> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Hand over to a person.
#[tool(signal)]
struct Escalate {
    reason: String,
}

toolkit! {
    /// The tools that control the conversation.
    struct Control = [Escalate];
}

#[derive(Services)]
struct App {
    desk: Arc<Desk>,
    limit: Limit,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let desk = Arc::new(Desk::default());
    let kit = compose![Desk, Control].provide(App { desk: Arc::clone(&desk), limit: Limit(2) });
    println!("tools: {:?}", kit.names().collect::<Vec<_>>());

    // A call of a model and a call of the program reach the same desk.
    let call = ToolCall::new("c1", "open_ticket", r#"{"title": "no light in room 7"}"#);
    println!("the model opens: {}", kit.run_call(&call).await.to_model_text());
    let ticket = kit.call(OpenTicket { title: "no water".to_owned() }).await?;
    println!("the program opens: {ticket:?}");
    assert_eq!(kit.call(ListTickets {}).await?, desk.tickets());

    let full = kit.run_call(&call).await;
    println!("then: {}", full.to_model_text());
    assert_eq!(full.failure().map(|failure| failure.kind.as_str()), Some("tool_failed"));
    assert_eq!(desk.tickets().len(), 2);
    Ok(())
}
