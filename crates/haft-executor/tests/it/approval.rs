//! Approvals: policies, verdicts, plans, stored runs, memory, signatures and records.

mod audit;
pub(crate) mod bench;
mod binding;
mod changed;
mod edge;
mod edit;
mod invalid;
mod machine;
mod map;
mod memory;
mod peers;
mod plan;
mod policy;
mod queue;
mod regression;
mod signing;
mod stored;
mod surfaced;
mod suspend;
mod verdict;
