//! `toolkit![…]`: toolkits from a list of tools.

use haft::tool::{Cx, Handle, HandlerError, NoFailure, Tool, ToolType};
use haft::toolkit::Toolkit;
use haft::{tool, toolkit};
use serde_json::json;

use crate::running::{run_in, value};

#[tool]
fn add(a: i32, b: i32) -> i32 {
    a.saturating_add(b)
}

mod nested {
    #[haft::tool]
    pub(super) fn negate(number: i32) -> i32 {
        number.saturating_neg()
    }
}

struct Multiply<const BY: i32> {
    plus: i32,
}

impl<const BY: i32> ToolType for Multiply<BY> {
    const NAME: &'static str = "multiply";
    type Params = i32;
    type Success = i32;
    type Failure = NoFailure;
    type Services = ();
}

impl<const BY: i32> Handle for Multiply<BY> {
    async fn handle(&self, number: i32, _cx: &Cx) -> Result<i32, HandlerError> {
        Ok(number.saturating_mul(BY).saturating_add(self.plus))
    }
}

fn made(name: &str) -> Tool {
    Tool::new(name).handler(|(), _cx| async { 0 }).unwrap()
}

#[tokio::test]
async fn tools_keep_their_order_and_run() {
    let kit: Toolkit = toolkit![nested::Negate, Multiply<3> = Multiply { plus: 1 }, Add,];
    assert_eq!(kit.names().collect::<Vec<_>>(), ["negate", "multiply", "add"]);
    assert_eq!(value(&run_in(&kit, "negate", json!({"number": 3})).await), json!(-3));
    assert_eq!(value(&run_in(&kit, "multiply", json!(3)).await), json!(10));
    assert_eq!(value(&run_in(&kit, "add", json!({"a": 1, "b": 2})).await), json!(3));
}

#[test]
fn an_empty_toolkit_is_one() {
    let kit: Toolkit = toolkit![];
    assert!(kit.is_empty());
}

#[test]
fn tools_made_at_run_time_are_checked_at_run_time() {
    let kit: Toolkit = toolkit![Add; [made("x"), made("y")]].unwrap();
    assert_eq!(kit.names().collect::<Vec<_>>(), ["add", "x", "y"]);
    let only_made: Toolkit = toolkit![; vec![made("x")]].unwrap();
    assert_eq!(only_made.len(), 1);
    let clash: Result<Toolkit, _> = toolkit![Add; [made("add"), made("x"), made("x")]];
    let error = clash.unwrap_err();
    assert_eq!(error.faults.len(), 2, "{error}");
}

#[test]
fn a_toolkit_can_be_created_in_any_expression() {
    fn kit() -> Toolkit {
        toolkit![Add]
    }
    assert_eq!(kit().len() + toolkit![Add].provide(()).len(), 2);
}
