//! The executor's table of faults, through an MCP server process.
//!
//! The handlers of a row are in a server, which is this program again ([`serve`]); timeouts, approval and permission are
//! here, as they are for every MCP tool. Each row runs undisturbed, and with the server killed before, during and after
//! a call ([`hold`]).

#[path = "../../../haft-executor/tests/it/executor_faults/broken.rs"]
mod broken;
#[path = "../../../haft-executor/tests/it/executor_faults/case.rs"]
#[allow(dead_code, reason = "the executor's own tests check more of a row")]
mod case;
mod hold;
#[path = "../../../haft-executor/tests/it/executor_faults/record.rs"]
#[allow(dead_code, reason = "emitted values have another form in the protocol")]
mod record;
mod serve;
#[path = "../../../haft-executor/tests/it/executor_faults/table.rs"]
mod table;
#[path = "../../../haft-executor/tests/it/executor_faults/way.rs"]
mod way;
