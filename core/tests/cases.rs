//! Reduced cases from public bug reports of KV-cache managers, with the right answers. Each names its source. Blocks
//! here are numbered from 1 (0 is the null block).

mod common;
use common::{STREAM, ars, ids, pool, run, small};
use kvledger_core::{Admission, Epoch, Pool, Promise, Refusal, Scope, Sequence};

fn admit(pool: &Pool<'_>, prompt: u32, output: u32) -> (Sequence, Result<(), Refusal>) {
    let sequence = pool.open().expect("a slot");
    (sequence, pool.admit(sequence, &Admission::full(prompt, output)).map(drop))
}

/// vllm#35541: a prompt of 63 blocks in a pool of 49 retried for ever, and starved the next.
#[test]
fn case_1_never_fits() {
    let pool = pool(&small(49, 16));
    let (_, refused) = admit(&pool, 1002, 50);
    assert_eq!(refused, Err(Refusal::NeverFits { needed: 66, ceiling: 49 }));
    assert_eq!(ars(&pool), (0, 0, 0));
    let (second, admitted) = admit(&pool, 5, 50);
    assert_eq!(admitted, Ok(()));
    pool.advance(second, 5).expect("promised");
    assert_eq!(ars(&pool), (1, 3, 0));
}

/// vllm#37307: a fifth prompt was admitted at 90 % by its first chunk; then throughput fell from 100 to 1.5 tokens/s.
#[test]
fn case_2_whole_prompt_and_output() {
    let pool = pool(&small(45, 10));
    let running: Vec<_> = (0..4).map(|_| run(&pool, 100, 10)).collect();
    assert_eq!(ars(&pool), (40, 4, 0));
    let (fifth, refused) = admit(&pool, 100, 10);
    assert_eq!(refused, Err(Refusal::WouldBlock { short_by: 10, scope: Scope::Pool }));
    let before = pool.release_number();
    pool.end(running[0]).expect("it runs");
    assert_eq!(ars(&pool), (30, 3, 0));
    assert_ne!(pool.release_number(), before, "I9: who was refused asks again");
    pool.admit(fifth, &Admission::full(100, 10)).expect("it fits now");
    assert_eq!(ars(&pool), (30, 14, 0));
}

/// vllm#45388: loads reserved only what they loaded; the rest of two prefills then stood in each other's way.
#[test]
fn case_4_a_load_reserves_the_whole_prefill() {
    let pool = pool(&small(2047, 16));
    let (a, admitted) = admit(&pool, 25_596, 0);
    assert_eq!(admitted, Ok(()));
    pool.advance(a, 512 * 16).expect("promised");
    assert_eq!(ars(&pool), (512, 1088, 0));
    let (_, refused) = admit(&pool, 19_196, 0);
    assert_eq!(refused, Err(Refusal::WouldBlock { short_by: 753, scope: Scope::Pool }));
    assert_eq!(ars(&pool), (512, 1088, 0), "I13: who holds nothing waits holding nothing");
    pool.advance(a, 25_596 - 512 * 16).expect("promised");
    assert_eq!(ars(&pool), (1600, 0, 0));
}

/// vllm#49674: preempting victims whose blocks a step in flight holds gives nothing, so all were preempted.
#[test]
fn case_5_fenced_victims() {
    let pool = pool(&small(8, 4));
    let running: Vec<_> = (0..4).map(|_| run(&pool, 8, 0)).collect();
    // Steps 1 to 4 are done, step 5 is in flight.
    for _ in 1..=4 {
        let epoch = pool.submit(STREAM).expect("an epoch");
        pool.complete(STREAM, epoch, false).expect("outstanding");
    }
    let step = pool.submit(STREAM).expect("an epoch");
    assert_eq!(step, Epoch(5));
    let refused = pool.advance_growing(running[0], 1, 0);
    assert_eq!(refused, Err(Refusal::WouldBlock { short_by: 1, scope: Scope::Pool }));
    let released = pool.preempt(running[3]).expect("it runs");
    assert_eq!((released.free, released.retiring, released.after), (0, 2, Epoch(5)));
    let snapshot = pool.snapshot();
    assert_eq!((snapshot.held, snapshot.retiring, snapshot.committed), (6, 2, 8));
    let again = pool.advance_growing(running[0], 1, 0);
    assert_eq!(again, Err(Refusal::RetryAfter { after: Epoch(5), reclaimable: 2 }), "no second victim");
    assert_eq!(pool.complete(STREAM, step, false), Ok(Epoch(5)));
    assert_eq!(ars(&pool), (6, 0, 0));
    assert_eq!(pool.advance_growing(running[0], 1, 0).map(|advanced| advanced.taken), Ok(1));
    assert_eq!(ars(&pool), (7, 0, 0));
}

/// vllm#45357: blocks of a finished request were reused while a later step still wrote to them.
#[test]
fn case_6_finish_while_a_later_step_runs() {
    let pool = pool(&small(4, 4));
    let first = run(&pool, 8, 0);
    let old = ids(&pool, first);
    for _ in 1..=7 {
        let epoch = pool.submit(STREAM).expect("an epoch");
        pool.complete(STREAM, epoch, false).expect("outstanding");
    }
    let step = pool.submit(STREAM).expect("an epoch");
    pool.end(first).expect("it runs");
    assert_eq!(ars(&pool), (2, 0, 0));
    let (second, refused) = admit(&pool, 12, 0);
    assert_eq!(refused, Err(Refusal::RetryAfter { after: Epoch(8), reclaimable: 2 }));
    // What fits meanwhile does not get the old blocks (I5).
    let between = run(&pool, 8, 0);
    assert!(ids(&pool, between).iter().all(|id| !old.contains(id)));
    pool.end(between).expect("it runs");
    pool.complete(STREAM, step, false).expect("outstanding");
    pool.admit(second, &Admission::full(12, 0)).expect("three are free");
    pool.advance(second, 12).expect("promised");
    assert_eq!(ars(&pool), (3, 0, 0));
}

/// FreeToken#367: token sums were admitted where each request needs a whole block.
#[test]
fn case_11_block_granularity() {
    let pool = pool(&small(1, 128));
    run(&pool, 2, 0);
    assert_eq!(ars(&pool), (1, 0, 0));
    let (_, refused) = admit(&pool, 2, 0);
    assert_eq!(refused, Err(Refusal::WouldBlock { short_by: 1, scope: Scope::Pool }));
}

/// vllm-ascend#14283: asking for fewer blocks than are held allocated −1 and raised the free count.
#[test]
fn i10_case_shrink_allocates_nothing() {
    let pool = pool(&small(4, 16));
    let sequence = run(&pool, 48, 0);
    let ensured = pool.materialize(sequence, 2).expect("it holds three");
    assert_eq!((ensured.taken, ensured.entries), (0, 3));
    assert_eq!(pool.snapshot().free, 1);
    assert_eq!(pool.shrink(sequence, 2), Ok(0), "nothing is promised that could go back");
    assert_eq!(pool.snapshot().free, 1);
    assert_eq!(ars(&pool), (3, 0, 0));
}

/// The same bug's other half: a smaller promise returns promises, never blocks.
#[test]
fn i10_shrink_returns_only_promises() {
    let pool = pool(&small(8, 4));
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission { promise: Promise::Blocks(6), ..Admission::full(4, 0) }).expect("it fits");
    pool.advance(sequence, 4).expect("promised");
    assert_eq!(pool.shrink(sequence, 9), Ok(5));
    assert_eq!(ars(&pool), (1, 0, 0));
}
