//! One call that may have been answered before.

use std::sync::Arc;

use super::Cache;
use super::key::Key;
use super::nesting::Nesting;
use super::store::Found;
use crate::executor::Isolated;
use crate::middleware::wait::{called_off, unless_cancelled};
use crate::middleware::{Middleware, Next, Request};
use crate::output::ToolOutput;
use crate::result::Outcome;

impl Middleware for Cache {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let Some(key) = Key::of(&request, self.sharing) else { return next.run(request).await };
        let seat = match self.store.find(key) {
            Found::Answer(output) => return Outcome::Ok(ToolOutput::clone(&output)),
            Found::Seat(seat) => seat,
        };
        let landed = match Nesting::current() {
            // It may be the call that is run which makes this one: it runs beside it.
            Nesting::Inside => match seat.gate().try_lock() {
                Ok(landed) => landed,
                Err(_) => return next.run(request).await,
            },
            Nesting::Outside => match unless_cancelled(request.cx(), seat.gate().lock()).await {
                Some(landed) => landed,
                None => return called_off().into(),
            },
        };
        // Letting go of it wakes whoever waits.
        let mut landed = Isolated::new(landed);
        if let Some(output) = &**landed {
            return Outcome::Ok(ToolOutput::clone(output));
        }
        let outcome = Nesting::Inside.poll(next.run(request)).await;
        if let Outcome::Ok(output) = &outcome {
            let output = Arc::new(output.clone());
            seat.land(Arc::clone(&output), self.ttl, self.max_entries);
            **landed = Some(output);
        }
        outcome
    }
}
