use haft::tool;

struct TenantDb;

#[tool]
fn list_orders(#[service(runs)] _db: &TenantDb) -> usize {
    0
}

#[tool]
fn count_orders(#[service = "run"] _db: &TenantDb) -> usize {
    0
}

#[tool]
fn find_orders(#[service(run)] _db: Option<&TenantDb>) -> usize {
    0
}

fn main() {}
