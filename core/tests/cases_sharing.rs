//! Reduced cases from public bug reports of KV-cache managers that are about sharing, with the right answers. Each names its
//! source. Every step is followed by the audit of the whole pool.

mod common;
use common::{STREAM, ars, ids, pool, small};
use kvledger_core::identity::{Domain, Identity, IdentityKey};
use kvledger_core::{
    Access, Admission, Admitted, BlockId, Epoch, Group, Joint, Pool, PoolConfig, Prefix, Promise, Refusal, Scope,
    Sequence, StreamSet, Window, admit_together,
};

/// Names 1, 2, 3, …, apart from those of any other chain.
fn chain(chain: u64, blocks: u64) -> Vec<Identity> {
    (1..=blocks).map(|low| Identity { low, high: chain }).collect()
}

fn config(blocks: u32, block_tokens: u32) -> PoolConfig {
    PoolConfig { sequences: 40, groups: 3, transfers: 4, events: 64, ..small(blocks, block_tokens) }.sharing()
}

fn admit(pool: &Pool<'_>, admission: &Admission, names: &[Identity]) -> (Sequence, Result<Admitted, Refusal>) {
    let sequence = pool.open().expect("a slot");
    let answer = pool.admit_prefix(sequence, admission, &Prefix::of(names));
    pool.validate().expect("the audit after an admission");
    (sequence, answer)
}

/// Admit, add the rest of the prompt, and publish its full blocks, written by work that is over.
fn run(pool: &Pool<'_>, admission: &Admission, names: &[Identity]) -> (Sequence, Admitted) {
    let (sequence, answer) = admit(pool, admission, names);
    let admitted = answer.expect("it fits");
    pool.advance(sequence, admission.prompt_tokens - admitted.cached_tokens).expect("promised");
    if !names.is_empty() {
        let epoch = pool.submit(STREAM).expect("room for an epoch");
        pool.publish(sequence, 0, &Prefix::of(names), epoch, true, &mut []).expect("full blocks");
        pool.complete(STREAM, epoch, false).expect("outstanding");
    }
    pool.validate().expect("the audit after a prompt");
    (sequence, admitted)
}

fn end(pool: &Pool<'_>, sequence: Sequence) {
    pool.end(sequence).expect("it is open");
    pool.validate().expect("the audit after an end");
}

fn short(short_by: u32) -> Result<Admitted, Refusal> {
    Err(Refusal::WouldBlock { short_by, scope: Scope::Pool })
}

/// A, E, F.
fn aef(pool: &Pool<'_>) -> (u32, u32, u32) {
    let now = pool.snapshot();
    assert_eq!(now.exact, 1);
    (now.committed, now.idle, now.free)
}

/// mstar#307: 32 sharers of a 59-block prefix were all admitted, and each needed one of the five blocks that were left.
#[test]
fn case_3_shared_prefix_plus_growth() {
    let pool = pool(&config(96, 16));
    let names = chain(1, 59);
    let admission = Admission::full(59 * 16 + 1, 31);
    let (first, _) = run(&pool, &admission, &names);
    assert_eq!(ars(&pool), (60, 1, 0));
    let mut all = vec![first];
    loop {
        let (sequence, answer) = admit(&pool, &admission, &names);
        let Ok(admitted) = answer else {
            assert_eq!(answer, short(1));
            break;
        };
        assert_eq!((admitted.hits, admitted.cached_tokens), (59, 59 * 16));
        pool.advance(sequence, 1).expect("promised");
        all.push(sequence);
    }
    assert_eq!(all.len(), 18);
    assert_eq!(ars(&pool), (77, 18, 0));
    for sequence in &all {
        pool.advance(*sequence, 16).expect("promised");
    }
    assert_eq!(ars(&pool), (95, 0, 0));
    all.into_iter().for_each(|sequence| end(&pool, sequence));
    assert_eq!(aef(&pool), (0, 59, 37));
}

/// vllm#56089: of a receive and a send the first completion freed the blocks, the second crashed.
#[test]
fn case_7_two_outstanding_transfers() {
    for first_is_receive in [true, false] {
        let pool = pool(&config(4, 4));
        let (sequence, _) = run(&pool, &Admission::full(12, 0), &[]);
        let receive = pool.hold(sequence, 0, 3, Access::Write).expect("room");
        let send = pool.hold(sequence, 0, 3, Access::Read).expect("room");
        pool.cancel(sequence).expect("open");
        end(&pool, sequence);
        assert_eq!(ars(&pool), (3, 0, 0));
        let (first, second) = if first_is_receive { (receive, send) } else { (send, receive) };
        assert_eq!(pool.complete_transfer(first), Ok(3));
        assert_eq!(ars(&pool), (3, 0, 0));
        assert_eq!(pool.complete_transfer(second), Ok(3));
        assert_eq!(ars(&pool), (0, 0, 0));
        assert_eq!(pool.complete_transfer(second), Err(Refusal::Stale));
        assert_eq!(pool.revoke(first), Err(Refusal::Stale));
        pool.validate().expect("nothing is left");
    }
}

/// vllm#42571, dynamo#13398: a block that was listed twice lost two holders, and the free count rose to 16 of 15.
#[test]
fn case_8_one_block_twice_in_a_release() {
    let pool = pool(&config(15, 4));
    let names = chain(1, 1);
    let (first, _) = run(&pool, &Admission::full(5, 0), &names);
    let (second, _) = run(&pool, &Admission::full(5, 0), &names);
    let block = BlockId(ids(&pool, first)[0]);
    assert_eq!(
        pool.release(second, &[block, block]),
        Err(Refusal::Invalid { argument: kvledger_core::Argument::Block })
    );
    pool.validate().expect("a second mention is an error, not a second drop");
    assert_eq!(pool.release(second, &[block]).map(|released| released.free), Ok(0));
    assert_eq!(pool.release(first, &[block]).map(|released| released.free), Ok(1));
    end(&pool, first);
    end(&pool, second);
    assert_eq!(aef(&pool), (0, 1, 14));
    let (all, _) = run(&pool, &Admission::full(60, 0), &[]);
    let mut ids = ids(&pool, all);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 15);
    assert_eq!(admit(&pool, &Admission::full(1, 0), &[]).1, short(1));
}

/// sglang#38941: two ranges that share a block were handed back, and the block was freed twice.
#[test]
fn case_9_ranges_that_share_a_block() {
    let pool = pool(&config(8, 64));
    let (sequence, _) = run(&pool, &Admission::full(200, 0), &chain(1, 1));
    let partly = Err(Refusal::Invalid { argument: kvledger_core::Argument::Block });
    assert_eq!(pool.release_tokens(sequence, 64, 100), partly);
    assert_eq!(pool.release_tokens(sequence, 100, 200), partly);
    assert_eq!(pool.release_tokens(sequence, 64, 128).map(|released| released.free), Ok(1));
    pool.validate().expect("a hole is no block");
    assert_eq!(pool.release_tokens(sequence, 64, 128).map(|released| released.free), Ok(0), "it is gone already");
    end(&pool, sequence);
    assert_eq!(aef(&pool), (0, 1, 7));
}

/// sglang-jax#1147: each speculating request lost two pages; the pool was empty after eight.
#[test]
fn case_10_speculation_leaks_nothing() {
    for give_back in [false, true] {
        let pool = pool(&config(16, 64));
        for _ in 0..100 {
            let admission = Admission { speculative_tokens: 128, ..Admission::full(64, 64) };
            let (sequence, _) = run(&pool, &admission, &[]);
            assert_eq!(ars(&pool), (1, 3, 0));
            assert_eq!(pool.speculate(sequence, 128).map(|advanced| advanced.taken), Ok(2));
            assert_eq!(ars(&pool), (3, 1, 0));
            assert_eq!(pool.advance(sequence, 1), Err(Refusal::Busy), "what was proposed is not accepted yet");
            let accepted = pool.accept(sequence, 1, give_back).expect("it was proposed");
            assert_eq!(accepted.free, u32::from(give_back));
            assert_eq!(ars(&pool), if give_back { (2, 2, 0) } else { (3, 1, 0) });
            pool.validate().expect("the audit after an acceptance");
            end(&pool, sequence);
            assert_eq!(aef(&pool), (0, 0, 16));
        }
    }
}

/// dynamo#10439: idle blocks were counted as headroom and then pinned by a hit.
#[test]
fn case_12_an_idle_hit_becomes_live() {
    let pool = pool(&config(12, 4));
    let names = chain(1, 6);
    let (first, _) = run(&pool, &Admission::full(24, 0), &names);
    end(&pool, first);
    assert_eq!(aef(&pool), (0, 6, 6));
    let (r1, admitted) = run(&pool, &Admission::full(36, 8), &names);
    assert_eq!((admitted.hits, admitted.promised), (6, 5));
    assert_eq!((ars(&pool), aef(&pool).1), ((9, 2, 0), 0));
    assert_eq!(admit(&pool, &Admission::full(8, 0), &[]).1, short(1));
    let (_, third) = run(&pool, &Admission::full(25, 0), &names);
    assert_eq!(third.hits, 6);
    assert_eq!(ars(&pool), (10, 2, 0));
    end(&pool, r1);
}

/// TRT-LLM#12667: a pinned block was still in the queue of free ones, and was queued twice.
#[test]
fn case_14_pin_of_an_idle_block() {
    let pool = pool(&config(3, 4));
    let names = chain(1, 1);
    let (first, _) = run(&pool, &Admission::full(4, 0), &names);
    end(&pool, first);
    assert_eq!(aef(&pool), (0, 1, 2));
    let pin = pool.open().expect("a slot");
    let pinned = pool.pin(pin, Group(0), StreamSet::ALL, &Prefix::of(&names), 0).expect("it is there");
    assert_eq!((pinned.hits, aef(&pool)), (1, (1, 0, 2)));
    pool.unpin(pin).expect("pinned");
    assert_eq!(pool.unpin(pin), Err(Refusal::Invalid { argument: kvledger_core::Argument::Sequence }));
    assert_eq!(aef(&pool), (0, 1, 2));
    let (all, _) = run(&pool, &Admission::full(12, 0), &[]);
    let mut ids = ids(&pool, all);
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(admit(&pool, &Admission::full(1, 0), &[]).1, short(1));
}

/// vllm#44701: salt and adapter name shared one domain. vllm#8229: a collision of hashes was a hit.
#[test]
fn case_15_identity_domains() {
    let pool = pool(&PoolConfig { token_check: 1, ..config(8, 4) });
    let key = IdentityKey::new(1, 2);
    let tokens: Vec<u32> = (10..18).collect();
    let names = |group, salt: &[u8], adapter| {
        let root = key.root(&Domain { group: Group(group), adapter, modality: 0, salt }).expect("a short salt");
        let mut names = [Identity::NONE; 2];
        key.chain(root, &tokens, 4, &mut names).expect("two blocks");
        names
    };
    let in_group = |group| Admission { group: Group(group), ..Admission::full(9, 0) };
    run(&pool, &in_group(1), &names(1, b"X", 0));
    assert_eq!(ars(&pool).0, 3);
    let (_, second) = run(&pool, &in_group(1), &names(1, b"X", 0));
    assert_eq!((second.hits, ars(&pool).0), (2, 4));
    let (_, third) = run(&pool, &in_group(1), &names(1, b"", u64::from_le_bytes(*b"X\0\0\0\0\0\0\0")));
    assert_eq!((third.hits, ars(&pool).0), (0, 7));
    assert_eq!(admit(&pool, &in_group(2), &names(2, b"X", 0)).1, short(2));
    // Names that a caller made himself, and made badly: the group and the tokens decide too (I6).
    assert_eq!(pool.lookup(Group(2), &Prefix::of(&names(1, b"X", 0)), 0).map(|found| found.blocks), Ok(0));
}

/// I6: names that collide, for other tokens: a miss where tokens are compared.
#[test]
fn i6_a_forced_collision_is_a_miss() {
    let pool = pool(&PoolConfig { token_check: 1, ..config(8, 4) });
    let names = chain(1, 2);
    let (sequence, _) = run(&pool, &Admission::full(8, 0), &[]);
    let epoch = pool.submit(STREAM).expect("room");
    let mine = Prefix { tokens: &[1, 2, 3, 4, 5, 6, 7, 8], ..Prefix::of(&names) };
    pool.publish(sequence, 0, &mine, epoch, true, &mut []).expect("full blocks");
    pool.complete(STREAM, epoch, false).expect("outstanding");
    let found = |tokens: &[u32]| {
        let prefix = Prefix { tokens, ..Prefix::of(&names) };
        pool.lookup(Group(0), &prefix, 0).map(|found| found.blocks)
    };
    assert_eq!(found(mine.tokens), Ok(2));
    assert_eq!(found(&[1, 2, 3, 4, 5, 6, 7, 9]), Ok(1));
    assert_eq!(found(&[0; 8]), Ok(0));
    assert_eq!(found(&[]), Ok(2), "no tokens: by name alone");
    assert_eq!(found(&[1]), Err(Refusal::Invalid { argument: kvledger_core::Argument::Tokens }));
}

/// TRT-LLM#18660: a second pool was outside admission.
#[test]
fn case_two_pools_are_admitted_together() {
    let (target, draft) = (pool(&config(10, 4)), pool(&PoolConfig { number: 1, ..config(4, 4) }));
    let joint = |blocks: (u32, u32)| {
        let of = |pool, promise: u32| Joint {
            pool,
            sequence: Pool::open(pool).expect("a slot"),
            admission: Admission { promise: Promise::Blocks(promise), ..Admission::full(4, 0) },
            prefix: Prefix::of(&[]),
        };
        admit_together(&[of(&draft, blocks.1), of(&target, blocks.0)], &mut [Admitted::default(); 2])
    };
    assert_eq!(joint((6, 2)), Ok(()));
    let refused = joint((3, 3));
    assert_eq!(refused, Err((0, Refusal::WouldBlock { short_by: 1, scope: Scope::Pool })));
    assert_eq!((ars(&target), ars(&draft)), ((0, 6, 0), (0, 2, 0)));
}

/// vllm#40946: the admission of windowed sequences was too strict, and an idle server let a request wait for ever.
#[test]
fn case_window_bound() {
    let window = Window { tokens: 64, steps_in_flight: 0, chunk_tokens: 32 };
    for blocks in [10, 7] {
        let pool = pool(&PoolConfig { table_width: 20, ..config(blocks, 16) });
        let (sequence, answer) = admit(&pool, &Admission { window, ..Admission::full(320, 0) }, &[]);
        assert_eq!(answer.map(|admitted| admitted.promised), Ok(7));
        for _ in 0..10 {
            pool.advance(sequence, 32).expect("the window gives back what it needs");
            pool.validate().expect("the audit of a window");
        }
        end(&pool, sequence);
        assert_eq!(aef(&pool).2, blocks);
    }
    let pool = pool(&PoolConfig { table_width: 20, ..config(6, 16) });
    let (_, refused) = admit(&pool, &Admission { window, ..Admission::full(320, 0) }, &[]);
    assert_eq!(refused, Err(Refusal::NeverFits { needed: 7, ceiling: 6 }));
}

/// atlas#373: a block that was live and cached lost its holder to an eviction.
#[test]
fn case_live_and_cached() {
    let pool = pool(&config(2, 4));
    let names = chain(1, 1);
    run(&pool, &Admission::full(4, 0), &names);
    assert_eq!(admit(&pool, &Admission::full(8, 0), &[]).1, short(1));
    assert_eq!(pool.evict(5), Ok(0));
    assert_eq!((ars(&pool).0, pool.snapshot().held), (1, 1));
}

/// vllm#55092: the removal of one of two copies was told as if the identity was gone.
#[test]
fn case_last_copy() {
    let pool = pool(&config(4, 4));
    let names = chain(1, 1);
    let both = [pool.open().expect("a slot"), pool.open().expect("a slot")];
    for sequence in both {
        pool.admit(sequence, &Admission::full(4, 0)).expect("it fits");
        pool.advance(sequence, 4).expect("promised");
    }
    let epoch = pool.submit(STREAM).expect("room");
    let mut found = [BlockId::NULL];
    for (sequence, known) in both.into_iter().zip([0, 1]) {
        let published = pool.publish(sequence, 0, &Prefix::of(&names), epoch, true, &mut found).expect("a full block");
        assert_eq!((published.stored, published.known), (1, known));
        assert_eq!(found[0].0, ids(&pool, both[0])[0], "the held one stays");
    }
    pool.complete(STREAM, epoch, false).expect("outstanding");
    let mut cursor = kvledger_core::EventCursor::START;
    let mut kinds = || {
        let mut out = [kvledger_core::Event::NONE; 8];
        let read = pool.events(&mut cursor, &mut out);
        out[..read.count as usize].iter().map(|event| event.kind as u32).collect::<Vec<_>>()
    };
    assert_eq!(kinds(), [1], "stored once");
    end(&pool, both[0]);
    assert_eq!(kinds(), [0; 0], "the other copy is there");
    assert_eq!(pool.lookup(Group(0), &Prefix::of(&names), 0).map(|found| found.blocks), Ok(1));
    end(&pool, both[1]);
    assert_eq!((kinds(), aef(&pool)), (vec![], (0, 1, 3)));
    assert_eq!(pool.evict(4), Ok(1));
    assert_eq!(kinds(), [2], "removed once");
}

/// TGI#2489, nano-vllm#208: hits on blocks that were still being written.
#[test]
fn trap_hits_on_unfilled_blocks() {
    let pool = pool(&config(8, 4));
    let names = chain(1, 2);
    let (writer, _) = run(&pool, &Admission::full(8, 0), &[]);
    let epoch = pool.submit(STREAM).expect("room");
    pool.publish(writer, 0, &Prefix::of(&names), epoch, true, &mut []).expect("full blocks");
    let look = |unfinished| pool.lookup(Group(0), &Prefix { unfinished, ..Prefix::of(&names) }, 0);
    assert_eq!(look(false).map(|found| found.blocks), Ok(0));
    assert_eq!(look(true).map(|found| (found.blocks, found.after)), Ok((2, epoch)));
    // The step fails: nobody finds what it did not write.
    pool.complete(STREAM, epoch, true).expect("outstanding");
    assert_eq!(look(true).map(|found| (found.blocks, found.after)), Ok((0, Epoch::NONE)));
    assert_eq!(pool.publish(writer, 0, &Prefix::of(&names), epoch, true, &mut []), Err(Refusal::Stale));
    pool.validate().expect("names are gone, blocks are held");
}

/// vllm#1930 and others: a clone was freed twice after a fork.
#[test]
fn trap_one_clone_freed_twice() {
    let pool = pool(&config(12, 8));
    let (parent, _) = run(&pool, &Admission::full(17, 10), &[]);
    let child = pool.open().expect("a slot");
    let forked = pool.fork(parent, &[child], 10, 0).expect("it fits");
    assert_eq!((forked.shared, forked.promised), (3, 2), "one for growth, one for the tail");
    pool.validate().expect("the audit after a fork");
    assert_eq!(ars(&pool), (3, 3, 0));
    let advanced = pool.advance(child, 1).expect("promised");
    assert_eq!(advanced.copies, 1);
    let order = pool.copy_order(child).expect("driven").expect("ordered");
    assert_eq!((order.source.0, order.slots), (ids(&pool, parent)[2], 1));
    assert_eq!(order.destination.0, ids(&pool, child)[2]);
    pool.validate().expect("the audit after a copy order");
    assert_eq!(ars(&pool), (4, 2, 0));
    assert_eq!(pool.advance(parent, 1).map(|advanced| advanced.copies), Ok(0), "the last sharer writes at once");
    let epoch = pool.submit(STREAM).expect("room");
    pool.copy_submitted(child, epoch).expect("ordered");
    assert_eq!(pool.copy_submitted(child, epoch), Err(Refusal::Stale));
    end(&pool, parent);
    assert_eq!(ars(&pool), (4, 1, 0), "the copy still reads, and the child still shares");
    end(&pool, child);
    pool.complete(STREAM, epoch, false).expect("outstanding");
    assert_eq!(aef(&pool), (0, 0, 12));
    pool.validate().expect("each block went home once");
}
