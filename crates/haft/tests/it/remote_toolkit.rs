//! The toolkit in another process, as the example `remote_toolkit` has it, under faults.
//!
//! [`table`] is the executor's own table of faults: the tools of a row are in another process, which is this program
//! again, and everything else is here ([`hold`]). [`killed`] ends the process before, during and after calls.

#[path = "../../../haft-executor/tests/it/executor_faults/broken.rs"]
mod broken;
#[path = "../../../haft-executor/tests/it/executor_faults/case.rs"]
mod case;
#[path = "../../../../examples/remote_toolkit/client.rs"]
mod client;
mod hold;
mod killed;
mod process;
#[path = "../../../haft-executor/tests/it/executor_faults/record.rs"]
mod record;
#[path = "../../../../examples/remote_toolkit/server.rs"]
mod server;
#[path = "../../../haft-executor/tests/it/executor_faults/table.rs"]
mod table;
#[path = "../../../haft-executor/tests/it/executor_faults/way.rs"]
mod way;
#[path = "../../../../examples/remote_toolkit/wire.rs"]
mod wire;
