use haft::tool;

struct TenantDb;

#[tool]
fn list_orders(#[service(runs)] db: &TenantDb) -> usize {
    0
}

#[tool]
fn count_orders(#[service = "run"] db: &TenantDb) -> usize {
    0
}

#[tool]
fn find_orders(#[service(run)] db: Option<&TenantDb>) -> usize {
    0
}

fn main() {}
