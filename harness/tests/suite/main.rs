//! Tests of the harness as its users see it: the replay against other ways to the same figures, and the command.
//! One binary, because linking is what takes the time.

mod bench;
mod command;
mod doctor;
mod kernel_reports;
mod kernels;
mod lab;
#[cfg(unix)]
mod outputs;
mod packed_traces;
mod plan;
mod plan_configs;
mod plan_counts;
mod plan_models;
mod prefixes;
mod published_prefixes;
mod published_traces;
mod random_traces;
mod record;
mod reference;
mod trace_command;
mod traces;
mod verify;
mod worked_example;
