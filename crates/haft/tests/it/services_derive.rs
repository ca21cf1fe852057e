//! `#[derive(Services)]`: fields as services.

use std::sync::Arc;

use haft::toolkit::{Provide, Services};
use haft::{tool, toolkit};
use serde_json::json;

use crate::running::{run_in, value};

#[derive(Debug, PartialEq)]
struct ApiKey(u8);

trait Clock: Send + Sync {
    fn now(&self) -> u64;
}

trait Store: Send + Sync {
    fn size(&self) -> usize;
}

struct Fixed(u64);

impl Clock for Fixed {
    fn now(&self) -> u64 {
        self.0
    }
}

#[derive(Debug, PartialEq)]
struct Memory(Vec<u8>);

impl Store for Memory {
    fn size(&self) -> usize {
        self.0.len()
    }
}

#[derive(Services)]
struct App {
    key: ApiKey,
    clock: Arc<dyn Clock>,
    #[service(as = dyn Store)]
    memory: Box<Memory>,
    #[service(skip)]
    password: u8,
    other_password: u8,
}

fn app() -> App {
    App {
        key: ApiKey(3),
        clock: Arc::new(Fixed(7)),
        memory: Box::new(Memory(vec![1, 2])),
        password: 8,
        other_password: 9,
    }
}

fn get<T: ?Sized>(state: &impl Provide<T>) -> &T {
    state.provide()
}

#[test]
fn every_field_is_a_service_by_its_type() {
    let app = app();
    assert_eq!(get::<ApiKey>(&app), &ApiKey(3));
    assert_eq!(get::<dyn Clock>(&app).now(), 7);
    assert_eq!(get::<Arc<dyn Clock>>(&app).now(), 7);
    assert_eq!(get::<Memory>(&app).0, [1, 2]);
    assert_eq!(get::<dyn Store>(&app).size(), 2);
}

#[test]
fn a_skipped_field_leaves_its_type_to_another() {
    let app = app();
    assert_eq!(get::<u8>(&app), &9);
    assert_eq!(app.password, 8);
}

#[derive(Services)]
struct Pair(ApiKey, #[service(as = dyn Clock)] Fixed);

#[derive(Services)]
struct Generic<C: Clock> {
    clock: C,
}

#[derive(Services)]
struct Nothing;

#[test]
fn tuples_generics_and_empty_structs_work() {
    let pair = Pair(ApiKey(1), Fixed(2));
    assert_eq!((get::<ApiKey>(&pair).0, get::<dyn Clock>(&pair).now()), (1, 2));
    assert_eq!(get::<Fixed>(&Generic { clock: Fixed(5) }).now(), 5);
    assert_eq!(toolkit![].provide(Nothing).len(), 0);
}

#[tool]
fn state(#[service] key: &ApiKey, #[service] clock: &Arc<dyn Clock>, #[service] store: &dyn Store) -> (u8, u64, usize) {
    (key.0, clock.now(), store.size())
}

#[tokio::test]
async fn tools_are_served_by_the_state() {
    let kit = toolkit![State].provide(app());
    assert_eq!(value(&run_in(&kit, "state", json!({})).await), json!([3, 7, 2]));
}
