//! A per-tenant service from a middleware: it looks at the caller of each call and gives the tool its tenant's
//! database. The tool declares that the service comes with the run, so the application's state has none to give by
//! mistake.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::HashMap;

use haft::middleware::{Middleware, Next, Request};
use haft::prelude::*;
use haft::run::Outcome;
use haft::toolkit::{Dependency, Needs};

/// The orders of one tenant.
#[derive(Clone)]
struct TenantDb {
    orders: Vec<&'static str>,
}

/// The databases of all tenants. Only the middleware sees it.
struct Databases(HashMap<&'static str, TenantDb>);

#[derive(Services)]
struct App {
    databases: Databases,
}

/// Lists the orders.
#[tool(readonly)]
fn list_orders(#[service(run)] db: &TenantDb) -> Vec<String> {
    db.orders.iter().map(ToString::to_string).collect()
}

/// Finds the database of the caller's tenant. Calls without a tenant do not reach their tool.
struct ByTenant;

impl Middleware for ByTenant {
    type Services = (Needs<Databases>,);

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let Some(caller) = request.cx().caller() else {
            return ToolFailure::new(FailureKind::PermissionDenied, "this call has no tenant").into();
        };
        let db = request.cx().service::<Databases>().ok().and_then(|databases| databases.0.get(caller.as_str()));
        let Some(db) = db.cloned() else {
            return ToolFailure::new(FailureKind::PermissionDenied, format!("there is no tenant {caller}")).into();
        };
        next.run(request.with_service(db)).await
    }

    fn provides(&self) -> Vec<Dependency> {
        vec![Dependency::of::<TenantDb>()]
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let databases = HashMap::from([
        ("acme", TenantDb { orders: vec!["anvil", "rocket"] }),
        ("globex", TenantDb { orders: vec!["laser"] }),
    ]);
    let app = || App { databases: Databases(databases.clone()) };
    let kit = toolkit![ListOrders].wrap(ByTenant).provide(app());
    kit.ensure_runnable_with(RunOptions::new())?;

    let call = ToolCall::new("c1", "list_orders", "");
    let mut answers = Vec::new();
    for caller in [Some("acme"), Some("globex"), Some("initech"), None] {
        let options = caller.into_iter().fold(RunOptions::new(), RunOptions::caller);
        let result = kit.run_call_with(&call, &options).await;
        println!("{:8} {}", caller.unwrap_or("-"), result.to_model_text());
        assert!(result.failure().is_none_or(|failure| !failure.started), "the tool does not run without its tenant");
        answers.push(result.to_model_text());
    }
    assert_eq!(answers[..2], [r#"["anvil","rocket"]"#, r#"["laser"]"#]);
    assert!(answers[2].contains("there is no tenant initech") && answers[3].contains("this call has no tenant"));

    // Without the middleware, each run must provide the service: one that does not starts nothing.
    let bare: Toolkit = toolkit![ListOrders];
    bare.ensure_runnable()?;
    let missing = bare.ensure_runnable_with(RunOptions::new()).map_err(|problems| problems.to_string());
    println!("without: {missing:?}");
    assert!(missing.is_err_and(|problems| problems.contains("`list_orders` requires the service")));
    let refused = bare.run_call(&call).await;
    assert_eq!(refused.failure().map(|failure| &failure.kind), Some(&FailureKind::ExecutionError));

    let options = RunOptions::new().service(TenantDb { orders: vec!["anvil"] });
    let given = bare.run_call_with(&call, &options).await;
    println!("with:    {}", given.to_model_text());
    assert_eq!(given.to_model_text(), r#"["anvil"]"#);
    Ok(())
}
