//! Operations of the core that C does without: why, and a call of each all the same. What nothing in an archive calls is
//! not in it, so a panic path there would be seen by nobody. The archive that ships does not have these functions; the
//! gate makes one that does (`KVL_EXEMPT=1 ffi/archive.sh`).
//!
//! One `kvl_exempt_` function for each, named like the operation: `gate.py` takes the list from here.

use crate::handle::KvlPool;
use core::mem::MaybeUninit;
use kvledger_core::plan::{Binomial, Element, Grain, Region};
use kvledger_core::ranks::Vote;
use kvledger_core::recorder::{Dump, Handles, Named, Names, Numbers, Record, Steps};
use kvledger_core::split::SplitPlan;
use kvledger_core::{
    Account, Argument, BlockId, Line, Place, Pool, PoolConfig, Prefix, Refusal, Scope, Sequence, Storage, Stream,
    StreamSet, entries, lines,
};

/// A constant for static storage in Rust: C has `kvl_config_bytes`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_lines(config: &PoolConfig) -> usize {
    lines(config)
}

/// A constant for static storage in Rust: C has `kvl_config_table_entries`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_entries(config: &PoolConfig) -> usize {
    entries(config)
}

/// Static storage in Rust: C declares an array.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_storage_new(storage: &mut MaybeUninit<Storage<64, 64>>) {
    storage.write(Storage::new());
}

/// Static storage in Rust: C has `kvl_init`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_storage_init(
    storage: &'static mut Storage<64, 64>,
    config: &PoolConfig,
    pool: &mut MaybeUninit<KvlPool>,
) -> u32 {
    let answer: Result<Pool<'static>, Refusal> = storage.init(config);
    answer.map_or_else(
        |why| why.code(),
        |made| {
            pool.write(KvlPool::new(made));
            0
        },
    )
}

/// C sets `cache`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_config_sharing(config: &PoolConfig) -> u32 {
    config.sharing().cache
}

/// C has the number already: it is the status.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_refusal_code(kind: u32) -> u32 {
    let refusals = [Refusal::Busy, Refusal::Full, Refusal::WouldBlock { short_by: kind, scope: Scope::Pool }];
    refusals.get(kind as usize).map_or(0, Refusal::code)
}

/// C has the words as the names of its constants.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_refusal_word(kind: u32) -> usize {
    let refusals = [Refusal::Busy, Refusal::Full, Refusal::WouldBlock { short_by: kind, scope: Scope::Pool }];
    refusals.get(kind as usize).map_or(0, |refusal| refusal.word().len())
}

/// C compares `generation` with 0.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_account_is_none(account: Account) -> bool {
    account.is_none()
}

/// C has the macro `KVL_STREAMS_ONE`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_stream_set_one(stream: u32) -> u64 {
    StreamSet::one(Stream(stream)).0
}

/// C has the operator `|`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_stream_set_with(one: u64, other: u64) -> u64 {
    StreamSet(one).with(StreamSet(other)).0
}

/// C passes the number, and every `kvl_` function that takes one checks it.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_element_from_number(number: u32) -> bool {
    Element::from_number(number).is_some()
}

/// C passes the number, and every `kvl_` function that takes one checks it.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_grain_from_number(number: u32) -> bool {
    Grain::from_number(number).is_some()
}

/// C passes the number, and every `kvl_` function that takes one checks it.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_region_from_number(number: u32) -> bool {
    Region::from_number(number).is_some()
}

/// C passes the number in a `kvl_refusal`, and who takes one checks it.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_argument_from_number(number: u32) -> bool {
    Argument::from_number(number).is_some()
}

/// C passes the number in a `kvl_refusal`, and who takes one checks it.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_scope_from_number(number: u32) -> bool {
    Scope::from_number(number).is_some()
}

/// C passes the number in a `kvl_refusal`, and who takes one checks it.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_place_from_number(number: u32) -> bool {
    Place::from_number(number).is_some()
}

/// C compares `refusal.code` with `KVL_OK`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_vote_is_yes(vote: &Vote) -> bool {
    vote.is_yes()
}

/// C passes both parameters with each `kvl_binomial_` call.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_binomial_new(trials: u32, probability: f64) -> bool {
    Binomial::new(trials, probability).is_some()
}

/// C has the memory of a ring as bytes.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_line_words(line: &Line) -> u64 {
    line.words().iter().fold(0, |all, word| all ^ word)
}

/// Dumps are read by tools, which are written in Rust: `kvledger rerun`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_dump_read(words: &mut [u64; 512]) -> u32 {
    Dump::read(words).map_or_else(|why| why.code(), |dump| dump.newest_first().count() as u32)
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_dump_words(dump: &Dump<'static>) -> usize {
    dump.words().len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_dump_newest_first(
    dump: &Dump<'static>,
    record: &mut MaybeUninit<Record<'static>>,
) -> bool {
    match dump.newest_first().next() {
        Some(Ok(newest)) => {
            record.write(newest);
            true
        }
        _ => false,
    }
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_call_name(record: &Record<'static>) -> usize {
    record.call.name().len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_steps_of(steps: &mut MaybeUninit<Steps<'static>>) {
    steps.write(Steps::of(&[]));
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_steps_len(steps: &Steps<'static>) -> usize {
    steps.len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_steps_is_empty(steps: &Steps<'static>) -> bool {
    steps.is_empty()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_steps_by_slot(steps: &Steps<'static>) -> bool {
    steps.by_slot()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_steps_iter(steps: &Steps<'static>) -> u64 {
    steps.iter().fold(0, |all, step| all ^ step.sequence.generation ^ u64::from(step.tokens))
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_named_of(prefix: &Prefix<'static>) -> u32 {
    Named::of(prefix).blocks_max
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_names_len(names: &Names<'static>) -> usize {
    names.len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_names_is_empty(names: &Names<'static>) -> bool {
    names.is_empty()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_names_each(names: &Names<'static>) -> u64 {
    let mut all = 0;
    names.each(|name| all ^= name.low);
    all
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_numbers_of(blocks: &'static [BlockId; 4]) -> usize {
    Numbers::of(blocks).len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_numbers_len(numbers: &Numbers<'static>) -> usize {
    numbers.len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_numbers_is_empty(numbers: &Numbers<'static>) -> bool {
    numbers.is_empty()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_numbers_each(numbers: &Numbers<'static>) -> u64 {
    let mut all = 0;
    numbers.each(|number| all ^= u64::from(number));
    all
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_handles_of(sequences: &'static [Sequence; 4]) -> usize {
    Handles::of(sequences).len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_handles_len(handles: &Handles<'static>) -> usize {
    handles.len()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_handles_is_empty(handles: &Handles<'static>) -> bool {
    handles.is_empty()
}

/// As `kvl_exempt_dump_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_handles_each(handles: &Handles<'static>) -> u64 {
    let mut all = 0;
    handles.each(|sequence| all ^= sequence.generation);
    all
}

/// C has it from `kvl_split_read`.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_split_plan_header(plan: &SplitPlan<'static>) -> u32 {
    plan.header().items
}

/// C reads the array where `kvl_split_layout` says.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_split_plan_items(plan: &SplitPlan<'static>) -> u32 {
    plan.items().fold(0, |all, item| all ^ item.part)
}

/// C reads the array where `kvl_split_layout` says.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_split_plan_items_of(plan: &SplitPlan<'static>, thread_block: u32) -> u32 {
    plan.items_of(thread_block).fold(0, |all, item| all ^ item.part)
}

/// C reads the array where `kvl_split_layout` says.
#[unsafe(no_mangle)]
pub extern "C" fn kvl_exempt_split_plan_joins(plan: &SplitPlan<'static>) -> u32 {
    plan.joins().fold(0, |all, join| all ^ join.count)
}
